import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Log, silentLog } from '../../src-main/base/log.ts';
import { openLethe } from '../../src-main/lethe/lethe.ts';
import {
  type Bind,
  bearsKey,
  decideBind,
  isTrustedPeer,
  parseBind,
} from '../../src-main/transports/lethe-http/access.ts';
import { openLetheHttp } from '../../src-main/transports/lethe-http/server.ts';
import { openTempLethe, seededSigner } from '../support/history-builder.ts';
import { send, sendBytes } from '../transports/raw-http.ts';
import { branch, client, commitBody, openDoor, startDemo } from './door.ts';

const key = 'lethe_0123456789abcdef';

test('T60 foreign hosts, origins and sites are refused before path, recovery and key', async () => {
  const door = await openDoor({ key, recovery: true, hostNames: ['memory.lan'] });
  const { port } = door.http;
  const own = { host: `127.0.0.1:${port}` };
  for (const headers of [
    {},
    { host: 'evil.example' },
    { host: `evil.example:${port}` },
    { host: '127.0.0.1' },
    { host: `127.0.0.1:${port + 1}` },
    { host: `memory.lan.evil:${port}` },
    { ...own, origin: 'https://evil.example' },
    { ...own, origin: 'null' },
    { ...own, 'sec-fetch-site': 'cross-site' },
    { ...own, 'sec-fetch-site': 'same-site' },
  ]) {
    for (const [method, path] of [
      ['GET', '/api/health'],
      ['POST', '/api/memory/demo/legacy-root'],
      ['GET', '/nothing'],
    ] as const) {
      const answer = await send({ port, method, path, headers });
      expect([headers, path, answer.status]).toEqual([headers, path, 403]);
      expect(Object.keys(JSON.parse(answer.body))).toEqual(['error']);
      expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    }
  }
  const bearer = { authorization: `Bearer ${key}` };
  for (const headers of [
    { host: `LOCALHOST:${port}` },
    { host: `[::1]:${port}` },
    { host: `memory.lan:${port}` },
    { ...own, origin: `http://127.0.0.1:${port}`, 'sec-fetch-site': 'same-origin' },
    { ...own, 'sec-fetch-site': 'none' },
  ])
    expect([headers, (await send({ port, path: '/api/health', headers: { ...headers, ...bearer } })).status]).toEqual([
      headers,
      200,
    ]);
});

test('T61 with a key every route wants it, in two fields, whatever the peer; unknown places do not', async () => {
  const door = await openDoor({ key });
  for (const authorization of [
    undefined,
    '',
    key,
    'Bearer',
    `Basic ${key}`,
    'Bearer wrong',
    `Bearer ${key}x`,
    `Bearer ${key} more`,
    `Bearer: ${key}`,
  ]) {
    for (const path of ['/health', '/readyz', '/metrics', '/stats', '/memory/projects']) {
      const answer = await door.get(path, authorization === undefined ? {} : { authorization });
      expect([authorization, path, answer.status, answer.value]).toEqual([
        authorization,
        path,
        401,
        { error: 'missing or invalid bearer token' },
      ]);
    }
  }
  expect((await door.post('/memory/demo/legacy-root', '')).status).toBe(401);
  expect((await door.get('/health', { authorization: [`Bearer ${key}`, `Bearer ${key}`] })).status).toBe(401);
  for (const authorization of [`Bearer ${key}`, `bearer ${key}`, `BEARER   ${key}`, ` Bearer\t${key} `])
    expect([authorization, (await door.get('/health', { authorization })).status]).toEqual([authorization, 200]);
  expect((await door.get('/nothing')).status).toBe(404);
  expect((await door.post('/health', {})).status).toBe(405);
  expect(bearsKey(undefined, key)).toBe(false);
});

test('T62 without a key the address of the peer decides, never a header', async () => {
  for (const [address, loopback, isPrivate] of [
    ['127.0.0.1', true, true],
    ['127.9.9.9', true, true],
    ['::1', true, true],
    ['::ffff:127.0.0.1', true, true],
    ['10.1.2.3', false, true],
    ['172.16.0.1', false, true],
    ['172.32.0.1', false, false],
    ['192.168.1.1', false, true],
    ['::ffff:192.168.1.1', false, true],
    ['169.254.1.1', false, true],
    ['fd00::1', false, true],
    ['fe80::1%eth0', false, true],
    ['8.8.8.8', false, false],
    ['2001:db8::1', false, false],
    ['::ffff:8.8.8.8', false, false],
    ['no address', false, false],
    [undefined, false, false],
  ] as const) {
    expect([address, isTrustedPeer(address, 'loopback')]).toEqual([address, loopback]);
    expect([address, isTrustedPeer(address, 'private')]).toEqual([address, isPrivate]);
  }
  const door = await openDoor();
  const forwarded = { 'x-forwarded-for': '8.8.8.8', forwarded: 'for=8.8.8.8', 'x-real-ip': '8.8.8.8' };
  expect((await door.get('/health', forwarded)).status).toBe(200);
});

test('T63 beyond this machine only with a key, or allowed outright with a loud warning', async () => {
  const rows: readonly (readonly [string, Bind])[] = [
    ['127.0.0.1:18485', { host: '127.0.0.1', port: 18_485 }],
    ['localhost:0', { host: 'localhost', port: 0 }],
    ['[::1]:80', { host: '::1', port: 80 }],
    [':18485', { host: '', port: 18_485 }],
    ['0.0.0.0:1', { host: '0.0.0.0', port: 1 }],
    ['memory.lan:65535', { host: 'memory.lan', port: 65_535 }],
  ];
  for (const [text, bind] of rows) expect(parseBind(text)).toEqual(bind);
  for (const text of [
    '',
    '127.0.0.1',
    '127.0.0.1:',
    '127.0.0.1:65536',
    '127.0.0.1:x',
    '::1:80',
    '[x]:80',
    'a b:80',
    'http://a:80',
  ])
    expect(() => parseBind(text), text).toThrow(expect.objectContaining({ code: 'INPUT_INVALID' }));
  for (const host of ['127.0.0.1', '127.3.3.3', 'LocalHost', '::1'])
    expect([host, decideBind({ host, port: 1 }, false, false)]).toEqual([host, false]);
  for (const host of ['', '0.0.0.0', '::', '192.168.1.5', '8.8.8.8', 'memory.lan']) {
    expect(() => decideBind({ host, port: 1 }, false, false), host).toThrow(/LETHE_API_KEY/);
    expect([host, decideBind({ host, port: 1 }, true, false)]).toEqual([host, false]);
    expect([host, decideBind({ host, port: 1 }, false, true)]).toEqual([host, true]);
  }
  await expect(openDoor({ bind: { host: '0.0.0.0', port: 0 } })).rejects.toMatchObject({ code: 'HOME_INVALID' });
  const warn = vi.fn<Log['warn']>();
  const log = Object.assign(Object.create(silentLog), { warn }) as Log;
  const open = await openDoor({ bind: { host: '0.0.0.0', port: 0 }, insecureBind: true, log });
  expect(warn).toHaveBeenCalledTimes(1);
  expect((await open.get('/health')).status).toBe(200);
});

test('T82 in recovery mutations are 503 before the key, every read works, and nothing is written', async () => {
  const temp = openTempLethe();
  onTestFinished(() => temp.remove());
  const common = {
    bind: { host: '127.0.0.1', port: 0 },
    trust: 'loopback',
    hostNames: [],
    insecureBind: false,
  } as const;
  const before = await openLetheHttp({ ...common, lethe: temp.lethe, key: undefined, recovery: false, log: silentLog });
  const root = await startDemo(client(before.port));
  const made = await client(before.port).post('/memory/changesets', commitBody(branch, root));
  await before.close();
  temp.lethe.close();
  const bytes = readFileSync(temp.path);

  const { clock, ids, path } = temp;
  const mergeKeys = new Map<string, Uint8Array>();
  const lethe = openLethe({
    ...{ path, readOnly: true, clock, ids, headSigner: seededSigner('head'), mergeKeys, log: silentLog },
    onEvents: () => undefined,
  });
  const http = await openLetheHttp({ ...common, lethe, key, recovery: true, log: silentLog });
  onTestFinished(async () => {
    await http.close();
    lethe.close();
  });
  const door = client(http.port);
  const bearer = { authorization: `Bearer ${key}` };
  for (const where of [
    'demo/legacy-root',
    'demo/branches',
    'demo/refs/advance',
    'demo/refs/x/advance',
    'demo/refs/merge',
    'changesets',
    'no/such/route',
  ]) {
    for (const headers of [{}, bearer]) {
      const answer = await door.post(`/memory/${where}`, {}, headers);
      expect([where, answer.status, answer.value]).toEqual([
        where,
        503,
        { error: expect.stringMatching(/mutations are disabled/) },
      ]);
    }
  }
  expect((await door.ask('DELETE', '/memory/projects', undefined, bearer)).status).toBe(503);
  const id = made.value.changeset_id;
  for (const where of [
    ...['health', 'readyz', 'metrics', 'stats', 'memory/projects', 'memory/demo/refs', `memory/changesets/${id}`],
    ...[
      `memory/demo/changesets?ref=${branch}`,
      `memory/demo/context?ref=${branch}`,
      `memory/demo/search?q=memory&ref=${branch}`,
    ],
    ...[
      'memory/demo/advances',
      'memory/demo/ref-moves',
      'memory/demo/verify',
      `memory/demo/memories/mem:${id}:0?ref=${branch}`,
    ],
  ]) {
    expect([where, (await door.get(`/${where}`, bearer)).status]).toEqual([where, 200]);
    expect([where, (await door.get(`/${where}`)).status]).toEqual([where, 401]);
  }
  expect((await door.post(`/memory/changesets/${id}/diff`, {}, bearer)).value.memories_added).toHaveLength(1);
  expect((await door.post('/memory/demo/context', { ref_name: branch }, bearer)).value.total_active).toBe(1);
  const pin = await door.post('/memory/demo/context', { ref_name: branch, create_manifest: true }, bearer);
  expect([pin.status, pin.value]).toEqual([503, { error: expect.stringMatching(/mutations are disabled/) }]);
  expect((await door.get('/memory/none/context', bearer)).status).toBe(404);
  expect(readFileSync(path).equals(bytes)).toBe(true);
  expect(existsSync(`${path}-journal`)).toBe(false);
});

test('T84 a taken port is refused, an answer that takes too long is 504, and closing waits for one on its way', async () => {
  const blocker = createServer();
  await new Promise<void>((resolve) => void blocker.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void blocker.close());
  const address = blocker.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  await expect(openDoor({ bind: { host: '127.0.0.1', port } })).rejects.toMatchObject({
    code: 'PORT_TAKEN',
    data: { port },
  });

  const temp = openTempLethe();
  onTestFinished(() => temp.remove());
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const lethe = {
    ...temp.lethe,
    initProject: async (input: Parameters<typeof temp.lethe.initProject>[0]) => {
      await held;
      return temp.lethe.initProject(input);
    },
  };
  const slow = await openDoor({ lethe, times: { answerMs: 50 } });
  const late = await slow.post('/memory/demo/legacy-root', '');
  expect([late.status, late.value]).toEqual([504, { error: 'request timed out' }]);

  const patient = await openDoor({ lethe });
  const asked = patient.post('/memory/demo/legacy-root', '');
  await vi.waitFor(async () => expect((await patient.get('/health')).status).toBe(200));
  const closing = patient.http.close();
  release();
  expect((await asked).status).toBe(200);
  await closing;
  await expect(patient.get('/health')).rejects.toThrow();
});

test('T84 a head or a body that comes too slowly is cut off', async () => {
  const door = await openDoor({ times: { readMs: 200 } });
  const host = `Host: 127.0.0.1:${door.http.port}`;
  const body = `POST /api/memory/demo/branches HTTP/1.1\r\n${host}\r\nContent-Length: 100\r\n\r\n{"ref_name":`;
  expect(await sendBytes(door.http.port, body)).toMatch(/^HTTP\/1\.1 408 /);
  expect(await sendBytes(door.http.port, 'GET /api/health HTTP/1.1\r\nHost: ')).toMatch(/^HTTP\/1\.1 408 /);
  expect((await door.get('/health')).status).toBe(200);
});
