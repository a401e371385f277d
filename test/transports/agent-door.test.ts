import { describe, expect, onTestFinished, test } from 'vitest';
import { connectClient } from '../support/mcp-clients.ts';
import { type RawAnswer, send, sendBytes } from './raw-http.ts';
import { tokenOf } from './stage.ts';
import { callStatus, expectRefused, listTools, openStagedDoor } from './staged-door.ts';

describe('before anybody is believed', () => {
  test('the door lets a plain local request with a good token in', async () => {
    const { ask, bearer } = await openStagedDoor();
    const answer = await ask(bearer);
    expect(answer.status).toBe(200);
    expect(answer.body).toContain('memory_status');
  });

  test.each(['127.0.0.1', 'localhost', '[::1]', 'LOCALHOST'])('T1 our port under the name %s is ours', async (name) => {
    const { ask, bearer, door } = await openStagedDoor();
    expect((await ask({ ...bearer, host: `${name}:${door.port}` })).status).toBe(200);
  });

  test('T1 a foreign, portless, wrong-port, dotted or empty Host is refused, also with a good token', async () => {
    const { ask, bearer, door } = await openStagedDoor();
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
    const { door, good, host } = await openStagedDoor();
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
    const { ask, bearer, door, host } = await openStagedDoor();
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
    const { ask, bearer } = await openStagedDoor();
    for (const site of ['cross-site', 'same-site', 'anything']) {
      expectRefused(await ask({ ...bearer, 'sec-fetch-site': site }), 403, 'ORIGIN_REFUSED');
    }
    for (const site of ['same-origin', 'none'])
      expect((await ask({ ...bearer, 'sec-fetch-site': site })).status).toBe(200);
  });

  test('T1 T3 the guards stand before the health pages and before unknown paths too', async () => {
    const { door } = await openStagedDoor();
    for (const path of ['/livez', '/readyz', '/health', '/nowhere']) {
      expectRefused(await send({ port: door.port, path, headers: { host: 'evil.example' } }), 403, 'HOST_REFUSED');
    }
  });

  test('T4 a preflight is refused, from a foreign page and from anywhere', async () => {
    const { door, host } = await openStagedDoor();
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
    const { ask, bearer } = await openStagedDoor();
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
    const { ask, bearer, door, host, good } = await openStagedDoor();
    const big = Buffer.alloc(2 * 1_048_576, 0x20);
    expectRefused(await ask({ ...bearer, 'content-length': String(big.length) }, big), 413, 'BODY_TOO_LARGE');
    const piece = ' '.repeat(65_536);
    const pieces = `10000\r\n${piece}\r\n`.repeat(17);
    const head = `POST /mcp HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${good}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n`;
    expect(await sendBytes(door.port, `${head}${pieces}0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 413 [\s\S]*BODY_TOO_LARGE/);
    expect((await ask(bearer, listTools.padEnd(1_048_576, ' '))).status).toBe(200);
  });

  test('T7 what is not UTF-8, not JSON, empty, too deep or poisoned is refused', async () => {
    const { ask, bearer } = await openStagedDoor();
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
    const { door, host, good } = await openStagedDoor({ limits: { headersTimeoutMs: 200, requestTimeoutMs: 1_200 } });
    const head = `POST /mcp HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${good}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n`;
    const startedAt = performance.now();
    const timed = async (bytes: string): Promise<[string, number]> => [
      await sendBytes(door.port, bytes),
      performance.now() - startedAt,
    ];
    const [[slowHead, headMs], [slowBody, bodyMs]] = await Promise.all([timed(head), timed(`${head}\r\n{"jsonrpc"`)]);
    expect(slowHead).toMatch(/^HTTP\/1\.1 408 /);
    expect(slowBody).toMatch(/^HTTP\/1\.1 408 /);
    expect(headMs).toBeLessThan(bodyMs);
  });

  test('T9 unknown paths and every OAuth discovery path are 404, with and without a token', async () => {
    const { door, host, bearer } = await openStagedDoor();
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
    const { ask, guard, commands } = await openStagedDoor();
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
    const { ask } = await openStagedDoor();
    expectRefused(await ask({}, Buffer.alloc(2 * 1_048_576, 0x20)), 401, 'UNAUTHENTICATED');
  });

  test('T11 bad credentials beyond 20 a second get 429, a good one at that moment is served, and it passes', async () => {
    const { ask, bearer, clock, guard } = await openStagedDoor();
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
    const { ask, bearer, clock, guard } = await openStagedDoor({
      limits: { perPrincipal: { perSecond: 1, burst: 3 } },
    });
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
    const { ask, bearer, commands } = await openStagedDoor({ limits: { perPrincipal: { perSecond: 1, burst: 5 } } });
    const batch = (size: number): string => `[${Array.from({ length: size }, () => callStatus).join(',')}]`;
    expectRefused(await ask(bearer, batch(6)), 429, 'RATE_LIMITED');
    expectRefused(await ask({ ...bearer }, batch(101)), 400, 'BODY_INVALID');
    expect(commands.calls).toEqual([]);
  });

  test('T17 a token revoked between two calls is refused on the second', async () => {
    const { door, guard, good } = await openStagedDoor();
    const client = await connectClient('sdk2-auto', { url: door.mcpUrl, token: good });
    onTestFinished(() => client.close());
    expect((await client.call('memory_status', { project: 'demo' })).isError).toBe(false);
    guard.revoke(1);
    await expect(client.call('memory_status', { project: 'demo' })).rejects.toThrow();
  });
});
