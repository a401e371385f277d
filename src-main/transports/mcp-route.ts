import type { FastifyReply, FastifyRequest } from 'fastify';
import { assert } from '../base/assert.ts';
import { Fault } from '../base/fault.ts';
import type { Caller } from '../charon/api.ts';
import type { AgentCredentials } from './agent-credentials.ts';
import { createPlaces, type Places } from './agent-places.ts';
import { clientNames } from './client-name.ts';
import type { Mcp } from './mcp.ts';

const batchMax = 100;

/** The two steps of a request to `/mcp`: admitted before its body is read, served after. */
export interface McpRoute {
  admit(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  serve(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
  /** Ends every subscription stream, so that the door can close. */
  endStreams(): void;
}

/**
 * Between the HTTP library and MCP: credential, rate, places (T10–T13, T19), then the SDK.
 * `url` is what the SDK is told it was called under.
 */
export function createMcpRoute(options: {
  readonly credentials: AgentCredentials;
  readonly mcp: Mcp;
  /** What all requests of the door share. */
  readonly requests: Places;
  readonly limits: { readonly streamsMax: number; readonly stallTimeoutMs: number };
  /** What a 401 says beside its realm: where to sign in, when that is on. */
  readonly challenge: () => string;
  readonly url: string;
}): McpRoute {
  const { credentials, mcp, limits, requests } = options;
  const callers = new WeakMap<FastifyRequest, Caller>();
  const clients = clientNames();
  const streams = createPlaces({
    max: limits.streamsMax,
    refusal: 'Too many streams are open.',
    stallTimeoutMs: limits.stallTimeoutMs,
  });
  return {
    async admit(request, reply) {
      try {
        const caller = credentials.authenticate(request);
        callers.set(request, caller);
        requests.enter(reply, caller.principal.principal_id);
      } catch (error) {
        if (error instanceof Fault && error.code === 'UNAUTHENTICATED')
          reply.header('www-authenticate', `Bearer realm="Memory Git"${options.challenge()}`);
        throw error;
      }
    },
    async serve(request, reply) {
      const caller = callers.get(request);
      assert(
        caller !== undefined && caller.credential.kind !== 'owner',
        'only agents with a token come through this door',
      );
      const { body } = request;
      if (request.method === 'POST' && body === undefined)
        throw new Fault('BODY_INVALID', 'The body is empty. Send one JSON value.');
      if (Array.isArray(body)) chargeBatch(credentials, caller, body.length);
      if (isSubscription(body)) {
        streams.enter(reply, caller.principal.principal_id);
        requests.leave(reply);
      }
      const client = clients.clientOf(caller.credential.id, body);
      const response = await mcp.serve(webRequest(request, reply, options.url), body, { caller, client });
      return answer(requests, reply, response);
    },
    endStreams: () => streams.empty(),
  };
}

/** Passes the SDK's answer on: a JSON one whole, with its length; anything else as the stream that it is. */
async function answer(requests: Places, reply: FastifyReply, response: Response): Promise<FastifyReply> {
  const contentType = response.headers.get('content-type') ?? '';
  const text = contentType.startsWith('application/json') ? await response.text() : undefined;
  // Whoever waited too long was told so meanwhile.
  if (reply.sent) return reply;
  requests.handOver(reply);
  if (text === undefined) return reply.send(response);
  return reply.code(response.status).headers(Object.fromEntries(response.headers)).send(text);
}

/** A batch of a 2025 client counts as many calls as it holds. */
function chargeBatch(credentials: AgentCredentials, caller: Caller, length: number): void {
  if (length > batchMax)
    throw new Fault('BODY_INVALID', `A batch holds at most ${batchMax} messages. Send fewer at once.`);
  credentials.charge(caller, Math.max(0, length - 1));
}

function isSubscription(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'method' in body && body.method === 'subscriptions/listen';
}

/** The request as the SDK takes it: without its body, which is passed parsed, and without the bearer. */
function webRequest(request: FastifyRequest, reply: FastifyReply, url: string): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (name !== 'authorization' && value !== undefined)
      headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  return new Request(url, { method: request.method, headers, signal: gone.signal });
}
