import { afterEach, describe, expect, test, vi } from 'vitest';
import { silentLog } from '../../src-main/base/log.ts';
import type { CommandCall } from '../../src-main/commands/api.ts';
import { type AgentDoorLimits, openAgentDoor, type Readiness } from '../../src-main/transports/agent-door.ts';
import { connectClient } from '../support/mcp-clients.ts';
import { type RawAnswer, send, sendBytes } from './raw-http.ts';
import { fakeClock, gate, principal, stage, tokenOf } from './stage.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function open(
  settings: {
    limits?: Partial<AgentDoorLimits>;
    answer?: (call: CommandCall) => unknown;
    ready?: () => Promise<Readiness>;
  } = {},
) {
  const commands = stage(settings.answer);
  const guard = gate();
  const clock = fakeClock();
  const door = await openAgentDoor({
    port: 0,
    commands,
    charon: guard,
    clock,
    log: silentLog,
    version: '0.1.0',
    ready: settings.ready ?? (async () => ({ ok: true, problems: [] })),
    limits: settings.limits,
  });
  closers.push(() => door.close());
  const host = `127.0.0.1:${door.port}`;
  const good = guard.admit(1);
  const ask = (headers: Record<string, string | string[]>, body: string | Buffer = listTools): Promise<RawAnswer> =>
    send({
      port: door.port,
      method: 'POST',
      path: '/mcp',
      headers: { host, 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      body,
    });
  return { door, commands, guard, clock, host, good, bearer: { authorization: `Bearer ${good}` }, ask };
}

const listTools = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
const subscription = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'subscriptions/listen',
  params: {
    notifications: { toolsListChanged: true },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'listener', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
});
const jsonHeaders = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const callStatus =
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_status","arguments":{"project":"demo"}}}';

function expectRefused(answer: RawAnswer, status: number, code: string): void {
  expect({ status: answer.status, code: JSON.parse(answer.body).code }).toEqual({ status, code });
  expect(answer.body).not.toContain('memory_status');
  expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
}

describe('before anybody is believed', () => {
  test('the door lets a plain local request with a good token in', async () => {
    const { ask, bearer } = await open();
    const answer = await ask(bearer);
    expect(answer.status).toBe(200);
    expect(answer.body).toContain('memory_status');
  });

  test.each(['127.0.0.1', 'localhost', '[::1]', 'LOCALHOST'])('T1 our port under the name %s is ours', async (name) => {
    const { ask, bearer, door } = await open();
    expect((await ask({ ...bearer, host: `${name}:${door.port}` })).status).toBe(200);
  });

  test('T1 a foreign, portless, wrong-port, dotted or empty Host is refused, also with a good token', async () => {
    const { ask, bearer, door } = await open();
    const hosts = [
      'evil.example',
      `evil.example:${door.port}`,
      '127.0.0.1',
      `127.0.0.1:${door.port + 1}`,
      `127.0.0.1.:${door.port}`,
      '',
      `localhost.evil.example:${door.port}`,
    ];
    for (const host of hosts) expectRefused(await ask({ ...bearer, host }), 403, 'HOST_REFUSED');
  });

  test('T1 a missing and a doubled Host are refused', async () => {
    const { door, good, host } = await open();
    const head = `Authorization: Bearer ${good}\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n`;
    for (const hosts of ['', `Host: ${host}\r\nHost: ${host}\r\n`, `Host: evil.example\r\nHost: ${host}\r\n`]) {
      const answer = await sendBytes(door.port, `POST /mcp HTTP/1.1\r\n${hosts}${head}\r\n{}`);
      expect(answer).toMatch(/^HTTP\/1\.1 40[03] /);
      expect(answer).not.toContain('memory_status');
    }
    expect(await sendBytes(door.port, `POST /mcp HTTP/1.1\r\n${head}\r\n{}`)).toMatch(
      /^HTTP\/1\.1 403 [\s\S]*HOST_REFUSED/,
    );
  });

  test('T2 a foreign, null, foreign-port, https or doubled Origin is refused, ours is served', async () => {
    const { ask, bearer, door, host } = await open();
    const origins = [
      'http://evil.example',
      'null',
      `http://127.0.0.1:${door.port + 1}`,
      `https://${host}`,
      '',
      `http://${host}.evil.example`,
    ];
    for (const origin of origins) expectRefused(await ask({ ...bearer, origin }), 403, 'ORIGIN_REFUSED');
    expectRefused(await ask({ ...bearer, origin: [`http://${host}`, 'http://evil.example'] }), 403, 'ORIGIN_REFUSED');
    expect((await ask({ ...bearer, origin: `http://${host}` })).status).toBe(200);
  });

  test('T3 what a browser marks as of another site is refused', async () => {
    const { ask, bearer } = await open();
    for (const site of ['cross-site', 'same-site', 'anything']) {
      expectRefused(await ask({ ...bearer, 'sec-fetch-site': site }), 403, 'ORIGIN_REFUSED');
    }
    for (const site of ['same-origin', 'none'])
      expect((await ask({ ...bearer, 'sec-fetch-site': site })).status).toBe(200);
  });

  test('T1 T3 the guards stand before the health pages and before unknown paths too', async () => {
    const { door } = await open();
    for (const path of ['/livez', '/readyz', '/health', '/nowhere']) {
      expectRefused(await send({ port: door.port, path, headers: { host: 'evil.example' } }), 403, 'HOST_REFUSED');
    }
  });

  test('T4 a preflight is refused, from a foreign page and from anywhere', async () => {
    const { door, host } = await open();
    const preflight = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' };
    const foreign = await send({
      port: door.port,
      method: 'OPTIONS',
      path: '/mcp',
      headers: { host, origin: 'http://evil.example', ...preflight },
    });
    expectRefused(foreign, 403, 'ORIGIN_REFUSED');
    const own = await send({
      port: door.port,
      method: 'OPTIONS',
      path: '/mcp',
      headers: { host, origin: `http://${host}`, ...preflight },
    });
    expectRefused(own, 404, 'STATE_NOT_FOUND');
  });

  test('T5 a body that is not declared as JSON is refused', async () => {
    const { ask, bearer } = await open();
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/jsonp',
      '',
    ]) {
      expectRefused(await ask({ ...bearer, 'content-type': type }), 415, 'CONTENT_TYPE_REFUSED');
    }
    expect((await ask({ ...bearer, 'content-type': 'Application/JSON; charset=utf-8' })).status).toBe(200);
  });

  test('T6 a body of 2 MiB is refused, announced or in pieces; one of just under 1 MiB is read', async () => {
    const { ask, bearer, door, host, good } = await open();
    const big = Buffer.alloc(2 * 1_048_576, 0x20);
    expectRefused(await ask({ ...bearer, 'content-length': String(big.length) }, big), 413, 'BODY_TOO_LARGE');
    const piece = ' '.repeat(65_536);
    const pieces = `10000\r\n${piece}\r\n`.repeat(17);
    const head = `POST /mcp HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${good}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n`;
    expect(await sendBytes(door.port, `${head}${pieces}0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 413 [\s\S]*BODY_TOO_LARGE/);
    expect((await ask(bearer, listTools.padEnd(1_048_576, ' '))).status).toBe(200);
  });

  test('T7 what is not UTF-8, not JSON, empty, too deep or poisoned is refused', async () => {
    const { ask, bearer } = await open();
    const deep = (levels: number): string =>
      `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":${'['.repeat(levels)}${']'.repeat(levels)}}}`;
    expectRefused(await ask(bearer, Buffer.from([0x22, 0xff, 0x22])), 400, 'BODY_INVALID');
    expectRefused(await ask(bearer, '{"jsonrpc":'), 400, 'BODY_INVALID');
    expectRefused(await ask(bearer, ''), 400, 'BODY_INVALID');
    expectRefused(await ask(bearer, `{"x":{"__proto__":{"admin":true}}}`), 400, 'BODY_INVALID');
    expectRefused(await ask(bearer, deep(63)), 400, 'BODY_TOO_DEEP');
    expectRefused(await ask(bearer, '['.repeat(500_000)), 400, 'BODY_INVALID');
    expectRefused(await ask(bearer, `${'['.repeat(500_000)}${']'.repeat(500_000)}`), 400, 'BODY_TOO_DEEP');
    expect((await ask(bearer, deep(62))).status).toBe(200);
  });

  test('T8 a head or a body that does not come is cut off', async () => {
    const { door, host, good } = await open({ limits: { headersTimeoutMs: 200, requestTimeoutMs: 300 } });
    const head = `POST /mcp HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${good}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n`;
    const [slowHead, slowBody] = await Promise.all([
      sendBytes(door.port, head),
      sendBytes(door.port, `${head}\r\n{"jsonrpc"`),
    ]);
    expect(slowHead).toMatch(/^HTTP\/1\.1 408 /);
    expect(slowBody).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('T9 unknown paths and every OAuth discovery path are 404, with and without a token', async () => {
    const { door, host, bearer } = await open();
    const paths = [
      '/',
      '/v1',
      '/mcp/extra',
      '/admin/metrics',
      '/.well-known/oauth-protected-resource',
      '/.well-known/oauth-protected-resource/mcp',
      '/.well-known/oauth-authorization-server',
      '/.well-known/openid-configuration',
    ];
    for (const path of paths) {
      for (const headers of [{ host }, { host, ...bearer }]) {
        expectRefused(await send({ port: door.port, path, headers }), 404, 'STATE_NOT_FOUND');
      }
    }
    expectRefused(await send({ port: door.port, path: '/%zz', headers: { host } }), 400, 'BODY_INVALID');
  });
});

describe('credentials', () => {
  test('T10 every bad credential gets one and the same 401, and is noted without the token', async () => {
    const { ask, guard, commands } = await open();
    guard.admit(7);
    guard.revoke(7);
    const credentials = [
      {},
      { authorization: '' },
      { authorization: 'Basic eDp5' },
      { authorization: 'Bearer' },
      { authorization: 'Bearer nonsense' },
      { authorization: `Bearer ${tokenOf(9)}` },
      { authorization: `Bearer ${tokenOf(7)}` },
      { authorization: `Bearer ${tokenOf(1)}x` },
    ];
    const answers: RawAnswer[] = [];
    for (const headers of credentials) answers.push(await ask(headers, callStatus));
    for (const answer of answers) {
      expectRefused(answer, 401, 'UNAUTHENTICATED');
      expect(answer.headers['www-authenticate']).toBe('Bearer realm="Memory Git"');
    }
    expect(new Set(answers.map((answer) => answer.body)).size).toBe(1);
    expect(commands.calls).toEqual([]);
    expect(guard.noted).toHaveLength(credentials.length);
    expect(guard.noted.map(({ subject }) => subject.credentialId)).toContain('0000000000000007');
    expect(JSON.stringify(guard.noted)).not.toContain('ssss');
  });

  test('T10 the credential is looked at before the body is read', async () => {
    const { ask } = await open();
    expectRefused(await ask({}, Buffer.alloc(2 * 1_048_576, 0x20)), 401, 'UNAUTHENTICATED');
  });

  test('T11 bad credentials beyond 20 a second get 429, a good one at that moment is served, and it passes', async () => {
    const { ask, bearer, clock, guard } = await open();
    const statuses: number[] = [];
    for (let n = 0; n < 25; n += 1) statuses.push((await ask({ authorization: 'Bearer nonsense' })).status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(20);
    expect(statuses.slice(20)).toEqual([429, 429, 429, 429, 429]);
    expect(guard.noted).toHaveLength(20);
    expect((await ask(bearer)).status).toBe(200);
    clock.advance(1_000);
    expect((await ask({ authorization: 'Bearer nonsense' })).status).toBe(401);
  });

  test('T12 a principal beyond its rate waits as long as it is told; another one is served meanwhile', async () => {
    const { ask, bearer, clock, guard } = await open({ limits: { perPrincipal: { perSecond: 1, burst: 3 } } });
    for (let n = 0; n < 3; n += 1) expect((await ask(bearer)).status).toBe(200);
    const refused = await ask(bearer);
    expectRefused(refused, 429, 'RATE_LIMITED');
    expect(refused.headers['retry-after']).toBe('1');
    expect((await ask({ authorization: `Bearer ${guard.admit(2)}` })).status).toBe(200);
    clock.advance(1_000);
    expect((await ask(bearer)).status).toBe(200);
    expect((await ask(bearer)).status).toBe(429);
  });

  test('T12 a batch counts as many calls as it holds', async () => {
    const { ask, bearer, commands } = await open({ limits: { perPrincipal: { perSecond: 1, burst: 5 } } });
    const batch = (size: number): string => `[${Array.from({ length: size }, () => callStatus).join(',')}]`;
    expectRefused(await ask(bearer, batch(6)), 429, 'RATE_LIMITED');
    expectRefused(await ask({ ...bearer }, batch(101)), 400, 'BODY_INVALID');
    expect(commands.calls).toEqual([]);
  });

  test('T17 a token revoked between two calls is refused on the second', async () => {
    const { door, guard, good } = await open();
    const client = await connectClient('sdk2-auto', { url: door.mcpUrl, token: good });
    closers.push(() => client.close());
    expect((await client.call('memory_status', { project: 'demo' })).isError).toBe(false);
    guard.revoke(1);
    await expect(client.call('memory_status', { project: 'demo' })).rejects.toThrow();
  });
});

describe('places', () => {
  test('T13 beyond the places the next request is refused; finished and abandoned ones give theirs back', async () => {
    const waiting: (() => void)[] = [];
    const { ask, bearer, door, host, good } = await open({
      limits: { concurrentMax: 2 },
      answer: () => new Promise((resolve) => waiting.push(() => resolve({ done: true }))),
    });
    const first = ask(bearer, callStatus);
    await vi.waitFor(() => expect(waiting).toHaveLength(1));
    const gone = new AbortController();
    const abandoned = fetch(door.mcpUrl, {
      method: 'POST',
      headers: {
        host,
        authorization: `Bearer ${good}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: callStatus,
      signal: gone.signal,
    });
    await vi.waitFor(() => expect(waiting).toHaveLength(2));
    expectRefused(await ask(bearer, callStatus), 429, 'RATE_LIMITED');
    gone.abort();
    await abandoned.then((answer) => answer.text()).catch(() => undefined);
    await vi.waitFor(async () => expect((await ask(bearer)).status).toBe(200));
    for (const finish of waiting) finish();
    expect((await first).status).toBe(200);
    expect((await ask(bearer)).status).toBe(200);
  });

  test('T13 T31 subscription streams have places of their own, and hear of changed rights', async () => {
    const { bearer, door, commands } = await open({ limits: { concurrentMax: 1, streamsMax: 1 } });
    const headers = { ...bearer, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const listen = (signal: AbortSignal | null = null): Promise<Response> =>
      fetch(door.mcpUrl, {
        method: 'POST',
        headers: { ...headers, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' },
        body: subscription,
        signal,
      });
    const gone = new AbortController();
    const stream = await listen(gone.signal);
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toContain('notifications/subscriptions/acknowledged');
    commands.publish({ kind: 'principal_changed', principal_id: principal(1).principal_id });
    expect((await reader?.read())?.value).toContain('notifications/tools/list_changed');

    expect((await listen()).status).toBe(429);
    const list = await fetch(door.mcpUrl, { method: 'POST', headers, body: listTools });
    expect(list.status).toBe(200);
    await list.text();
    gone.abort();
    await reader?.cancel().catch(() => undefined);
    await vi.waitFor(async () => {
      const next = await listen();
      await next.body?.cancel();
      expect(next.status).toBe(200);
    });
  });
});

describe('closing', () => {
  test('T18 a call on its way gets its answer, a subscriber is cut off, a new call is not served', async () => {
    let finish = (): void => undefined;
    const { ask, bearer, door, commands } = await open({
      answer: () => new Promise((resolve) => (finish = () => resolve({ done: true }))),
    });
    const running = ask(bearer, callStatus);
    await vi.waitFor(() => expect(commands.calls).toHaveLength(1));
    const stream = await fetch(door.mcpUrl, {
      method: 'POST',
      headers: {
        ...bearer,
        ...jsonHeaders,
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'subscriptions/listen',
      },
      body: subscription,
    });
    const closing = door.close();
    await stream.text().catch(() => 'cut');
    await expect(ask(bearer).then((answer) => answer.status)).rejects.toThrow();
    finish();
    const answer = await running;
    expect([answer.status, answer.body]).toEqual([200, expect.stringContaining('done')]);
    await closing;
    expect(commands.listeners()).toBe(0);
  });

  test('T18 a call that never ends is cut off after the grace', async () => {
    const { ask, bearer, door, commands } = await open({ answer: () => new Promise(() => undefined) });
    const stuck = ask(bearer, callStatus).catch(() => 'cut');
    await vi.waitFor(() => expect(commands.calls).toHaveLength(1));
    const startedAt = performance.now();
    await door.close();
    expect(await stuck).toBe('cut');
    expect(performance.now() - startedAt).toBeLessThan(4_000);
  });
});

describe('health', () => {
  test('T14 the door answers with its own nonce, another one with another', async () => {
    const [one, two] = [await open(), await open()];
    const nonceOf = async (port: number): Promise<unknown> =>
      (await (await fetch(`http://127.0.0.1:${port}/livez`)).json()).nonce;
    expect(await nonceOf(one.door.port)).toBe(one.door.nonce);
    expect(await nonceOf(two.door.port)).toBe(two.door.nonce);
    expect(one.door.nonce).not.toBe(two.door.nonce);
  });

  test('T16 readiness is 503 with the problems while the engine cannot work, and when it cannot even be asked', async () => {
    const states: (() => Promise<Readiness>)[] = [
      async () => ({ ok: true, problems: [] }),
      async () => ({ ok: false, problems: ['the audit ledger cannot be written'] }),
      () => Promise.reject(new Error('inside text')),
    ];
    let state = 0;
    const { door } = await open({ ready: () => (states[state] ?? Promise.reject)() });
    const seen: unknown[] = [];
    for (; state < 3; state += 1) {
      const [ready, health] = [await fetch(`${door.url}/readyz`), await fetch(`${door.url}/health`)];
      seen.push([ready.status, await ready.json(), health.status, await health.json()]);
      expect((await fetch(`${door.url}/livez`)).status).toBe(200);
    }
    const health = { product: 'memory-git', version: '0.1.0', live: true };
    const broken = { ready: false, problems: ['the audit ledger cannot be written'] };
    const unasked = { ready: false, problems: ['the engine could not be asked'] };
    expect(seen).toEqual([
      [200, { ready: true, problems: [] }, 200, { ...health, ready: true, problems: [] }],
      [503, broken, 503, { ...health, ...broken }],
      [503, unasked, 503, { ...health, ...unasked }],
    ]);
  });
});
