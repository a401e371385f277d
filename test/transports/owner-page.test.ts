import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { Fault } from '../../src-main/base/fault.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import type { CommandCall } from '../../src-main/commands/api.ts';
import { openOwnerPage } from '../../src-main/transports/owner-page.ts';
import type { EngineEvent } from '../../src-preload/contract/events.ts';
import { type RawAnswer, send, sendBytes } from './raw-http.ts';
import { eventually, fakeClock, ownerCaller, principal, stage, tokenOf } from './stage.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const indexHtml =
  '<!doctype html><meta name="csp-nonce" content="__CSP_NONCE__"><script type="module" src="./assets/main.js"></script>';

function builtDesk(): string {
  const folder = mkdtempSync(join(tmpdir(), 'memory-git-page-'));
  closers.push(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'renderer/assets'), { recursive: true });
  writeFileSync(join(folder, 'renderer/index.html'), indexHtml);
  writeFileSync(join(folder, 'renderer/assets/main.js'), 'export const desk = 1;');
  writeFileSync(join(folder, 'secret.txt'), 'outside of the desk');
  symlinkSync(join(folder, 'secret.txt'), join(folder, 'renderer/assets/link.txt'));
  return join(folder, 'renderer');
}

async function open(answer?: (call: CommandCall) => unknown, heartbeatMs?: number) {
  const commands = stage(answer);
  const clock = fakeClock();
  const page = await openOwnerPage({
    port: 0,
    rendererDir: builtDesk(),
    commands,
    charon: { ownerCaller },
    clock,
    ids: systemIds(),
    log: silentLog,
    heartbeatMs,
  });
  closers.push(() => page.close());
  const host = `127.0.0.1:${page.port}`;
  const origin = `http://${host}`;
  const get = (path: string, headers: Record<string, string> = {}): Promise<RawAnswer> =>
    send({ port: page.port, path, headers: { host, ...headers } });
  const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<RawAnswer> =>
    send({
      port: page.port,
      method: 'POST',
      path,
      headers: { host, origin, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const newCode = (): string => new URL(page.newLoginUrl()).hash.replace('#code=', '');
  const signIn = async (): Promise<string> =>
    JSON.parse((await post('/owner/session', { code: newCode() })).body).token;
  return { page, commands, clock, host, origin, get, post, newCode, signIn };
}

function codeOf(answer: RawAnswer): [number, unknown] {
  return [answer.status, JSON.parse(answer.body).code];
}

describe('the pages', () => {
  test('T41 every page has a nonce of its own in its rules and in its text, and is not stored', async () => {
    const { get } = await open();
    const nonces = new Set<string>();
    for (const path of ['/', '/index.html', '/?x=1']) {
      const answer = await get(path);
      expect(answer.status).toBe(200);
      const policy = String(answer.headers['content-security-policy']);
      const nonce = /'nonce-([A-Za-z0-9_-]{24})'/.exec(policy)?.[1] ?? '';
      expect(policy).toBe(
        `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'`,
      );
      expect(answer.body).toBe(indexHtml.replace('__CSP_NONCE__', nonce));
      expect(answer.headers).toMatchObject({
        'cache-control': 'no-store',
        'content-type': 'text/html; charset=utf-8',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      });
      nonces.add(nonce);
    }
    expect(nonces.size).toBe(3);
    const script = await get('/assets/main.js');
    expect([script.status, script.body, script.headers['content-type']]).toEqual([
      200,
      'export const desk = 1;',
      'text/javascript; charset=utf-8',
    ]);
    expect(script.headers['cache-control']).toBe('no-store');
  });

  test('T40 nothing outside of the desk is served, however it is spelled', async () => {
    const { get, page, host } = await open();
    const paths = [
      '/../secret.txt',
      '/..%2fsecret.txt',
      '/%2e%2e/secret.txt',
      '/assets/../../secret.txt',
      '/assets/..%5c..%5csecret.txt',
      '//secret.txt',
      '/assets/link.txt',
      '/assets/',
      '/assets',
      '/assets/main.js%00',
      '/etc/passwd',
      '/C:/secret.txt',
      '/.%2e/secret.txt',
    ];
    for (const path of paths) {
      const answer = await get(path);
      expect([path, answer.status]).toEqual([path, 404]);
      expect(answer.body).not.toContain('outside');
    }
    const absolute = await sendBytes(
      page.port,
      `GET http://evil.example/secret.txt HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    );
    expect(absolute).toMatch(/^HTTP\/1\.1 40[04] /);
  });

  test('T40 a desk that was not built is a plain refusal', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'memory-git-empty-'));
    closers.push(() => rmSync(folder, { recursive: true, force: true }));
    const opened = openOwnerPage({
      port: 0,
      rendererDir: folder,
      commands: stage(),
      charon: { ownerCaller },
      clock: fakeClock(),
      ids: systemIds(),
      log: silentLog,
    });
    await expect(opened).rejects.toMatchObject({
      code: 'STATE_NOT_FOUND',
      message: expect.stringContaining('npm run setup'),
    });
  });

  test('T47 T4 no answer sets a cookie or a CORS header', async () => {
    const { get, post, newCode, page, host, origin } = await open();
    const answers = [
      await get('/'),
      await get('/nothing'),
      await post('/owner/session', { code: newCode() }),
      await post('/owner/session', { code: 'x' }),
      await send({
        port: page.port,
        method: 'OPTIONS',
        path: '/owner/session',
        headers: { host, origin, 'access-control-request-method': 'POST' },
      }),
    ];
    for (const answer of answers) {
      expect(
        Object.keys(answer.headers).filter((name) => name === 'set-cookie' || name.startsWith('access-control')),
      ).toEqual([]);
    }
    expect(answers.at(-1)?.status).toBe(404);
  });
});

describe('signing in', () => {
  test('T42 a code opens one session; used again, expired or made up it opens none', async () => {
    const { post, newCode, clock } = await open();
    const code = newCode();
    const first = await post('/owner/session', { code });
    expect(first.status).toBe(200);
    expect(JSON.parse(first.body)).toEqual({ token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/) });
    expect(codeOf(await post('/owner/session', { code }))).toEqual([401, 'UNAUTHENTICATED']);
    expect(codeOf(await post('/owner/session', { code: 'A'.repeat(43) }))).toEqual([401, 'UNAUTHENTICATED']);
    const [late, inTime] = [newCode(), newCode()];
    clock.advance(59_999);
    expect((await post('/owner/session', { code: inTime })).status).toBe(200);
    clock.advance(1);
    expect(codeOf(await post('/owner/session', { code: late }))).toEqual([401, 'UNAUTHENTICATED']);
    for (const body of [{}, { code: '' }, { code: 1 }, { code: 'x', more: 1 }, []]) {
      expect(codeOf(await post('/owner/session', body))).toEqual([400, 'INPUT_INVALID']);
    }
  });

  test('T42 guesses beyond 20 a second are told to wait, and a good code at that moment opens', async () => {
    const { post, newCode } = await open();
    const statuses: number[] = [];
    for (let n = 0; n < 22; n += 1) statuses.push((await post('/owner/session', { code: `guess${n}` })).status);
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 401), 429, 429]);
    expect((await post('/owner/session', { code: newCode() })).status).toBe(200);
  });

  test('T42 the code stands in the fragment, which no server sees', async () => {
    const { page } = await open();
    const url = new URL(page.newLoginUrl());
    expect(url.search).toBe('');
    expect(url.hash).toMatch(/^#code=[A-Za-z0-9_-]{43}$/);
  });

  test('T43 commands and events without the session, with a wrong one or with a token of an agent are refused', async () => {
    const { get, post, commands, signIn } = await open();
    const token = await signIn();
    for (const authorization of [
      '',
      'Bearer ',
      `Bearer ${'A'.repeat(43)}`,
      `Bearer ${tokenOf(1)}`,
      `Basic ${token}`,
      `Bearer ${token}x`,
    ]) {
      const headers: Record<string, string> = authorization === '' ? {} : { authorization };
      expect(codeOf(await post('/owner/commands/project.list', {}, headers))).toEqual([401, 'UNAUTHENTICATED']);
      expect(codeOf(await get('/owner/events', headers))).toEqual([401, 'UNAUTHENTICATED']);
    }
    expect(commands.calls).toEqual([]);
  });

  test('T44 only its own Host, and on anything but GET only its own Origin', async () => {
    const { page, host, origin, newCode } = await open();
    const ask = (headers: Record<string, string>): Promise<RawAnswer> =>
      send({
        port: page.port,
        method: 'POST',
        path: '/owner/session',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ code: newCode() }),
      });
    expect((await ask({ host, origin })).status).toBe(200);
    expect((await ask({ host, origin, 'sec-fetch-site': 'same-origin' })).status).toBe(200);
    expect(codeOf(await ask({ host }))).toEqual([403, 'ORIGIN_REFUSED']);
    for (const wrong of [
      'null',
      `http://localhost:${page.port}`,
      `https://${host}`,
      'http://evil.example',
      `http://127.0.0.1:${page.port + 1}`,
    ]) {
      expect(codeOf(await ask({ host, origin: wrong }))).toEqual([403, 'ORIGIN_REFUSED']);
    }
    for (const wrong of [`localhost:${page.port}`, `[::1]:${page.port}`, 'evil.example', '127.0.0.1']) {
      expect(codeOf(await ask({ host: wrong, origin }))).toEqual([403, 'HOST_REFUSED']);
    }
    for (const site of ['cross-site', 'same-site'])
      expect(codeOf(await ask({ host, origin, 'sec-fetch-site': site }))).toEqual([403, 'ORIGIN_REFUSED']);
    const foreign = await send({ port: page.port, path: '/', headers: { host, 'sec-fetch-site': 'cross-site' } });
    expect(codeOf(foreign)).toEqual([403, 'ORIGIN_REFUSED']);
    expect((await send({ port: page.port, path: '/', headers: { host, 'sec-fetch-site': 'none' } })).status).toBe(200);
  });
});

describe('commands and events', () => {
  test('T45 a command answers with its output, a fault with its status and four fields', async () => {
    const { post, signIn, commands } = await open((call) => {
      if (call.name === 'memory.merge')
        throw new Fault('NOT_APPROVED', 'No current approval. Review it first.', { approvals: 0 });
      if (call.name === 'audit.verify') throw new Error('secret words');
      return { projects: ['demo'] };
    });
    const headers = { authorization: `Bearer ${await signIn()}` };
    const listed = await post('/owner/commands/project.list', {}, headers);
    expect([listed.status, JSON.parse(listed.body)]).toEqual([200, { projects: ['demo'] }]);
    expect(commands.calls[0]).toMatchObject({
      name: 'project.list',
      input: {},
      caller: { door: 'owner_page', credential: { kind: 'owner' } },
    });
    const proposal = '00000000-0000-7000-8000-000000000000';
    const refused = await post(
      '/owner/commands/memory.merge',
      { proposal_id: proposal, idempotency_key: 'k' },
      headers,
    );
    expect([refused.status, JSON.parse(refused.body)]).toEqual([
      409,
      {
        code: 'NOT_APPROVED',
        kind: 'conflict',
        message: 'No current approval. Review it first.',
        data: { approvals: 0 },
      },
    ]);
    const broken = await post('/owner/commands/audit.verify', {}, headers);
    expect(codeOf(broken)).toEqual([500, 'INTERNAL']);
    expect(broken.body).not.toContain('secret words');
    expect(codeOf(await post('/owner/commands/no.such', {}, headers))).toEqual([404, 'COMMAND_UNKNOWN']);
    expect(codeOf(await post('/owner/commands/project.list', { extra: 1 }, headers))).toEqual([400, 'INPUT_INVALID']);
  });

  test('T46 events come as lines in order, silence is broken by empty lines, a reader that goes is forgotten', async () => {
    const { page, commands, signIn } = await open(undefined, 20);
    const gone = new AbortController();
    const answer = await fetch(`${page.url}owner/events`, {
      headers: { authorization: `Bearer ${await signIn()}` },
      signal: gone.signal,
    });
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toMatch(/^\n+$/);
    const events: EngineEvent[] = [1, 2, 3].map((number) => ({
      kind: 'principal_changed',
      principal_id: principal(number).principal_id,
    }));
    for (const event of events) commands.publish(event);
    let text = '';
    await eventually(async () => {
      text += (await reader?.read())?.value ?? '';
      expect(
        text
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => JSON.parse(line)),
      ).toEqual(events);
    });
    expect((await reader?.read())?.value).toMatch(/^\n+$/);
    expect(commands.listeners()).toBe(1);
    gone.abort();
    await reader?.cancel().catch(() => undefined);
    await eventually(() => expect(commands.listeners()).toBe(0));
  });

  test('T180 a desk is open while somebody follows the events of the owner page', async () => {
    const { page, commands, signIn } = await open();
    const gone = new AbortController();
    const headers = { authorization: `Bearer ${await signIn()}` };
    expect(commands.desks()).toBe(0);
    await fetch(`${page.url}owner/events`, { headers, signal: gone.signal });
    expect(commands.desks()).toBe(1);
    gone.abort();
    await eventually(() => expect(commands.desks()).toBe(0));
  });

  test('T46 closing the page ends its streams', async () => {
    const { page, commands, signIn } = await open();
    const answer = await fetch(`${page.url}owner/events`, { headers: { authorization: `Bearer ${await signIn()}` } });
    await page.close();
    await answer.text().catch(() => 'cut');
    await eventually(() => expect(commands.listeners()).toBe(0));
  });
});
