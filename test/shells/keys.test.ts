import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { type Ran, runProgram, serveCharon } from '../support/spawn-charon.ts';
import { tempFolder } from '../support/temp-home.ts';

// Every verb is a process of its own here, and the machine may be busy.
vi.setConfig({ testTimeout: 90_000 });

test('X22 a key is replaced only after it was said what that breaks, on closed files and through the running host', async () => {
  const home = join(tempFolder(), 'home');
  const charon = (...args: string[]): Promise<Ran> => runProgram('charon', [...args, '--home', home]);
  const made = await charon('principal', 'reconcile', 'one', 'propose', 'demo', '--json');
  const { principal } = JSON.parse(made.stdout);
  const minted = await charon('obol', 'mint', principal.principal_id);
  const token = /^Token: (\S+)$/m.exec(minted.stdout)?.[1] ?? '';
  const file = (): string => readFileSync(join(home, 'keys.json'), 'utf8');
  const first = file();

  const asked = await charon('keys', 'rotate', 'obol');
  expect([asked.code, asked.stdout]).toEqual([2, '']);
  expect(asked.stderr).toBe(
    'charon: Tokens that were minted before stay good. Add --drop-earlier to end every one of them.\ncharon: Nothing was done. Add --yes to replace it.\n',
  );
  expect(file()).toBe(first);
  const done = await charon('keys', 'rotate', 'obol', '--yes');
  expect(done.code).toBe(0);
  expect(done.stdout).toMatch(/^obol +- +keys\.json +\S+Z +1 +tokens of agents, keys of the memory ledger$/m);
  expect(done.stderr).toMatch(/in use from the next start/);
  expect((await charon('keys', 'rotate', 'owner', '--yes')).code).toBe(2);

  const served = await serveCharon(home);
  const authorization = `Bearer ${token}`;
  const call = { method: 'POST', headers: { authorization, 'content-type': 'application/json' }, body: '{}' };
  expect((await fetch(served.ready.mcp ?? '', call)).status).not.toBe(401);
  const listed = await charon('keys', 'ls', '--json');
  expect(JSON.parse(listed.stdout).keys).toHaveLength(6);
  const ended = await charon('keys', 'rotate', 'obol', '--drop-earlier', '--yes');
  expect([ended.code, ended.stderr]).toEqual([
    0,
    expect.stringMatching(/Every token and every key of the memory ledger ends/),
  ]);
  for (const [secret] of `${first}${file()}`.matchAll(/[A-Za-z0-9_-]{43}/g))
    expect(`${done.stdout}${listed.stdout}${ended.stdout}${ended.stderr}`).not.toContain(secret);
  await served.stop('SIGTERM');

  const again = await serveCharon(home);
  expect((await fetch(again.ready.mcp ?? '', call)).status).toBe(401);
  await again.stop('SIGTERM');
});
