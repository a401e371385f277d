import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { eventually, principal } from './stage.ts';
import { absent, call, cancel, initialize, list, liveness, modern, openBridge, openServer } from './staged-bridge.ts';
import { openStagedDoor, subscription } from './staged-door.ts';

test('B1 B2 requests of both eras reach the door with the name of their program, and come back in their form', async () => {
  const { door, good, commands } = await openStagedDoor();
  const bridge = openBridge({ port: door.port, token: good });
  bridge.send(initialize(1));
  expect(await bridge.answerTo(1)).toMatchObject({ result: { protocolVersion: '2025-06-18' } });
  bridge.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  bridge.send(call(2));
  bridge.send(call(3, modern));
  expect(await bridge.answerTo(2)).toMatchObject({ result: { structuredContent: { called: 'memory.status' } } });
  expect(await bridge.answerTo(3)).toMatchObject({ result: { resultType: 'complete' } });
  expect(commands.calls.map(({ client }) => client).sort()).toEqual(['modern 7', 'older 3']);
  expect(bridge.messages()).toHaveLength(3);
});

test('B1 after its initialize a 2025 client is spoken for in the version that it agreed on, and asks for no stream', async () => {
  const statuses = [200, 202, 200, 200];
  const server = await openServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    if (request.url === '/livez') return void response.end(liveness);
    response.statusCode = statuses.shift() ?? 500;
    response.end('{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-03-26"}}');
  });
  const bridge = openBridge({ port: server.port, token: 'obol_1' });
  bridge.send(initialize(1));
  expect(await bridge.answerTo(1)).toEqual({ jsonrpc: '2.0', id: 1, result: { protocolVersion: '2025-03-26' } });
  bridge.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  bridge.send(list(2));
  await bridge.answerTo(2);
  bridge.send(initialize(3));
  await bridge.answerTo(3);
  const asked = server.requests.filter(({ path }) => path === '/mcp');
  expect(asked.map(({ method, version }) => [method, version])).toEqual([
    ['POST', undefined],
    ['POST', '2025-03-26'],
    ['POST', '2025-03-26'],
    ['POST', undefined],
  ]);
});

test('B2 B5 a door that was restarted hears again which 2025 client calls, and the client sees nothing of it', async () => {
  const first = await openStagedDoor();
  const place = { port: first.door.port, token: first.good };
  const bridge = openBridge(place);
  bridge.send(initialize(1));
  await bridge.answerTo(1);
  await first.door.close();
  const second = await openStagedDoor();
  Object.assign(place, { port: second.door.port, token: second.good });
  bridge.send(call(2));
  expect(await bridge.answerTo(2)).toMatchObject({ result: { structuredContent: { called: 'memory.status' } } });
  expect(second.commands.calls.map(({ client }) => client)).toEqual(['older 3']);
  expect(bridge.messages().map(({ id }) => id)).toEqual([1, 2]);
});

test('B5 a door that is just closing has not taken the request: it is asked again', async () => {
  let closing = true;
  const server = await openServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    if (request.url === '/livez') return void response.end(liveness);
    response.statusCode = closing ? 503 : 200;
    response.end(closing ? '{"error":"Service Unavailable"}' : '{"jsonrpc":"2.0","id":1,"result":{}}');
    closing = false;
  });
  const bridge = openBridge({ port: server.port, token: 'obol_1' });
  bridge.send(list(1));
  expect(await bridge.answerTo(1)).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  expect(server.requests.filter(({ path }) => path === '/mcp')).toHaveLength(2);
});

test('B2 an error of MCP is passed on as it came, and a line that is no message disturbs nothing', async () => {
  const { door, good } = await openStagedDoor();
  const bridge = openBridge({ port: door.port, token: good });
  bridge.send({ jsonrpc: '2.0', id: 1, method: 'no/such', params: { _meta: modern } });
  expect(await bridge.answerTo(1)).toMatchObject({ error: { code: -32_601 } });
  bridge.send('this is not JSON');
  bridge.send('{"json":"but no message"}');
  bridge.send(list(4));
  expect(await bridge.answerTo(4)).toHaveProperty('result');
});

test('B2 a message over the limit of the door is refused in its words and not sent, since its answer might not be heard', async () => {
  const server = await openServer((_, response) => void response.end(liveness));
  const bridge = openBridge({ port: server.port, token: 'obol_1' });
  const params = { name: 'memory_status', arguments: { project: 'ü'.repeat(600_000) } };
  bridge.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  expect(await bridge.answerTo(1)).toMatchObject({
    result: { isError: true, structuredContent: { code: 'BODY_TOO_LARGE', message: expect.stringContaining('1 MiB') } },
  });
  expect(server.requests.map(({ path }) => path)).toEqual(['/livez']);
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
    expect(request).toEqual({ method: 'GET', path: '/livez', authorization: undefined, version: undefined });
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
