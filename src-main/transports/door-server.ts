import type { IncomingMessage } from 'node:http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { requestBytesMax } from '../../src-preload/contract/limits.ts';
import { Fault, toFault } from '../base/fault.ts';
import type { Log } from '../base/log.ts';
import { refusalOf } from './fault-status.ts';
import { parseJsonBody } from './json-body.ts';
import { type GuardedRequest, headerValues } from './request-guard.ts';

/** How long a door waits for the parts of a request, in milliseconds, and how much it takes, in bytes. */
export interface DoorTimes {
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly bodyBytesMax: number;
}

export const doorTimesDefault: DoorTimes = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  bodyBytesMax: requestBytesMax,
};

/** Said with every answer: nothing is stored, guessed, embedded or told to others. */
const commonHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
} as const;

/** Faults of the HTTP library that are the caller's, by its codes; everything else is ours. */
const faultByLibraryCode: Readonly<Record<string, () => Fault>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () =>
    new Fault('BODY_TOO_LARGE', 'The body is over the limit of 1 MiB. Send less at once.'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new Fault('CONTENT_TYPE_REFUSED', 'The Content-Type of a body must be application/json.'),
  FST_ERR_CTP_EMPTY_JSON_BODY: () => new Fault('BODY_INVALID', 'The body is empty. Send one JSON value.'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new Fault('BODY_INVALID', 'The body is not as long as Content-Length says. Send it whole.'),
  FST_ERR_BAD_URL: () => new Fault('BODY_INVALID', 'The path is not a valid URL. Check its percent signs.'),
};

/** A part of a door with a surface of its own. */
export interface DoorPart {
  has(url: string): boolean;
  readonly mount: string;
  refusalOf(fault: Fault): { readonly status: number; readonly body: unknown };
}

/**
 * An HTTP server that answers every refusal in one form (status and the fault's four fields), takes JSON bodies only,
 * waits and reads no longer than it must, and lets `guard` stop a request before its body is read.
 * It listens nowhere yet; `closeDoor` closes it.
 */
export function createDoorServer(options: {
  readonly times: DoorTimes;
  readonly log: Log;
  readonly guard: (request: FastifyRequest) => Fault | undefined;
  /** The part of the door that words its own refusals, and the one path that all of its URLs are routed to. */
  readonly part?: DoorPart | undefined;
}): FastifyInstance {
  const { times, log, guard, part } = options;
  const refuse = (request: FastifyRequest, reply: FastifyReply, fault: Fault): void =>
    sendFault(reply, fault, part?.has(request.originalUrl) === true ? part.refusalOf : refusalOf);
  const server = fastify({
    logger: false,
    bodyLimit: times.bodyBytesMax,
    requestTimeout: times.requestTimeoutMs,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    http: {
      headersTimeout: times.headersTimeoutMs,
      connectionsCheckingInterval: Math.min(1_000, times.headersTimeoutMs),
      requireHostHeader: false,
    },
    rewriteUrl: ({ url = '' }) => (part?.has(url) === true ? part.mount : url),
    frameworkErrors: (error, request, reply) => {
      refuse(request, reply, faultOf(error, log));
    },
  });
  server.server.maxConnections = 2_048;
  server.removeAllContentTypeParsers();
  server.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, body: Buffer) => parseJsonBody(body),
  );
  server.addHook('onRequest', async (request, reply) => {
    reply.headers(commonHeaders);
    const refusal = guard(request);
    if (refusal !== undefined) throw refusal;
  });
  server.setErrorHandler(async (error, request, reply) => {
    const fault = faultOf(error, log);
    if (fault.code === 'BODY_TOO_LARGE') await readAway(request.raw);
    refuse(request, reply, fault);
    return reply;
  });
  server.setNotFoundHandler((request, reply) => {
    refuse(request, reply, notFound());
  });
  return server;
}

/** How much of a body that was refused for its size is still read, so that its sender gets to hear why. */
const readAwayBytesMax = 8 * 1_048_576;
const readAwayMs = 2_000;

/**
 * Reads a refused body to its end and drops it, within limits. A connection that is closed on unread bytes is reset, and
 * the sender would lose the answer with it.
 */
function readAway(body: IncomingMessage): Promise<void> {
  return new Promise((done) => {
    let bytes = 0;
    const limit = setTimeout(finish, readAwayMs);
    function finish(): void {
      clearTimeout(limit);
      body.off('data', count).off('end', finish).off('close', finish).off('error', finish);
      done();
    }
    function count(chunk: Buffer): void {
      bytes += chunk.length;
      if (bytes > readAwayBytesMax) finish();
    }
    if (body.readableEnded || body.destroyed) return finish();
    body.on('data', count).on('end', finish).on('close', finish).on('error', finish);
    body.resume();
  });
}

/** How long a closing door waits for answers that are on their way. Milliseconds. */
const closeGraceMs = 2_000;
const closeCheckMs = 20;

/**
 * Closes a door (T18): nobody new comes in, streams end at once (their owners do it in `preClose`), answers on their
 * way are waited for, 2 s at most.
 */
export async function closeDoor(server: FastifyInstance): Promise<void> {
  const idle = setInterval(() => server.server.closeIdleConnections(), closeCheckMs);
  const force = setTimeout(() => server.server.closeAllConnections(), closeGraceMs);
  try {
    await server.close();
  } finally {
    clearInterval(idle);
    clearTimeout(force);
  }
}

/** What a door says of a path that it does not have. */
export function notFound(): Fault {
  return new Fault('STATE_NOT_FOUND', 'There is nothing at this path.');
}

/** Refuses: the fault's status and its four fields; with `Retry-After` in whole seconds when it says how long to wait. */
export function sendFault(
  reply: FastifyReply,
  fault: Fault,
  wordsOf: (fault: Fault) => { readonly status: number; readonly body: unknown } = refusalOf,
): void {
  const { status, body } = wordsOf(fault);
  const waitMs = fault.data.retry_after_ms;
  if (typeof waitMs === 'number') void reply.header('retry-after', String(Math.max(1, Math.ceil(waitMs / 1_000))));
  void reply.headers(commonHeaders).code(status).send(body);
}

function faultOf(thrown: unknown, log: Log): Fault {
  if (thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string') {
    const known = faultByLibraryCode[thrown.code];
    if (known !== undefined) return known();
  }
  const fault = toFault(thrown);
  if (fault.code === 'INTERNAL') logOwnFault(log, fault);
  return fault;
}

/** Logs where one of our own faults came from: the kind of error and the frames, never its text, which may hold anything. */
export function logOwnFault(log: Log, fault: Fault): void {
  const cause = fault.cause instanceof Error ? fault.cause : fault;
  const frames = (cause.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  log.error({ error: cause.name, frames }, 'a request failed inside Memory Git');
}

/** What the guards look at, out of the library's request. */
export function guardedPart(request: FastifyRequest): GuardedRequest {
  const values = (name: string): readonly string[] => headerValues(request.raw.rawHeaders, name);
  return {
    method: request.method,
    hosts: values('host'),
    origins: values('origin'),
    fetchSites: values('sec-fetch-site'),
    contentTypes: values('content-type'),
  };
}
