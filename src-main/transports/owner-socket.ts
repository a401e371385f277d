import { chmodSync, lstatSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { z } from 'zod';
import { digestSchema } from '../../src-preload/contract/ids.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import { type Ids, systemIds } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Charon } from '../charon/api.ts';
import type { Commands } from '../commands/api.ts';
import { closeDoor, createDoorServer, doorTimesDefault } from './door-server.ts';
import { type OwnerHandshakes, ownerHandshakes } from './owner-handshakes.ts';
import { addOwnerRoutes, bearerOf, heartbeatDefaultMs } from './owner-routes.ts';
import { preparePrivateFolder, type SocketPlace, socketAddress, socketPlace } from './socket-address.ts';

export interface OwnerSocketOptions {
  /** Where the socket is wanted; the address it gets is in the answer. */
  readonly path: string;
  readonly ownerKey: Buffer;
  readonly commands: Commands;
  readonly charon: Pick<Charon, 'ownerCaller'>;
  readonly log: Log;
  readonly clock?: Clock | undefined;
  readonly ids?: Ids | undefined;
  readonly heartbeatMs?: number | undefined;
  readonly metrics?: (() => Promise<string>) | undefined;
  readonly place?: SocketPlace | undefined;
}

export interface OwnerSocket {
  /** The socket's own address, for `host.json`. */
  readonly path: string;
  close(): Promise<void>;
}

const nonceSchema = z.string().regex(/^[0-9a-f]{32}$/);
const helloSchema = z.strictObject({ client_nonce: nonceSchema });
const sessionSchema = z.strictObject({
  client_nonce: nonceSchema,
  server_nonce: nonceSchema,
  proof: z.string().max(128),
});

/** A passphrase, and exactly what it is to confirm (T183). */
const confirmationSchema = z.strictObject({
  command: z.string().min(1).max(128),
  input_digest: digestSchema,
  passphrase: z.string().min(1).max(1_024),
});

/**
 * Opens the owner's door for command lines: HTTP over a socket that only the owner can reach, and only after both
 * sides proved that they know `owner.key` (`design.md` §3, T50–T58). Throws HOME_INVALID, HOME_LOCKED.
 */
export async function openOwnerSocket(options: OwnerSocketOptions): Promise<OwnerSocket> {
  const { commands, charon, ownerKey, log } = options;
  const ids = options.ids ?? systemIds();
  const place = options.place ?? socketPlace(process.env, tmpdir());
  const address = socketAddress(options.path, place);
  preparePrivateFolder(address, place);
  await removeLeftover(address, place);

  const handshakes = ownerHandshakes({ ownerKey, clock: options.clock ?? systemClock, ids });
  // Nothing of the web reaches a Unix socket: there is no Host or Origin to look at.
  const server = createDoorServer({ times: doorTimesDefault, log, guard: () => undefined });
  const admit = (request: Parameters<typeof bearerOf>[0]): void => {
    if (!handshakes.isOpen(bearerOf(request))) throw unproven();
  };
  addHandshake(server, handshakes);
  addOwnerRoutes(server, {
    commands,
    ids,
    heartbeatMs: options.heartbeatMs ?? heartbeatDefaultMs,
    metrics: options.metrics,
    client: 'command line',
    desk: false,
    caller: () => charon.ownerCaller('owner_socket'),
    admit,
  });
  server.post('/owner/confirmations', { onRequest: async (request) => admit(request) }, async (request) => {
    const body = confirmationSchema.safeParse(request.body);
    if (!body.success) throw new Fault('INPUT_INVALID', 'Send command, input_digest and passphrase.');
    const { command, input_digest: inputDigest, passphrase } = body.data;
    return commands.confirm({ command, inputDigest }, passphrase, charon.ownerCaller('owner_socket'));
  });
  await server.listen({ path: address });
  if (place.platform !== 'win32') chmodSync(address, 0o600);
  return { path: address, close: () => closeDoor(server) };
}

function addHandshake(server: ReturnType<typeof createDoorServer>, handshakes: OwnerHandshakes): void {
  server.post('/owner/hello', async (request) => {
    const hello = helloSchema.safeParse(request.body);
    if (!hello.success) throw new Fault('INPUT_INVALID', 'Send {"client_nonce": …}, 32 hex characters.');
    return handshakes.hello(hello.data.client_nonce);
  });
  server.post('/owner/session', async (request) => {
    const body = sessionSchema.safeParse(request.body);
    if (!body.success) throw new Fault('INPUT_INVALID', 'Send client_nonce, server_nonce and proof.');
    const { client_nonce: client, server_nonce: own, proof } = body.data;
    if (!handshakes.open({ client, server: own }, proof)) throw unproven();
    return {};
  });
  server.delete('/owner/session', async (request) => {
    handshakes.end(bearerOf(request));
    return {};
  });
}

function unproven(): Fault {
  return new Fault(
    'UNAUTHENTICATED',
    'This client did not prove that it knows the key of this home. Use the same home, as the same user.',
  );
}

/** A socket left behind by a dead process is removed; a living one, or anything else under that name, is not (T56). */
async function removeLeftover(address: string, place: SocketPlace): Promise<void> {
  if (place.platform === 'win32') return;
  const found = lstatSync(address, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) {
    throw new Fault('HOME_INVALID', "Something that is no socket stands where the owner's socket goes. Move it away.");
  }
  if (await isAnswered(address))
    throw new Fault('HOME_LOCKED', 'Another Memory Git listens for this home. Close it first.');
  rmSync(address);
}

function isAnswered(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(address);
    const done = (answered: boolean): void => {
      probe.destroy();
      resolve(answered);
    };
    probe.once('connect', () => done(true));
    probe.once('error', () => done(false));
  });
}
