import { Fault } from '../base/fault.ts';

/** The names under which this door is reached: `host:port` texts in lower case, and the origins that go with them. */
export interface OwnAddresses {
  readonly hosts: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
}

/** What the guards look at: every value of these headers, as they came. */
export interface GuardedRequest {
  readonly method: string;
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
  readonly fetchSites: readonly string[];
  readonly contentTypes: readonly string[];
}

/** What the body of a POST may be; a form at one path only, where a protocol has it so. */
export type BodyType = 'application/json' | 'application/x-www-form-urlencoded';

const admittedFetchSites: ReadonlySet<string> = new Set(['same-origin', 'none']);

/** Every value of one header out of Node's alternating list of names and values; Node's own object hides doubles. */
export function headerValues(rawHeaders: readonly string[], name: string): readonly string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);
}

/** The addresses of a door on a loopback port, under each of the given names. */
export function addressesOf(names: readonly string[], port: number): OwnAddresses {
  const hosts = names.map((name) => `${name}:${port}`);
  return { hosts: new Set(hosts), origins: new Set(hosts.map((host) => `http://${host}`)) };
}

/**
 * Decides whether a request may come near a door at all (T1–T3, T5; `charon.md` §3): our own `Host`, no foreign
 * `Origin`, nothing that a browser marks as another site's, JSON where there is a body. `originNeeded` is for the
 * owner page, which wants its own `Origin` on anything but GET (T44).
 * Returns the refusal: HOST_REFUSED, ORIGIN_REFUSED or CONTENT_TYPE_REFUSED.
 */
export function decideGuard(
  request: GuardedRequest,
  ours: OwnAddresses,
  originNeeded: boolean,
  bodyType: BodyType = 'application/json',
): Fault | undefined {
  const [host] = request.hosts;
  if (request.hosts.length !== 1 || host === undefined || !ours.hosts.has(host.toLowerCase())) {
    return new Fault(
      'HOST_REFUSED',
      'The Host header is not the address of this door. Use the address that Memory Git shows.',
    );
  }
  if (request.origins.some((origin) => !ours.origins.has(origin)) || request.origins.length > 1) {
    return new Fault('ORIGIN_REFUSED', 'Requests of web pages are not served. Call this door from a local program.');
  }
  if (originNeeded && request.method !== 'GET' && request.origins.length === 0) {
    return new Fault('ORIGIN_REFUSED', 'The Origin header is missing. Only the page of this door may call it.');
  }
  if (request.fetchSites.some((site) => !admittedFetchSites.has(site))) {
    return new Fault('ORIGIN_REFUSED', 'Requests that come from another site are not served.');
  }
  return request.method === 'POST' ? decideContentType(request.contentTypes, bodyType) : undefined;
}

function decideContentType(contentTypes: readonly string[], bodyType: BodyType): Fault | undefined {
  const [contentType] = contentTypes;
  const mediaType = contentType?.split(';', 1)[0]?.trim().toLowerCase();
  if (contentTypes.length === 1 && mediaType === bodyType) return undefined;
  return new Fault('CONTENT_TYPE_REFUSED', `The Content-Type of this POST must be ${bodyType}.`);
}
