import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Fault } from '../../src-main/base/fault.ts';
import { silentLog } from '../../src-main/base/log.ts';
import type { CommandCall } from '../../src-main/commands/api.ts';
import { ownerProof } from '../../src-main/transports/owner-proof.ts';
import { openOwnerSocket } from '../../src-main/transports/owner-socket.ts';
import { connectOwnerSocket } from '../../src-main/transports/owner-socket-client.ts';
import { socketAddress } from '../../src-main/transports/socket-address.ts';
import type { EngineEvent } from '../../src-preload/contract/events.ts';
import { type RawAnswer, send } from './raw-http.ts';
import { eventually, fakeClock, ownerCaller, principal, stage } from './stage.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const ownerKey = Buffer.alloc(32, 7);

function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mg-sock-'));
  closers.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function open(settings: { path?: string; answer?: (call: CommandCall) => unknown } = {}) {
  const commands = stage(settings.answer);
  const clock = fakeClock();
  const socket = await openOwnerSocket({
    path: settings.path ?? join(tempFolder(), 'owner.sock'),
    ownerKey,
    commands,
    charon: { ownerCaller },
    log: silentLog,
    clock,
  });
  closers.push(() => socket.close());
  const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<RawAnswer> =>
    send({
      socketPath: socket.path,
      method: 'POST',
      path,
      headers: { host: 'localhost', 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const connect = async (key = ownerKey) => {
    const client = await connectOwnerSocket({ path: socket.path, ownerKey: key });
    closers.push(() => client.close());
    return client;
  };
  /** The token of a session, for requests that are made by hand. */
  const token = async (): Promise<string> => {
    const hello = JSON.parse((await post('/owner/hello', { client_nonce: clientNonce })).body);
    const nonces = { client: clientNonce, server: String(hello.server_nonce) };
    const proof = ownerProof(ownerKey, 'client', nonces);
    await post('/owner/session', { client_nonce: clientNonce, server_nonce: nonces.server, proof });
    return ownerProof(ownerKey, 'session', nonces);
  };
  return { socket, commands, clock, post, connect, token };
}

const clientNonce = 'c'.repeat(32);

describe('who may come', () => {
  test('T50 socket and folder are reachable by their owner only', async () => {
    const folder = join(tempFolder(), 'home');
    mkdirSync(folder, { mode: 0o755 });
    const { socket } = await open({ path: join(folder, 'owner.sock') });
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(socket.path).mode & 0o777).toBe(0o600);
  });

  test('T51 a client with the key runs commands, and faults come back as they were', async () => {
    const { connect, commands } = await open({
      answer: (call) => {
        if (call.name === 'audit.verify')
          throw new Fault('AUDIT_UNAVAILABLE', 'The ledger cannot be read.', { seq: 3 });
        return { projects: [{ text: 'größe 日本' }] };
      },
    });
    const client = await connect();
    expect(await client.call('project.list', {})).toEqual({ projects: [{ text: 'größe 日本' }] });
    expect(commands.calls[0]).toMatchObject({
      name: 'project.list',
      caller: { door: 'owner_socket', credential: { kind: 'owner' } },
    });
    const refused = client.call('audit.verify', {});
    await expect(refused).rejects.toBeInstanceOf(Fault);
    await expect(refused).rejects.toMatchObject({
      code: 'AUDIT_UNAVAILABLE',
      message: 'The ledger cannot be read.',
      data: { seq: 3 },
    });
    await expect(client.call('../../owner/login-url', {})).rejects.toMatchObject({ code: 'COMMAND_UNKNOWN' });
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.call('project.list', {})));
    expect(answers).toHaveLength(20);
  });

  test('T52 a client with another key is refused, and so is one without any proof', async () => {
    const { post, connect, commands } = await open();
    await expect(connect(Buffer.alloc(32, 8))).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    const hello = JSON.parse((await post('/owner/hello', { client_nonce: clientNonce })).body);
    const nonces = { client: clientNonce, server: hello.server_nonce };
    const wrong = ownerProof(Buffer.alloc(32, 8), 'client', nonces);
    const opened = await post('/owner/session', {
      client_nonce: clientNonce,
      server_nonce: nonces.server,
      proof: wrong,
    });
    expect(opened.status).toBe(401);
    for (const token of ['', ownerProof(ownerKey, 'session', nonces), ownerProof(ownerKey, 'client', nonces)]) {
      expect((await post('/owner/commands/project.list', {}, { authorization: `Bearer ${token}` })).status).toBe(401);
      expect((await post('/owner/login-url', {}, { authorization: `Bearer ${token}` })).status).toBe(401);
    }
    expect(commands.calls).toEqual([]);
  });

  test('T53 a server that does not know the key gets no command', async () => {
    const folder = tempFolder();
    const path = join(folder, 'owner.sock');
    const heard: string[] = [];
    const impostor = createServer((connection) => {
      connection.on('data', (bytes) => {
        heard.push(String(bytes));
        const body = JSON.stringify({
          server_nonce: 'e'.repeat(32),
          proof: ownerProof(Buffer.alloc(32, 9), 'server', { client: clientNonce, server: 'e'.repeat(32) }),
        });
        connection.write(
          `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
        );
      });
      connection.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => impostor.listen(path, resolve));
    closers.push(() => impostor.close());
    await expect(connectOwnerSocket({ path, ownerKey })).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(heard).toHaveLength(1);
    expect(heard[0]).toContain('POST /owner/hello');
  });

  test('T54 a proof serves once, for its own nonces, in time, and for its own side', async () => {
    const { post, clock } = await open();
    const hello = async (): Promise<{ client: string; server: string; proof: string }> => {
      const answer = JSON.parse((await post('/owner/hello', { client_nonce: clientNonce })).body);
      return { client: clientNonce, server: answer.server_nonce, proof: answer.proof };
    };
    const start = async (nonces: { client: string; server: string }, proof: string): Promise<number> =>
      (await post('/owner/session', { client_nonce: nonces.client, server_nonce: nonces.server, proof })).status;

    const first = await hello();
    const good = ownerProof(ownerKey, 'client', first);
    expect(await start(first, good)).toBe(200);
    expect(await start(first, good)).toBe(401);

    const second = await hello();
    expect(second.server).not.toBe(first.server);
    expect(await start(second, good)).toBe(401);
    expect(await start(second, ownerProof(ownerKey, 'client', second))).toBe(401);

    const third = await hello();
    expect(await start({ client: 'd'.repeat(32), server: third.server }, ownerProof(ownerKey, 'client', third))).toBe(
      401,
    );
    const reflected = await hello();
    expect(await start(reflected, reflected.proof)).toBe(401);

    const late = await hello();
    clock.advance(10_000);
    expect(await start(late, ownerProof(ownerKey, 'client', late))).toBe(401);
    for (const body of [{}, { client_nonce: 'short' }, { client_nonce: clientNonce, more: 1 }]) {
      expect((await post('/owner/hello', body)).status).toBe(400);
    }
  });
});

describe('where it is', () => {
  test('T55 a path over 100 bytes moves to a folder of the owner, and both sides find it there', async () => {
    const long = join(tempFolder(), 'h'.repeat(120), 'owner.sock');
    const { socket, connect } = await open({ path: long });
    expect(Buffer.byteLength(socket.path)).toBeLessThanOrEqual(100);
    const again = await connectOwnerSocket({ path: long, ownerKey });
    closers.push(() => again.close());
    expect(await again.call('project.list', {})).toEqual({ called: 'project.list' });
    await (await connect()).call('project.list', {});
    const posix = { platform: 'linux', runtimeDir: '/run/user/7', uid: 7 } as const;
    expect(socketAddress('/h/owner.sock', posix)).toBe('/h/owner.sock');
    expect(socketAddress(`/${'a'.repeat(100)}`, posix)).toMatch(/^\/run\/user\/7\/memory-git-7\/[0-9a-f]{32}\.sock$/);
    expect(socketAddress(`/${'a'.repeat(100)}`, posix)).not.toBe(socketAddress(`/${'b'.repeat(100)}`, posix));
    const windows = { platform: 'win32', runtimeDir: 'C:\\Temp', uid: undefined } as const;
    expect(socketAddress('\\\\.\\pipe\\memory-git-x', windows)).toBe('\\\\.\\pipe\\memory-git-x');
    expect(socketAddress('C:\\h\\owner.sock', windows)).toMatch(/^\\\\\.\\pipe\\memory-git-[0-9a-f]{32}$/);
  });

  test('T55 a folder that others can write is refused', async () => {
    const folder = join(tempFolder(), 'open');
    mkdirSync(folder);
    chmodSync(folder, 0o777);
    await expect(open({ path: join(folder, 'owner.sock') })).rejects.toMatchObject({ code: 'HOME_INVALID' });
    expect(existsSync(join(folder, 'owner.sock'))).toBe(false);
  });

  test('T56 a leftover socket is replaced, a living one and any other file are not', async () => {
    const path = join(tempFolder(), 'owner.sock');
    const dying = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
    spawnSync(process.execPath, ['-e', dying]);
    expect(existsSync(path)).toBe(true);
    const { connect } = await open({ path });
    expect(await (await connect()).call('project.list', {})).toEqual({ called: 'project.list' });
    await expect(open({ path })).rejects.toMatchObject({ code: 'HOME_LOCKED' });
    expect(await (await connect()).call('project.list', {})).toEqual({ called: 'project.list' });

    const file = join(tempFolder(), 'owner.sock');
    writeFileSync(file, 'precious');
    await expect(open({ path: file })).rejects.toMatchObject({ code: 'HOME_INVALID' });
    expect(statSync(file).size).toBe(8);
  });

  test('T59 a socket nobody listens on is a plain refusal, before and after', async () => {
    const path = join(tempFolder(), 'owner.sock');
    await expect(connectOwnerSocket({ path, ownerKey })).rejects.toMatchObject({
      code: 'CLOSED',
      message: expect.stringContaining('charon serve'),
    });
    const { socket, connect } = await open({ path });
    const client = await connect();
    await socket.close();
    expect(existsSync(path)).toBe(false);
    await expect(client.call('project.list', {})).rejects.toMatchObject({ code: 'CLOSED' });
  });
});

describe('what it carries', () => {
  test('T57 events come in order and stop when asked; the end of the host is told', async () => {
    const { connect, commands, socket } = await open();
    const client = await connect();
    const seen: EngineEvent[] = [];
    const ended = vi.fn();
    const stop = client.events((event) => seen.push(event));
    client.events(() => undefined, ended);
    await eventually(() => expect(commands.listeners()).toBe(2));
    const events: EngineEvent[] = [1, 2, 3].map((number) => ({
      kind: 'principal_changed',
      principal_id: principal(number).principal_id,
    }));
    for (const event of events) commands.publish(event);
    await eventually(() => expect(seen).toEqual(events));
    stop();
    await eventually(() => expect(commands.listeners()).toBe(1));
    await socket.close();
    await eventually(() => expect(ended).toHaveBeenCalledTimes(1));
  });

  test('T58 the address of the owner page is asked for by the command, under its old address too', async () => {
    const { commands, connect, post, token } = await open({ answer: () => ({ url: 'http://127.0.0.1:1/#code=x' }) });
    expect(await (await connect()).call('owner_page.open', {})).toEqual({ url: 'http://127.0.0.1:1/#code=x' });
    const answer = await post('/owner/login-url', {}, { authorization: `Bearer ${await token()}` });
    expect(JSON.parse(answer.body)).toEqual({ url: 'http://127.0.0.1:1/#code=x' });
    expect(commands.calls.map(({ name, caller }) => [name, caller.door])).toEqual([
      ['owner_page.open', 'owner_socket'],
      ['owner_page.open', 'owner_socket'],
    ]);
  });

  test('T180 who follows the events of the socket is no desk', async () => {
    const { connect, commands } = await open();
    (await connect()).events(() => undefined);
    await eventually(() => expect(commands.listeners()).toBe(1));
    expect(commands.desks()).toBe(0);
  });

  test('T181 a call that waits is told so before its answer; one that does not is told nothing', async () => {
    const { connect } = await open({
      answer: async (call) => {
        if (call.name !== 'obol.mint') return { done: true };
        call.onWaiting?.();
        await eventually(() => expect(heard).toEqual(['waits']));
        return { minted: true };
      },
    });
    const heard: string[] = [];
    const onWaiting = (): void => void heard.push('waits');
    const client = await connect();
    expect(await client.call('project.list', {}, { onWaiting })).toEqual({ done: true });
    expect(heard).toEqual([]);
    const input = { principal_id: principal(1).principal_id };
    expect(await client.call('obol.mint', input, { onWaiting })).toEqual({ minted: true });
    expect(heard).toEqual(['waits']);
  });

  test('T182 a call that is taken back, and one whose client is gone, waits no longer; an answered one was never taken back', async () => {
    const gone: string[] = [];
    const { connect, commands } = await open({
      answer: (call) => {
        call.signal?.addEventListener('abort', () => gone.push(call.name));
        if (call.name === 'project.list') return {};
        call.onWaiting?.();
        return new Promise(() => undefined);
      },
    });
    const client = await connect();
    await client.call('project.list', {});
    const taken = new AbortController();
    const waiting = client.call(
      'oauth.set_enabled',
      { enabled: true },
      { signal: taken.signal, onWaiting: () => taken.abort() },
    );
    await expect(waiting).rejects.toMatchObject({ code: 'OWNER_REQUEST_CANCELED', kind: 'denied' });
    await eventually(() => expect(gone).toEqual(['oauth.set_enabled']));
    const other = await connect();
    const left = other.call('registration.set_open', { open: true }, { onWaiting: () => void other.close() });
    await expect(left).rejects.toMatchObject({ code: 'CLOSED' });
    await eventually(() => expect(gone).toEqual(['oauth.set_enabled', 'registration.set_open']));
    expect(commands.calls).toHaveLength(3);
  });

  test('T183 a passphrase goes with the command and input that it confirms, and what it gave with the call', async () => {
    const { connect, commands, post, token } = await open();
    const client = await connect();
    const what = { command: 'obol.mint', inputDigest: 'a'.repeat(64) };
    expect(await client.confirm(what, 'pass phrase')).toBe(`obol.mint ${'a'.repeat(64)} pass phrase owner_socket`);
    await client.call('project.list', {}, { confirmation: 'once' });
    expect(commands.calls.map(({ confirmation }) => confirmation)).toEqual(['once']);
    const authorization = `Bearer ${await token()}`;
    for (const body of [{}, { ...what, passphrase: 'x' }, { command: 'x', input_digest: 'y', passphrase: 'z' }])
      expect((await post('/owner/confirmations', body, { authorization })).status).toBe(400);
    expect((await post('/owner/confirmations', {}, {})).status).toBe(401);
  });

  test('T52 a session that was ended is refused', async () => {
    const { post, socket } = await open();
    const hello = JSON.parse((await post('/owner/hello', { client_nonce: clientNonce })).body);
    const nonces = { client: clientNonce, server: hello.server_nonce };
    await post('/owner/session', {
      client_nonce: clientNonce,
      server_nonce: nonces.server,
      proof: ownerProof(ownerKey, 'client', nonces),
    });
    const headers = { authorization: `Bearer ${ownerProof(ownerKey, 'session', nonces)}` };
    expect((await post('/owner/commands/project.list', {}, headers)).status).toBe(200);
    const ended = await send({
      socketPath: socket.path,
      method: 'DELETE',
      path: '/owner/session',
      headers: { host: 'localhost', ...headers },
    });
    expect(ended.status).toBe(200);
    expect((await post('/owner/commands/project.list', {}, headers)).status).toBe(401);
  });
});
