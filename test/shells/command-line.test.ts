import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { connect } from '../../src-main/sqlite/driver.ts';
import { principalSchema } from '../../src-preload/contract/principal.ts';
import { type ProgramName, type Ran, runProgram, serveCharon, startProgram } from '../support/spawn-charon.ts';
import { tempFolder } from '../support/temp-home.ts';

// Every verb is a process of its own here, and the machine may be busy.
vi.setConfig({ testTimeout: 90_000 });

const json = (ran: Ran): unknown => JSON.parse(ran.stdout);
const principalAnswer = z.object({ principal: principalSchema, created: z.boolean() });

/** A home of the test's own and the two programs on it. */
function onHome() {
  const home = join(tempFolder(), 'home');
  const run = (program: ProgramName, ...args: string[]): Promise<Ran> => runProgram(program, [...args, '--home', home]);
  return {
    home,
    charon: (...args: string[]) => run('charon', ...args),
    lethe: (...args: string[]) => run('lethe', ...args),
  };
}

test('X5 an order to stop that arrives twice, from the group and passed on by a parent, still closes everything', async () => {
  const { home } = onHome();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    const served = await serveCharon(home);
    process.kill(served.pid, signal);
    await setTimeout(3);
    await served.stop(signal);
    for (const left of ['host.json', 'lethe.db-wal', 'charon.db-wal'])
      expect(existsSync(join(home, left)), `${left} after ${signal}`).toBe(false);
  }
});

test('X5 X2 serve prints one ready line, answers at its door, and ends cleanly by a signal', async () => {
  const { home } = onHome();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const served = await serveCharon(home);
    expect(served.ready).toEqual({
      ready: true,
      mcp: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/),
      ledger: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      owner: null,
      home,
      pid: served.pid,
    });
    const live = await fetch(new URL('/livez', served.ready.mcp ?? ''));
    expect(await live.json()).toMatchObject({ live: true });
    expect((await fetch(new URL('/readyz', served.ready.mcp ?? ''))).status).toBe(200);
    expect(await served.stop(signal)).toBe(0);
    expect(served.stderr()).toBe('');
    expect(existsSync(join(home, 'host.json'))).toBe(false);
    expect(existsSync(join(home, 'lethe.db-wal'))).toBe(false);
  }
  for (const name of ['lethe.db', 'charon.db', 'keys.json', 'owner.key', 'lock', 'ledger.anchor']) {
    expect([name, statSync(join(home, name)).mode & 0o777]).toEqual([name, 0o600]);
  }
});

test('X6 X10 agents and tokens: the same on closed files and through the running host, and the ledger names the door', async () => {
  const { home, charon } = onHome();
  const made = await charon('principal', 'reconcile', 'my agent', 'propose', 'demo', '--json');
  expect(made.code).toBe(0);
  const { principal, created } = principalAnswer.parse(json(made));
  expect(created).toBe(true);

  const served = await serveCharon(home);
  const again = await charon('principal', 'reconcile', 'my agent', 'propose', 'demo', '--json');
  expect(json(again)).toEqual({ principal, created: false });
  const minted = await charon('obol', 'mint', principal.principal_id, '--expires', '12h');
  expect(minted.stdout).toMatch(
    /^ID: [0-9a-f]{16}\nPrincipal: principal_[0-9a-f]{16}\nAudience: urn:memory-git:[0-9a-f-]{36}\nExpires: \S+Z\nToken: obol_[0-9a-f]{16}_[\w-]{43}\n$/,
  );
  expect(minted.stderr).toBe('');
  const listed = await charon('principal', 'list');
  expect(listed.stdout).toMatch(
    new RegExp(
      `^ID +NAME +PROFILE +ENABLED +PROJECTS +TOKENS\n[\\s\\S]*${principal.principal_id}  my agent  propose  yes +demo +1\n`,
      'm',
    ),
  );
  await served.stop('SIGTERM');

  const closed = await charon('principal', 'list');
  expect(closed.stdout).toBe(listed.stdout);
  const id = /^ID: (\S+)/.exec(minted.stdout)?.[1] ?? '';
  expect((await charon('obol', 'revoke', id)).stdout).toBe(`Revoked: ${id}\n`);
  expect((await charon('obol', 'ls')).stdout).toMatch(new RegExp(`${id}.* revoked `));
  expect((await charon('principal', 'disable', principal.principal_id)).stdout).toMatch(/my agent +propose +no/);
  const tail = await charon('ledger', 'tail', '-n', '100', '--json');
  const doors = tail.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ phase, command }) => phase === 'outcome' && command.includes('.'))
    .map(({ command, door }) => `${command} ${door}`);
  expect(doors.filter((line) => !line.startsWith('audit.'))).toEqual([
    'principal.reconcile files',
    'principal.reconcile owner_socket',
    'obol.mint owner_socket',
    'obol.revoke files',
    'principal.set_enabled files',
  ]);
  const token = /^Token: (\S+)$/m.exec(minted.stdout)?.[1] ?? 'no token';
  expect(`${tail.stdout}${closed.stdout}`).not.toContain(token.split('_')[2]);
  expect((await charon('ledger', 'verify')).code).toBe(0);
});

test('X10 what gives much power is said before it is given', async () => {
  const { charon } = onHome();
  const made = await charon('principal', 'reconcile', 'judge', 'review', 'demo', '--json');
  expect(made.stderr).toMatch(/can put memory into main without you/);
  const { principal } = principalAnswer.parse(json(made));
  const minted = await charon('obol', 'mint', principal.principal_id, '--expires', 'never');
  expect(minted.stderr).toMatch(/never expires[\s\S]*can put memory into main without you/);
  expect(minted.stdout).toMatch(/^Expires: never$/m);
});

test('X7 a second host is refused and says who holds the home', async () => {
  const { home, charon } = onHome();
  const served = await serveCharon(home);
  const second = await charon('serve', '--port', '0');
  expect(second.code).toBe(3);
  expect(second.stdout).toBe('');
  expect(second.stderr).toContain(`Process ${served.pid} uses this home and serves agents at ${served.ready.mcp}`);
  const both = await charon('serve', '--port', '0', '--json');
  expect(JSON.parse(both.stderr)).toMatchObject({
    fault: { code: 'HOME_LOCKED', kind: 'unavailable', data: { pid: served.pid } },
  });
});

test('X8 a killed host leaves nothing in the way', async () => {
  const { home, charon } = onHome();
  const served = await serveCharon(home);
  await charon('principal', 'reconcile', 'my agent', 'propose', 'demo');
  await served.stop('SIGKILL');
  expect(existsSync(join(home, 'host.json'))).toBe(true);
  expect((await charon('principal', 'list')).stdout).toMatch(/my agent/);
  expect((await charon('ledger', 'verify')).code).toBe(0);
  const next = await serveCharon(home);
  expect((await charon('principal', 'list')).stdout).toMatch(/my agent/);
  expect(await next.stop('SIGTERM')).toBe(0);
});

test('X9 a port that is taken and a desk that is not there end with 3', async () => {
  const [first, second] = [onHome(), onHome()];
  const served = await serveCharon(first.home);
  const port = new URL(served.ready.mcp ?? '').port;
  const ran = await second.charon('serve', '--port', port);
  expect(ran.code).toBe(3);
  expect(ran.stderr).toMatch(/^charon: unavailable: /);
  const freed = await serveCharon(second.home);
  expect(await freed.stop('SIGTERM')).toBe(0);
});

test('X2 X9 a refusal ends with 1, for people and as JSON', async () => {
  const { charon, lethe } = onHome();
  await charon('principal', 'reconcile', 'one', 'propose', 'demo');
  const people = await charon('principal', 'disable', 'principal_0123456789abcdef');
  expect([people.code, people.stdout]).toEqual([1, '']);
  expect(people.stderr).toMatch(/^charon: not_found: /);
  const program = await lethe('memory', 'show', '00000000-0000-4000-8000-000000000000', '--json');
  expect([program.code, program.stdout]).toEqual([1, '']);
  expect(JSON.parse(program.stderr)).toMatchObject({ fault: { code: 'CHANGESET_NOT_FOUND', kind: 'not_found' } });
  expect((await charon('proposal', 'show', '00000000-0000-4000-8000-000000000000')).code).toBe(1);
});

test('X11 a verb that only looks makes no home; a switch that is neither on nor off starts nothing', async () => {
  const { home, charon, lethe } = onHome();
  for (const ran of [
    await charon('principal', 'list'),
    await charon('ledger', 'verify'),
    await lethe('verify-chain', 'demo'),
    await lethe('memory', 'status', 'demo'),
  ]) {
    expect(ran.code).toBe(3);
    expect(ran.stderr).toMatch(/There is no Memory Git home at that place/);
  }
  const odd = await runProgram('charon', ['serve', '--home', home, '--port', '0'], {
    env: { CHARON_RECOVERY_READONLY: 'perhaps' },
  });
  expect([odd.code, odd.stdout]).toEqual([3, '']);
  expect(odd.stderr).toMatch(/CHARON_RECOVERY_READONLY is neither on nor off/);
  expect(existsSync(home)).toBe(false);
});

test('X2 keys that cannot be used refuse to start and are not printed', async () => {
  const { home } = onHome();
  const secret = 'hush'.repeat(7);
  const ran = await runProgram('charon', ['serve', '--home', home, '--port', '0'], {
    env: { CHARON_OBOL_HMAC_KEY: secret },
  });
  expect([ran.code, ran.stdout]).toEqual([3, '']);
  expect(ran.stderr).toMatch(/CHARON_OBOL_HMAC_KEY: the key is shorter than 32 bytes/);
  expect(ran.stderr).not.toContain('hush');
  const served = await serveCharon(home);
  await served.stop('SIGTERM');
  const keys = join(home, 'keys.json');
  const kept = readFileSync(keys, 'utf8');
  rmSync(keys);
  expect((await runProgram('charon', ['serve', '--home', home, '--port', '0'])).stderr).toMatch(
    /keys\.json is missing/,
  );
  expect(existsSync(keys)).toBe(false);
  writeFileSync(keys, kept);
  expect((await runProgram('charon', ['ledger', 'verify', '--home', home])).code).toBe(0);
});

test('X12 an altered ledger is found, whichever door is asked', async () => {
  const { home, charon } = onHome();
  await charon('principal', 'reconcile', 'one', 'propose', 'demo');
  const db = connect(join(home, 'charon.db'), { readOnly: false, mustExist: true });
  const triggers = db
    .query<[], { name: string }>("SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'audit_entries'")
    .all();
  for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`);
  db.exec("UPDATE audit_entries SET outcome = 'altered' WHERE seq = 2");
  db.close();
  const closed = await charon('ledger', 'verify');
  expect(closed.code).toBe(1);
  expect(closed.stdout).toMatch(/^FAIL: .*2/m);
  await serveCharon(home);
  const open = await charon('ledger', 'verify', '--json');
  expect(open.code).toBe(1);
  expect(json(open)).toMatchObject({ ok: false });
});

test('X13 help teaches every verb', async () => {
  const top = await runProgram('charon', ['--help']);
  expect(top.code).toBe(0);
  for (const word of [
    'serve',
    'principal',
    'obol',
    'proposal',
    'ledger',
    'version',
    '--home',
    '--json',
    'Exit codes',
    'First steps',
  ])
    expect(top.stdout).toContain(word);
  const mint = await runProgram('charon', ['obol', 'mint', '--help']);
  expect(mint.stdout).toMatch(
    /Usage: charon obol mint[\s\S]*--expires <time>[\s\S]*7d, 12h, at most 90d, or never[\s\S]*--home/,
  );
  const lethe = await runProgram('lethe', ['memory', '--help']);
  for (const word of ['status', 'log', 'show', 'diff']) expect(lethe.stdout).toContain(word);
  const version = await runProgram('charon', ['version']);
  expect(version.stdout).toMatch(/^charon \d+\.\d+\.\d+\n$/);
  expect(JSON.parse((await runProgram('lethe', ['version', '--json'])).stdout)).toEqual({
    version: expect.any(String),
  });
});

test('X15 the ledger is followed: each entry once, in order, until it is interrupted', async () => {
  const { home, charon } = onHome();
  await serveCharon(home);
  const following = startProgram('charon', ['ledger', 'tail', '-n', '1', '--follow', '--json', '--home', home]);
  await following.until(/\n/);
  await charon('principal', 'reconcile', 'one', 'propose', 'demo');
  await charon('principal', 'reconcile', 'two', 'propose', 'demo');
  const text = await following.until(/(?:reconcile[^\n]*\n[^\n]*){4}/);
  const seqs = text
    .trim()
    .split('\n')
    .map((line) => z.object({ seq: z.int() }).parse(JSON.parse(line)).seq);
  expect(seqs).toEqual([1, 2, 3, 4, 5]);
  expect(await following.stop('SIGINT')).toBe(0);
});
