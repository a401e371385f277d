import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Clock } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { Ids } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Charon } from '../charon/api.ts';
import type { Commands } from '../commands/api.ts';
import { rateLimited } from './agent-credentials.ts';
import { contentSecurityPolicy, withNonce } from './content-security.ts';
import { closeDoor, createDoorServer, type DoorTimes, doorTimesDefault, guardedPart, notFound } from './door-server.ts';
import { listenOnLoopback, loopbackAddress } from './listen.ts';
import { addOwnerRoutes, bearerOf, heartbeatDefaultMs, notSignedIn } from './owner-routes.ts';
import { type OwnerSessions, ownerSessions } from './owner-sessions.ts';
import { type RendererFile, readRendererFiles } from './renderer-files.ts';
import { addressesOf, decideGuard, type OwnAddresses } from './request-guard.ts';
import { type TokenBucket, tokenBucket } from './token-bucket.ts';

export interface OwnerPageOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** Folder of the built renderer. */
  readonly rendererDir: string;
  readonly commands: Commands;
  readonly charon: Pick<Charon, 'ownerCaller'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly heartbeatMs?: number | undefined;
  readonly metrics?: (() => Promise<string>) | undefined;
  readonly times?: Partial<DoorTimes> | undefined;
}

export interface OwnerPage {
  readonly url: string;
  readonly port: number;
  /** The page's address with a one-time code in its fragment, which no server and no log sees; good for 60 s. */
  newLoginUrl(): string;
  close(): Promise<void>;
}

const codeBodySchema = z.strictObject({ code: z.string().min(1).max(128) });

/**
 * Opens the owner's door for a browser: the same desk as in the window, on a loopback port of its own (`design.md` §3).
 * No cookie: cookies go to every port of a host. Throws PORT_TAKEN, STATE_NOT_FOUND when the desk was not built.
 */
export async function openOwnerPage(options: OwnerPageOptions): Promise<OwnerPage> {
  const { commands, charon, clock, ids, log } = options;
  const files = await readRendererFiles(options.rendererDir);
  const sessions = ownerSessions(clock, ids);
  let ours: OwnAddresses = addressesOf([], 0);
  const times = { ...doorTimesDefault, ...options.times };
  const server = createDoorServer({ times, log, guard: (request) => decideGuard(guardedPart(request), ours, true) });

  addPages(server, files, () => ids.randomBytes(18).toString('base64url'));
  addSignIn(server, sessions, tokenBucket({ perSecond: 20, burst: 20 }, clock));
  addOwnerRoutes(server, {
    commands,
    ids,
    heartbeatMs: options.heartbeatMs ?? heartbeatDefaultMs,
    metrics: options.metrics,
    client: 'owner page',
    desk: true,
    caller: () => charon.ownerCaller('owner_page'),
    admit(request) {
      if (!sessions.isOpen(bearerOf(request))) throw notSignedIn();
    },
  });

  const port = await listenOnLoopback(server, options.port);
  ours = addressesOf([loopbackAddress], port);
  const url = `http://${loopbackAddress}:${port}/`;
  return { url, port, newLoginUrl: () => `${url}#code=${sessions.newCode()}`, close: () => closeDoor(server) };
}

/** The built desk, file by file; index.html gets the nonce of its response (T40, T41). */
function addPages(server: FastifyInstance, files: ReadonlyMap<string, RendererFile>, newNonce: () => string): void {
  server.addHook('onRequest', async (_request, reply) => {
    reply.header('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
    reply.header('cross-origin-opener-policy', 'same-origin');
  });
  server.get('/*', async (request, reply) => {
    // The path as it was sent, undecoded: only what is literally a key of the map is a file.
    const path = request.url.split('?', 1)[0] ?? '';
    const file = files.get(path === '/' ? '/index.html' : path);
    if (file === undefined) throw notFound();
    const nonce = newNonce();
    reply.header('content-security-policy', contentSecurityPolicy(nonce)).type(file.contentType);
    return file.contentType.startsWith('text/html') ? withNonce(file.bytes.toString('utf8'), nonce) : file.bytes;
  });
}

function addSignIn(server: FastifyInstance, sessions: OwnerSessions, failures: TokenBucket): void {
  server.post('/owner/session', async (request) => {
    const body = codeBodySchema.safeParse(request.body);
    if (!body.success) throw new Fault('INPUT_INVALID', 'Send {"code": …}, the one-time code of the address.');
    const token = sessions.exchange(body.data.code);
    if (token !== undefined) return { token };
    const waitMs = failures.take(1);
    if (waitMs > 0) throw rateLimited('Too many codes that are not good.', waitMs);
    throw new Fault(
      'UNAUTHENTICATED',
      'This code was used, has expired, or is none. Open the page anew: run `npm start`, or `charon serve --owner-page`.',
    );
  });
}
