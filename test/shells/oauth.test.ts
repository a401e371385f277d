import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { runProgram } from '../support/spawn-charon.ts';
import { tempFolder } from '../support/temp-home.ts';

// Every verb is a process of its own here, and the machine may be busy.
vi.setConfig({ testTimeout: 90_000 });

test('X21 charon oauth turns signing in on and off and shows who asks and who is in', async () => {
  const home = join(tempFolder(), 'home');
  const charon = (...args: string[]) => runProgram('charon', [...args, '--home', home]);
  await charon('principal', 'reconcile', 'one', 'propose', 'demo');
  expect((await charon('oauth', 'on')).stdout).toBe('Signing in is on.\n');
  const listed = await charon('oauth', 'ls', '--json');
  expect(JSON.parse(listed.stdout)).toEqual({ enabled: true, requests: [], grants: [] });
  const unknown = await charon('oauth', 'refuse', '0'.repeat(16));
  expect([unknown.code, unknown.stdout]).toEqual([1, '']);
  expect(unknown.stderr).toContain('names no program that waits');
  expect((await charon('oauth', 'revoke', '0'.repeat(16))).code).toBe(1);
  expect((await charon('oauth', 'off')).stdout).toBe('Signing in is off.\n');
});
