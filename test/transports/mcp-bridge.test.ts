import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { Fault } from '../../src-main/base/fault.ts';
import { runMcpBridge } from '../../src-main/transports/mcp-bridge.ts';
import { eventually, principal } from './stage.ts';
import { openStagedDoor, subscription } from './staged-door.ts';

const absent = new Fault('CLOSED', 'nobody is there; start it');

/** A bridge in this process, to wherever `place` points at the moment. */
function openBridge(place: { port: number | undefined; token: string }) {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const said: string[] = [];
  let written = '';
  stdout.on('data', (chunk: Buffer) => {
    written += chunk.toString('utf8');
  });
  const ended = runMcpBridge({
    stdin,
    stdout,
    findDoor: () => ({ port: place.port, instance: '', absent }),
    readToken: () => place.token,
    triesMax: 3,
    tryEveryMs: 20,
    say: (text) => void said.push(text),
  });
  onTestFinished(() => {
    stdin.end();
    return ended;
  });
  const messages = (): readonly Record<string, unknown>[] =>
    written
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const answerTo = async (id: unknown): Promise<Record<string, unknown>> => {
    await eventually(() => expect(messages().map((message) => message.id)).toContain(id));
    return messages().find((message) => message.id === id) ?? {};
  };
  return {
    stdin,
    said,
    ended,
    messages,
    answerTo,
    send: (message: object | string): void =>
      void stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`),
  };
}

const list = (id: number): object => ({ jsonrpc: '2.0', id, method: 'tools/list' });
const call = (id: number, meta?: object): object => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'memory_status', arguments: { project: 'demo' }, ...(meta === undefined ? {} : { _meta: meta }) },
});
const cancel = (requestId: number): object => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
});
const modern = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'modern', version: '7' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** A program that is not Memory Git, or one that behaves as told; every request to it is kept. */
async function openServer(serve: (request: IncomingMessage, response: ServerResponse) => void) {
  const requests: { readonly method: string; readonly path: string; readonly authorization: string | undefined }[] = [];
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    requests.push({ method, path: url, authorization: headers.authorization });
    serve(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return { port: typeof address === 'object' ? address?.port : undefined, requests };
}

const liveness = JSON.stringify({ product: 'memory-git', live: true, nonce: '0'.repeat(32), version: '0.1.0' });

test('B1 B2 requests of both eras reach the door with the name of their program, and come back in their form', async () => {
  const { door, good, commands } = await openStagedDoor();
  const bridge = openBridge({ port: door.port, token: good });
  bridge.send({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'older', version: '3' } },
  });
  expect(await bridge.answerTo(1)).toMatchObject({ result: { protocolVersion: '2025-06-18' } });
  bridge.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  bridge.send(call(2));
  bridge.send(call(3, modern));
  expect(await bridge.answerTo(2)).toMatchObject({ result: { structuredContent: { called: 'memory.status' } } });
  expect(await bridge.answerTo(3)).toMatchObject({ result: { resultType: 'complete' } });
  expect(commands.calls.map(({ client }) => client).sort()).toEqual(['modern 7', 'older 3']);
  expect(bridge.messages()).toHaveLength(3);
});

test('B2 an error of MCP and a body that is too large are refused in the words of the door', async () => {
  const { door, good } = await openStagedDoor();
  const bridge = openBridge({ port: door.port, token: good });
  bridge.send({ jsonrpc: '2.0', id: 1, method: 'no/such', params: { _meta: modern } });
  expect(await bridge.answerTo(1)).toMatchObject({ error: { code: -32_601 } });
  const params = { name: 'memory_status', arguments: { project: 'x'.repeat(2_000_000) } };
  bridge.send({ jsonrpc: '2.0', id: 3, method: 'tools/call', params });
  expect(await bridge.answerTo(3)).toMatchObject({
    result: { isError: true, structuredContent: { code: 'BODY_TOO_LARGE' } },
  });
  bridge.send('this is not JSON');
  bridge.send('{"json":"but no message"}');
  bridge.send(list(4));
  expect(await bridge.answerTo(4)).toHaveProperty('result');
});

test('B4 B5 an absent door is said in both eras, and one that is back is found on its new port', async () => {
  const place: { port: number | undefined; token: string } = { port: undefined, token: 'obol_none' };
  const bridge = openBridge(place);
  bridge.send(list(1));
  bridge.send(call(2));
  bridge.send(call(3, modern));
  expect(await bridge.answerTo(1)).toEqual({
    jsonrpc: '2.0',
    id: 1,
    error: { code: -32_603, message: absent.message, data: absent.toWire() },
  });
  const refusal = { isError: true, structuredContent: { code: 'CLOSED', message: absent.message } };
  expect(await bridge.answerTo(2)).toMatchObject({ result: refusal });
  expect(await bridge.answerTo(2)).not.toHaveProperty('result.resultType');
  expect(await bridge.answerTo(3)).toMatchObject({ result: { ...refusal, resultType: 'complete' } });
  expect(bridge.said).toEqual([absent.message]);

  for (const id of [4, 5]) {
    const { door, good } = await openStagedDoor();
    Object.assign(place, { port: door.port, token: good });
    bridge.send(list(id));
    expect(await bridge.answerTo(id)).toHaveProperty('result.tools');
    await door.close();
  }
  bridge.send(list(6));
  expect(await bridge.answerTo(6)).toMatchObject({ error: { message: absent.message } });
});

test('B5 a request made while the door is just coming back waits for it', async () => {
  const place: { port: number | undefined; token: string } = { port: undefined, token: '' };
  const bridge = openBridge(place);
  bridge.send(list(1));
  const { door, good } = await openStagedDoor();
  Object.assign(place, { port: door.port, token: good });
  expect(await bridge.answerTo(1)).toHaveProperty('result.tools');
});

test.each([
  ['cut off', (request: IncomingMessage) => void request.socket.destroy()],
  ['something else', (_: IncomingMessage, response: ServerResponse) => void response.end('<html>')],
  ['nothing', (_: IncomingMessage, response: ServerResponse) => void response.writeHead(202).end()],
  [
    'half a stream',
    (_: IncomingMessage, response: ServerResponse) =>
      void response.setHeader('content-type', 'text/event-stream').end(': hello\n\n'),
  ],
])('B6 a request that is answered with %s is sent once, and may have been carried out', async (_, answer) => {
  const server = await openServer((request, response) => {
    if (request.url === '/livez') response.end(liveness);
    else request.on('end', () => answer(request, response)).resume();
  });
  const bridge = openBridge({ port: server.port, token: 'obol_1' });
  bridge.send(call(1));
  expect(await bridge.answerTo(1)).toMatchObject({
    result: {
      isError: true,
      structuredContent: {
        code: 'CLOSED',
        message: expect.stringMatching(/carried out or it was not.*idempotency_key/),
      },
    },
  });
  expect(server.requests.filter(({ path }) => path === '/mcp')).toHaveLength(1);
});

test('B6 a subscription hears of changes, and is ended when the door closes', async () => {
  const { door, good, commands } = await openStagedDoor();
  const bridge = openBridge({ port: door.port, token: good });
  bridge.send(subscription);
  const methods = (): readonly unknown[] => bridge.messages().map(({ method }) => method);
  await eventually(() => expect(methods()).toEqual(['notifications/subscriptions/acknowledged']));
  commands.publish({ kind: 'principal_changed', principal_id: principal(1).principal_id });
  await eventually(() => expect(methods()[1]).toBe('notifications/tools/list_changed'));
  await door.close();
  await eventually(() => expect(methods()[2]).toBe('notifications/cancelled'));
  expect(bridge.messages()[2]).toMatchObject({ params: { requestId: 1 } });
});

test('B7 a revoked token is said plainly, and a good one in its place is used', async () => {
  const { door, good, guard } = await openStagedDoor();
  const place = { port: door.port, token: good };
  const bridge = openBridge(place);
  bridge.send(call(1));
  expect(await bridge.answerTo(1)).toHaveProperty('result.structuredContent.called');
  guard.revoke(1);
  bridge.send(call(2));
  bridge.send(list(3));
  const sentence = expect.stringMatching(/^Memory Git refuses this token.*Ask the owner for a new one/);
  expect(await bridge.answerTo(2)).toMatchObject({
    result: { isError: true, structuredContent: { code: 'UNAUTHENTICATED', message: sentence } },
  });
  expect(await bridge.answerTo(3)).toMatchObject({ error: { message: sentence } });
  expect(JSON.stringify([bridge.messages(), bridge.said])).not.toContain(good);
  place.token = guard.admit(2);
  bridge.send(call(4));
  expect(await bridge.answerTo(4)).toHaveProperty('result.structuredContent.called');
});

test('B8 a program that is not Memory Git gets neither token nor message', async () => {
  const server = await openServer((_, response) => void response.end('{"live":true}'));
  const bridge = openBridge({ port: server.port, token: 'obol_1' });
  bridge.send(call(1));
  expect(await bridge.answerTo(1)).toMatchObject({ result: { structuredContent: { message: absent.message } } });
  expect(server.requests.length).toBeGreaterThan(0);
  for (const request of server.requests)
    expect(request).toEqual({ method: 'GET', path: '/livez', authorization: undefined });
});

test('B8 the token follows no redirect', async () => {
  const elsewhere = await openServer((_, response) => void response.end('{}'));
  const server = await openServer((request, response) => {
    if (request.url === '/livez') response.end(liveness);
    else response.writeHead(307, { location: `http://127.0.0.1:${elsewhere.port}/mcp` }).end();
  });
  const bridge = openBridge({ port: server.port, token: 'obol_1' });
  bridge.send(list(1));
  expect(await bridge.answerTo(1)).toHaveProperty('error');
  expect(elsewhere.requests).toEqual([]);
});

test('B9 a request that is taken back is cut at the door and not answered', async () => {
  const { door, good, commands } = await openStagedDoor({
    limits: { concurrentMax: 1 },
    answer: ({ input }) => (JSON.stringify(input).includes('slow') ? new Promise(() => undefined) : { done: true }),
  });
  const bridge = openBridge({ port: door.port, token: good });
  bridge.send({ ...call(1), params: { name: 'memory_status', arguments: { project: 'slow' } } });
  await eventually(() => expect(commands.calls).toHaveLength(1));
  bridge.send(call(2));
  expect(await bridge.answerTo(2)).toMatchObject({ result: { structuredContent: { code: 'RATE_LIMITED' } } });
  bridge.send(cancel(77));
  bridge.send(cancel(1));
  // Its place at the door, the only one there is, is free again.
  let id = 2;
  await eventually(async () => {
    id += 1;
    bridge.send(call(id));
    expect(await bridge.answerTo(id)).toMatchObject({ result: { structuredContent: { done: true } } });
  });
  expect(bridge.messages().map((message) => message.id)).not.toContain(1);
});

test('B9 a request that is taken back while the door is waited for is not sent any more', async () => {
  const place: { port: number | undefined; token: string } = { port: undefined, token: '' };
  const bridge = openBridge(place);
  bridge.send(call(1));
  bridge.send(cancel(1));
  const { door, good, commands } = await openStagedDoor();
  Object.assign(place, { port: door.port, token: good });
  bridge.send(list(2));
  expect(await bridge.answerTo(2)).toHaveProperty('result.tools');
  expect(commands.calls).toEqual([]);
  expect(bridge.messages()).toHaveLength(1);
});

test('B10 it ends when its input closes, with requests under way, and leaves nothing open at the door', async () => {
  const { door, good, commands, ask, bearer } = await openStagedDoor({
    limits: { concurrentMax: 1, streamsMax: 1 },
    answer: () => new Promise(() => undefined),
  });
  const bridge = openBridge({ port: door.port, token: good });
  bridge.send(subscription);
  await eventually(() => expect(bridge.messages()).toHaveLength(1));
  bridge.send(call(2));
  await eventually(() => expect(commands.calls).toHaveLength(1));
  expect((await ask(bearer)).status).toBe(429);
  bridge.stdin.end();
  await bridge.ended;
  await eventually(async () => expect((await ask(bearer)).status).toBe(200));
  await eventually(async () => {
    const next = openBridge({ port: door.port, token: good });
    next.send(subscription);
    await eventually(() => expect(next.messages()).toHaveLength(1));
    expect(next.messages()[0]).toMatchObject({ method: 'notifications/subscriptions/acknowledged' });
  });
  expect(bridge.messages()).toHaveLength(1);
});
