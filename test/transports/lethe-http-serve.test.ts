import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { openApp } from '../../src-main/app.ts';
import { systemClock } from '../../src-main/base/clock.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import { runProgram, serveCharon, startProgram } from '../support/spawn-charon.ts';
import { tempFolder } from '../support/temp-home.ts';

// Every host is a process of its own here, and the machine may be busy.
vi.setConfig({ testTimeout: 90_000 });

const readySchema = z.strictObject({
  ready: z.literal(true),
  lethe: z.string(),
  key: z.enum(['environment', 'keys.json']).nullable(),
  home: z.string(),
  pid: z.int(),
});

async function serveLethe(home: string, env: Record<string, string> = {}, http = '127.0.0.1:0') {
  const program = startProgram('lethe', ['serve', '--home', home, '--http', http, '--json'], { env });
  const lines = await program.until(/\n/);
  return { lines, ready: readySchema.parse(JSON.parse(lines)), stop: program.stop };
}

/** A home that the policy engine has been at. */
async function homeWithPolicy(): Promise<string> {
  const home = join(tempFolder(), 'home');
  expect(
    (await runProgram('charon', ['principal', 'reconcile', 'agent', 'propose', 'demo', '--home', home])).code,
  ).toBe(0);
  return home;
}

const keyIn = (home: string): string => JSON.parse(readFileSync(join(home, 'keys.json'), 'utf8')).lethe_api;

test('T85 serve prints one ready line, needs no key on a home of its own, keeps what it was told and ends cleanly', async () => {
  const home = join(tempFolder(), 'home');
  let root = '';
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const served = await serveLethe(home);
    expect(served.ready).toMatchObject({
      lethe: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/api$/),
      key: null,
      home,
    });
    expect(served.lines.trim().split('\n')).toHaveLength(1);
    const answer = await fetch(`${served.ready.lethe}/memory/demo/legacy-root`, { method: 'POST' });
    const { changeset } = z.object({ changeset: z.object({ changeset_id: z.string() }) }).parse(await answer.json());
    expect(root === '' || root === changeset.changeset_id).toBe(true);
    root = changeset.changeset_id;
    expect(await served.stop(signal)).toBe(0);
    expect(existsSync(join(home, 'host.json'))).toBe(false);
    expect(existsSync(join(home, 'lethe.db-wal'))).toBe(false);
  }
  expect(existsSync(join(home, 'charon.db'))).toBe(false);
  expect(statSync(join(home, 'lethe.db')).mode & 0o777).toBe(0o600);
  // To look at the store brings no policy engine in, which would make the door ask for a key.
  const verified = await runProgram('lethe', ['verify-chain', 'demo', '--home', home, '--json']);
  expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining('"ok":true') });
  expect((await runProgram('lethe', ['verify-chain', 'other', '--home', home])).code).toBe(1);
  expect(await runProgram('lethe', ['memory', 'log', 'demo', '--home', home])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('store alone'),
  });
  expect(existsSync(join(home, 'charon.db'))).toBe(false);
  // Later the policy engine may come to the same home.
  expect((await runProgram('charon', ['principal', 'list', '--home', home])).code).toBe(0);
});

test('T85 what cannot be served is refused before anything listens: usage 2, the rest 3', async () => {
  const home = join(tempFolder(), 'home');
  for (const [args, env, code, text] of [
    [['--http', 'nowhere'], {}, 2, /HOST:PORT/],
    [['--http', '0.0.0.0:0'], {}, 3, /LETHE_API_KEY/],
    [['--http', '192.0.2.1:0'], { LETHE_API_KEY: 'secret' }, 2, /no such address/],
    [[], { LETHE_MODE: 'both' }, 3, /LETHE_MODE/],
    [['--mode', 'both'], {}, 3, /LETHE_MODE/],
    [['--assembly-retention-days', 'x'], {}, 3, /LETHE_ASSEMBLY_RETENTION_DAYS/],
    [[], { LETHE_TRUST: 'everyone' }, 3, /LETHE_TRUST/],
    [[], { LETHE_API_KEY: 'two words' }, 3, /LETHE_API_KEY/],
  ] as const) {
    const ran = await runProgram('lethe', ['serve', '--home', home, ...args], { env });
    expect([args, env, ran.code, ran.stdout]).toEqual([args, env, code, '']);
    expect(ran.stderr).toMatch(text);
    expect(ran.stderr).not.toContain('two words');
  }
  expect((await runProgram('lethe', ['serve', '--key', 'x', '--home', home])).code).toBe(2);
});

test('T86 beside a policy engine only with a key, made once in keys.json and never printed', async () => {
  const home = await homeWithPolicy();
  expect(keyIn(home)).toBeUndefined();
  const first = await serveLethe(home);
  expect(first.ready.key).toBe('keys.json');
  const key = keyIn(home);
  expect(key).toMatch(/^[\w-]{43}$/);
  expect(first.lines).not.toContain(key);
  expect(statSync(join(home, 'keys.json')).mode & 0o777).toBe(0o600);
  const health = `${first.ready.lethe}/health`;
  expect((await fetch(health)).status).toBe(401);
  expect((await fetch(health, { headers: { authorization: `Bearer ${key}` } })).status).toBe(200);
  expect(await first.stop('SIGTERM')).toBe(0);

  const given = await serveLethe(home, { LETHE_API_KEY: ' lethe_given ' });
  expect([given.ready.key, keyIn(home)]).toEqual(['environment', key]);
  const again = `${given.ready.lethe}/health`;
  expect((await fetch(again, { headers: { authorization: `Bearer ${key}` } })).status).toBe(401);
  expect((await fetch(again, { headers: { authorization: 'Bearer lethe_given' } })).status).toBe(200);
  expect(await given.stop('SIGTERM')).toBe(0);
});

test('T87 a home that is held is refused with 3 and the setting that opens this door there', async () => {
  const home = join(tempFolder(), 'home');
  const served = await serveCharon(home);
  const second = await runProgram('lethe', ['serve', '--home', home, '--http', '127.0.0.1:0']);
  expect([second.code, second.stdout]).toEqual([3, '']);
  expect(second.stderr).toMatch(
    new RegExp(`Process ${served.pid} uses this home[\\s\\S]*lethe_http[\\s\\S]*settings\\.json`),
  );
  expect(await served.stop('SIGTERM')).toBe(0);
});

test('T87 with the setting the app opens the door, with the key of its home', async () => {
  const home = await homeWithPolicy();
  writeFileSync(join(home, 'settings.json'), JSON.stringify({ lethe_http: { enabled: true, port: 0 } }));
  const app = await openApp({
    ...{ home, env: {}, doors: { agentPort: 0, ownerPageDir: null }, version: '1.2.3' },
    ...{ clock: systemClock, ids: systemIds(), log: silentLog },
  });
  onTestFinished(() => app.close());
  const url = app.doors.letheHttp ?? '';
  expect((await fetch(`${url}/health`)).status).toBe(401);
  const authorization = `Bearer ${keyIn(home)}`;
  await app.commands.call('memory.repo_init', { project: 'demo' }, app.ownerCaller('window'));
  const projects = await fetch(`${url}/memory/projects`, { headers: { authorization } });
  expect(await projects.json()).toMatchObject({ projects: [{ project_id: 'demo' }] });
  await app.close();
  await expect(fetch(`${url}/health`)).rejects.toThrow();
});

test('T87 without the setting, and for a command line on closed files, the door stays shut', async () => {
  const home = await homeWithPolicy();
  const common = { home, env: {}, version: '1.2.3', clock: systemClock, ids: systemIds(), log: silentLog };
  const shut = await openApp({ ...common, doors: { agentPort: 0, ownerPageDir: null } });
  expect(shut.doors.letheHttp).toBeNull();
  await shut.close();
  writeFileSync(join(home, 'settings.json'), JSON.stringify({ lethe_http: { enabled: true, port: 0 } }));
  const files = await openApp({ ...common, doors: null });
  expect(files.doors.letheHttp).toBeNull();
  await files.close();
  expect(keyIn(home)).toBeUndefined();
});
