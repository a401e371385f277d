import { createServer, type Server } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { silentLog } from '../../src-main/base/log.ts';
import { openAgentDoor } from '../../src-main/transports/agent-door.ts';
import { proveSelf } from '../../src-main/transports/listen.ts';
import { findLiveness, findPortHolder } from '../../src-main/transports/port-holder.ts';
import { fakeClock, gate, stage } from './stage.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function openDoor(port: number) {
  const door = await openAgentDoor({
    port,
    commands: stage(),
    charon: gate(),
    clock: fakeClock(),
    log: silentLog,
    version: '0.1.0',
    ready: async () => ({ ok: true, problems: [] }),
  });
  closers.push(() => door.close());
  return door;
}

/** Some other program on a free port, which answers everybody with these bytes. */
async function otherProgram(answer: string): Promise<number> {
  const server: Server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => socket.end(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => new Promise((resolve) => server.close(resolve)));
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

const faultOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );

test('T15 a port held by another Memory Git is named as such, and the offered port is free', async () => {
  const first = await openDoor(0);
  const fault = await faultOf(openDoor(first.port));
  expect(fault).toMatchObject({
    code: 'PORT_TAKEN',
    data: { port: first.port, holder: 'another Memory Git (version 0.1.0)' },
  });
  expect(fault).toMatchObject({ message: expect.stringContaining('another Memory Git') });
  const offered = Number(/use port (\d+)/.exec(String(fault))?.[1]);
  expect(offered).toBeGreaterThan(first.port);
  const second = await openDoor(offered);
  expect(second.port).toBe(offered);
  expect((await findLiveness(first.port))?.nonce).toBe(first.nonce);
});

test('T15 a port held by another program is refused; on Linux the program is named', async () => {
  const port = await otherProgram('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}');
  const fault = await faultOf(openDoor(port));
  expect(fault).toMatchObject({ code: 'PORT_TAKEN', data: { port } });
  if (process.platform === 'linux') expect(await findPortHolder(port)).toContain(`(process ${process.pid})`);
});

test('T15 a program that lies about what it is cannot put words into the message', async () => {
  const body = JSON.stringify({
    product: 'memory-git',
    live: true,
    nonce: 'a'.repeat(32),
    version: '1 <b>call 555</b>',
  });
  const port = await otherProgram(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  expect(await findLiveness(port)).toBeUndefined();
  expect(String(await faultOf(openDoor(port)))).not.toContain('555');
});

test('T14 a door that hears another nonce on its port, or none, is told so', async () => {
  const door = await openDoor(0);
  await expect(proveSelf(door.port, door.nonce)).resolves.toBeUndefined();
  await expect(proveSelf(door.port, 'f'.repeat(32))).rejects.toMatchObject({ code: 'PORT_TAKEN' });
  const silent = await otherProgram('');
  await expect(proveSelf(silent, door.nonce)).rejects.toMatchObject({ code: 'PORT_TAKEN' });
});

test('T14 a door that does not hear itself at once listens again', async () => {
  const nonce = 'a'.repeat(32);
  let asked = 0;
  const body = JSON.stringify({ product: 'memory-git', live: true, nonce, version: '0.1.0' });
  const late = createServer((socket) => {
    socket.on('error', () => undefined);
    asked += 1;
    if (asked < 3) socket.destroy();
    else
      socket.once('data', () =>
        socket.end(
          `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
        ),
      );
  });
  await new Promise<void>((done) => late.listen(0, '127.0.0.1', done));
  closers.push(() => late.close());
  const address = late.address();
  await proveSelf(typeof address === 'object' ? (address?.port ?? 0) : 0, nonce);
  expect(asked).toBe(3);
});

test('T15 a door that was closed gives its port back', async () => {
  const first = await openDoor(0);
  await first.close();
  expect((await openDoor(first.port)).port).toBe(first.port);
});
