import { PassThrough } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Fault } from '../base/fault.ts';
import type { Ids } from '../base/ids.ts';
import type { Caller } from '../charon/api.ts';
import type { CommandCall, Commands } from '../commands/api.ts';
import { rateLimited } from './agent-credentials.ts';
import { confirmationHeader } from './owner-proof.ts';

/** A silent stream is kept alive this often. Milliseconds. */
export const heartbeatDefaultMs = 15_000;
const streamsMax = 64;
/** A reader that leaves this much unread is let go; it comes back and asks anew. Bytes. */
const unreadBytesMax = 1_048_576;

export interface OwnerRoutes {
  readonly commands: Commands;
  readonly ids: Ids;
  readonly heartbeatMs: number;
  /** The counters of commands in the text format of Prometheus. */
  readonly metrics?: (() => Promise<string>) | undefined;
  /** What the audit and the token's last use call this door's client. */
  readonly client: string;
  /** The session's token, or UNAUTHENTICATED. */
  readonly admit: (request: FastifyRequest) => void;
  /** The owner with the rights of this moment. */
  readonly caller: () => Caller;
  /** Whether who follows the events is a desk, at which the owner can click (T180). */
  readonly desk: boolean;
}

/**
 * The routes that owner page and owner socket share: `POST /owner/commands/<family>.<verb>`, whose answer is the
 * command's output or the fault as status and body (T45), and `GET /owner/events`, JSON lines (T46),
 * and where there are counters `GET /owner/metrics` (T89).
 */
export function addOwnerRoutes(server: FastifyInstance, routes: OwnerRoutes): void {
  const onRequest = async (request: FastifyRequest): Promise<void> => routes.admit(request);
  const run = (name: string, request: FastifyRequest, reply: FastifyReply): Promise<unknown> =>
    routes.commands.run({
      name,
      input: request.body,
      caller: routes.caller(),
      client: routes.client,
      correlationId: routes.ids.uuidv7(),
      ...waitingParts(request, reply),
    });
  server.post<{ Params: { name: string } }>('/owner/commands/:name', { onRequest }, async (request, reply) =>
    run(request.params.name, request, reply),
  );
  // Under its old address too: an act of power like every other (T58).
  server.post('/owner/login-url', { onRequest }, async (request, reply) => run('owner_page.open', request, reply));
  const { metrics } = routes;
  if (metrics !== undefined) {
    server.get('/owner/metrics', { onRequest }, async (_request, reply) =>
      reply.type('text/plain; version=0.0.4').send(await metrics()),
    );
  }
  const open = new Set<FastifyReply>();
  server.addHook('preClose', async () => {
    for (const reply of open) reply.raw.destroy();
  });
  server.get('/owner/events', { onRequest }, async (_request, reply) => {
    if (open.size >= streamsMax) throw rateLimited('Too many event streams are open.', 1_000);
    open.add(reply);
    reply.raw.once('close', () => open.delete(reply));
    return reply.type('application/x-ndjson; charset=utf-8').send(eventLines(reply, routes));
  });
}

/**
 * What a call that may have to wait needs of its connection (T181, T182): an answer 102 says at once that it waits, and a
 * connection that ends before the answer takes it back.
 */
function waitingParts(
  request: FastifyRequest,
  reply: FastifyReply,
): Pick<CommandCall, 'signal' | 'onWaiting' | 'confirmation'> {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableEnded) gone.abort();
  });
  const confirmation = request.headers[confirmationHeader];
  return {
    signal: gone.signal,
    onWaiting: () => reply.raw.writeProcessing(),
    confirmation: typeof confirmation === 'string' ? confirmation : undefined,
  };
}

/** `Authorization: Bearer <token>` of a request, or '' (T43). */
export function bearerOf(request: FastifyRequest): string {
  return /^Bearer ([A-Za-z0-9_-]{1,128})$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
}

/** What a door of the owner says to whoever brings no session of its own. */
export function notSignedIn(): Fault {
  return new Fault(
    'UNAUTHENTICATED',
    'This page is not signed in. Open it anew: run `npm start`, or `charon serve --owner-page`.',
  );
}

function eventLines(reply: FastifyReply, { commands, heartbeatMs, desk }: OwnerRoutes): PassThrough {
  const lines = new PassThrough();
  const write = (line: string): void => {
    if (lines.writableLength > unreadBytesMax) reply.raw.destroy();
    else lines.write(line);
  };
  // An empty line at once lets the reader know that it is connected, and later ones that it still is.
  write('\n');
  const stop = commands.subscribe((event) => write(`${JSON.stringify(event)}\n`));
  const detach = desk ? commands.attachDesk() : () => undefined;
  const heartbeat = setInterval(() => write('\n'), heartbeatMs);
  reply.raw.once('close', () => {
    stop();
    detach();
    clearInterval(heartbeat);
    lines.destroy();
  });
  return lines;
}
