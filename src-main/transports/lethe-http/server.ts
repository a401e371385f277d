import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { hostname, networkInterfaces } from 'node:os';
import { performance } from 'node:perf_hooks';
import { requestBytesMax } from '../../../src-preload/contract/limits.ts';
import { assert } from '../../base/assert.ts';
import { Fault, toFault } from '../../base/fault.ts';
import type { Log } from '../../base/log.ts';
import type { LetheMode } from '../../home/environment.ts';
import type { Lethe } from '../../lethe/api.ts';
import type { AssemblyRetention } from '../../lethe/session-api.ts';
import { logOwnFault } from '../door-server.ts';
import { portTaken } from '../listen.ts';
import { addressesOf, decideGuard, headerValues, type OwnAddresses } from '../request-guard.ts';
import { type Bind, bearsKey, decideBind, isLoopbackHost, isTrustedPeer, type Trust } from './access.ts';
import { type Answer, refusal } from './answer.ts';
import { bodyInvalid } from './body.ts';
import { changesetRoutes } from './changeset-routes.ts';
import { conflictRoutes } from './conflict-routes.ts';
import { engineRoutes } from './engine-routes.ts';
import { manifestRoutes } from './manifest-routes.ts';
import { measuredLethe } from './measured.ts';
import { createLetheMetrics } from './metrics.ts';
import { refRoutes } from './ref-routes.ts';
import { recoveryText, refusalOfFault } from './refusal-text.ts';
import { faultsHeader, type Route, type RouteDeps, restoreProofHeader } from './route.ts';
import { createRouter, type Place } from './router.ts';
import { serviceRoutes } from './service-routes.ts';
import { sessionAssemblyRoutes } from './session-assembly-routes.ts';
import { sessionEventRoutes } from './session-event-routes.ts';
import { createLiveFeed, type LiveBounds } from './session-live.ts';
import { sessionRoutes } from './session-routes.ts';
import { sessionThreadRoutes } from './session-thread-routes.ts';
import { interruptAll, startPruning } from './session-upkeep.ts';
import { stateRoutes } from './state-routes.ts';

/** How long the door waits, in milliseconds (`lethe.md` §1.0). */
export interface LetheHttpTimes {
  /** For the head and the body of a request. */
  readonly readMs: number;
  /** For a connection without a request. */
  readonly idleMs: number;
  /** For an answer. */
  readonly answerMs: number;
  /** For answers on their way when the door closes. */
  readonly closeMs: number;
}

export const letheHttpTimes: LetheHttpTimes = { readMs: 10_000, idleMs: 60_000, answerMs: 30_000, closeMs: 5_000 };

export interface LetheHttpOptions {
  readonly lethe: Lethe;
  readonly bind: Bind;
  /** The one shared key; undefined: peers are trusted by their address. */
  readonly key: string | undefined;
  readonly trust: Trust;
  /** Further names under which the door is reached, without a port. */
  readonly hostNames: readonly string[];
  /** Listening beyond this machine without a key is allowed. */
  readonly insecureBind: boolean;
  /** Opened for recovery: nothing is written (`lethe.md` D13). */
  readonly recovery: boolean;
  /** Which routes are served; left out, those of memory. */
  readonly mode?: LetheMode | undefined;
  /** How long assemblies are kept; left out, for ever. */
  readonly retention?: AssemblyRetention | undefined;
  readonly liveBounds?: LiveBounds | undefined;
  /** The keys that proofs of a policy engine verify under; left out, none does. */
  readonly mergeKeys?: ReadonlyMap<string, Uint8Array> | undefined;
  readonly log: Log;
  readonly times?: Partial<LetheHttpTimes> | undefined;
}

export interface LetheHttp {
  /** Where the routes are, with `/api`. */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Every route of a mode, static places before those that hold a project (`lethe.md` §1.2, §1.5). */
export function letheRoutes(deps: RouteDeps): readonly Route[] {
  const sessions = [
    ...sessionRoutes(deps),
    ...sessionEventRoutes(deps),
    ...sessionThreadRoutes(deps),
    ...sessionAssemblyRoutes(deps),
  ];
  const memory = [
    ...manifestRoutes(deps),
    ...changesetRoutes(deps),
    ...engineRoutes(deps),
    ...refRoutes(deps),
    ...stateRoutes(deps),
    ...conflictRoutes(deps),
  ];
  return [...serviceRoutes(deps), ...(deps.mode === 'git' ? [] : sessions), ...(deps.mode === 'legacy' ? [] : memory)];
}

/**
 * Opens the store's own HTTP protocol (`lethe.md` §1, D23): a codec over the store's verbs for gateways. Throws HOME_INVALID
 * for a bind that needs a key, INPUT_INVALID for an address that this machine has not, PORT_TAKEN.
 */
export async function openLetheHttp(options: LetheHttpOptions): Promise<LetheHttp> {
  const { bind, log } = options;
  const times = { ...letheHttpTimes, ...options.times };
  if (decideBind(bind, options.key !== undefined, options.insecureBind)) {
    log.warn(
      'LETHE_ALLOW_INSECURE_BIND: the store is open to other machines WITHOUT A KEY. Whoever reaches this port may rewrite branches.',
    );
  }
  const metrics = createLetheMetrics(options.lethe.busyRetries);
  const monotonicMs = (): number => performance.now();
  const lethe = measuredLethe(options.lethe, metrics, monotonicMs);
  const live = createLiveFeed(options.liveBounds);
  const { mode = 'git', retention = { daysMax: undefined, perSessionMax: undefined } } = options;
  const { mergeKeys = new Map() } = options;
  const deps: RouteDeps = { lethe, metrics, monotonicMs, mode, live, retention, mergeKeys };
  const route = createRouter(letheRoutes(deps));
  let ours: OwnAddresses = addressesOf([], 0);
  const server = createServer(
    {
      requireHostHeader: false,
      headersTimeout: times.readMs,
      requestTimeout: times.readMs,
      keepAliveTimeout: times.idleMs,
      connectionsCheckingInterval: Math.min(1_000, times.readMs),
    },
    (request, response) => {
      void serve({ ...options, ...deps, route, times }, ours, request, response);
    },
  );
  server.maxConnections = 2_048;
  const port = await listen(server, bind);
  ours = addressesOf(namesOf(bind, options.hostNames), port);
  const holdsSessions = mode !== 'git' && !options.recovery;
  const pruning = holdsSessions ? startPruning(lethe, retention, log) : undefined;
  return {
    url: `http://${shownHost(bind)}:${port}/api`,
    port,
    close: async () => {
      live.close();
      await pruning?.stop();
      await close(server, times.closeMs);
      if (holdsSessions) await interruptAll(lethe, log);
    },
  };
}

function listen(server: Server, { host, port }: Bind): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE' || error.code === 'EACCES';
      if (taken) portTaken(port).then(reject, reject);
      else reject(addressCodes.has(error.code ?? '') ? addressMissing(error) : error);
    });
    server.listen({ port, ...(host === '' ? {} : { host }) }, () => {
      const address = server.address();
      assert(typeof address === 'object' && address !== null, 'a listening door has an address');
      resolve(address.port);
    });
  });
}

/** What the system says of a host that is none of this machine's, or that no name stands for. */
const addressCodes: ReadonlySet<string> = new Set(['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EAFNOSUPPORT']);

function addressMissing(cause: Error): Fault {
  const message = '--http: this machine has no such address. Write one of its own, such as 127.0.0.1:18485.';
  return new Fault('INPUT_INVALID', message, { field: '--http' }, { cause });
}

/** The names that a request may call this door by: its own, and on a wider bind those of this machine. */
function namesOf({ host }: Bind, more: readonly string[]): readonly string[] {
  const names = ['127.0.0.1', 'localhost', '[::1]', bracketed(host), ...more];
  if (!isLoopbackHost(host)) {
    const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    names.push(hostname(), ...addresses.map(({ address }) => bracketed(address.replace(/%.*$/, ''))));
  }
  return names.map((name) => name.toLowerCase());
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

function shownHost({ host }: Bind): string {
  return host === '' || host === '0.0.0.0' || host === '::' ? '127.0.0.1' : bracketed(host);
}

async function close(server: Server, graceMs: number): Promise<void> {
  const idle = setInterval(() => server.closeIdleConnections(), 20);
  const force = setTimeout(() => server.closeAllConnections(), graceMs);
  await new Promise<void>((resolve) => void server.close(() => resolve()));
  clearInterval(idle);
  clearTimeout(force);
}

interface Serving extends Omit<LetheHttpOptions, 'mode' | 'retention' | 'mergeKeys'>, RouteDeps {
  readonly route: (method: string, url: string) => Place;
  readonly times: LetheHttpTimes;
}

async function serve(
  serving: Serving,
  ours: OwnAddresses,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const startedMs = serving.monotonicMs();
  const { method = '', url = '' } = request;
  const place = serving.route(method, url);
  const pattern = place.kind === 'route' ? place.route.pattern : 'none';
  const answer = await decide(serving, ours, request, place);
  send(request, response, withCode(request, answer));
  const seconds = (serving.monotonicMs() - startedMs) / 1_000;
  serving.metrics.observe(pattern, seconds);
  serving.log.debug({ method, route: pattern, status: answer.status, seconds }, 'store request');
}

/** Guards, recovery gate, place, key, body, route: the order of `lethe.md` §1.0 with the guards of D23 before all else. */
async function decide(serving: Serving, ours: OwnAddresses, request: IncomingMessage, place: Place): Promise<Answer> {
  const guard = decideGuard(guardedPart(request), ours, false);
  if (guard !== undefined) return refusal(403, guard.message);
  const passesGate = safeMethods.has(request.method ?? '') || (place.kind === 'route' && place.route.reads === true);
  if (serving.recovery && !passesGate) return refusal(503, recoveryText);
  if (place.kind === 'answer') return place.answer;
  const stranger = decideAccess(serving, request);
  if (stranger !== undefined) return stranger;
  try {
    const { route, asked } = place;
    const hasBody = route.method !== 'GET' && route.ignoresBody !== true;
    const body = hasBody ? await readBytes(request) : Buffer.alloc(0);
    const [proof = ''] = headerValues(request.rawHeaders, restoreProofHeader);
    return await inTime(serving, route, async () => route.answer({ ...asked, body, proof }));
  } catch (thrown) {
    const fault = toFault(thrown);
    if (fault.code === 'INTERNAL') logOwnFault(serving.log, fault);
    serving.metrics.countFault(fault.code);
    return refusalOfFault(fault);
  }
}

/** What the guards look at. The media type is no part of this protocol (`lethe.md` §1.0). */
function guardedPart(request: IncomingMessage) {
  const values = (name: string): readonly string[] => headerValues(request.rawHeaders, name);
  return {
    method: request.method ?? '',
    hosts: values('host'),
    origins: values('origin'),
    fetchSites: values('sec-fetch-site'),
    contentTypes: ['application/json'],
  };
}

function decideAccess({ key, trust }: LetheHttpOptions, request: IncomingMessage): Answer | undefined {
  if (key === undefined) {
    if (isTrustedPeer(request.socket.remoteAddress, trust)) return undefined;
    return refusal(403, 'lethe API key not configured; public-network access denied');
  }
  const given = headerValues(request.rawHeaders, 'authorization');
  return given.length === 1 && bearsKey(given[0], key) ? undefined : refusal(401, 'missing or invalid bearer token');
}

/** The whole body, 1 MiB at most. Throws BODY_INVALID, also for one that was broken off. */
function readBytes(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > requestBytesMax) reject(bodyInvalid());
      else chunks.push(chunk);
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('close', () => reject(bodyInvalid()));
  });
}

/** The answer of a route, or 504 when it takes too long; what it began goes on by itself. */
async function inTime({ times }: Serving, route: Route, answer: () => Promise<Answer>): Promise<Answer> {
  if (route.unhurried === true) return answer();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Answer>((resolve) => {
    timer = setTimeout(() => resolve(refusal(504, 'request timed out')), times.answerMs);
  });
  try {
    return await Promise.race([answer(), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A refusal with its code and data beside the protocol's text, for a client that asks for them. */
function withCode(request: IncomingMessage, answer: Answer): Answer {
  const { fault } = answer;
  if (fault === undefined || headerValues(request.rawHeaders, faultsHeader).length === 0) return answer;
  return { ...answer, body: `${JSON.stringify({ ...JSON.parse(answer.body), ...fault.toWire() })}\n` };
}

function send(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  if (response.destroyed) return;
  response.statusCode = answer.status;
  response.setHeader('cache-control', 'no-store');
  response.setHeader('x-content-type-options', 'nosniff');
  if (answer.type !== undefined) response.setHeader('content-type', answer.type);
  if (answer.stream !== undefined) {
    answer.stream(response);
    return;
  }
  response.setHeader('content-length', Buffer.byteLength(answer.body));
  // What is left of a body is not waited for: the connection ends with the answer.
  if (!request.complete) response.setHeader('connection', 'close');
  response.end(request.method === 'HEAD' ? undefined : answer.body);
}
