import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { type Ran, runProgram, serveCharon } from '../support/spawn-charon.ts';
import { tempFolder } from '../support/temp-home.ts';

// Every verb is a process of its own here, and the machine may be busy.
vi.setConfig({ testTimeout: 180_000 });

test('R40 a backup is made and restored on closed files and through the running host, whose next start restores it', async () => {
  const folder = tempFolder();
  const home = join(folder, 'home');
  const charon = (...args: string[]): Promise<Ran> => runProgram('charon', [...args, '--home', home]);
  await charon('principal', 'reconcile', 'one', 'propose', 'demo');
  const made = await charon('backup');
  expect([made.code, made.stderr]).toEqual([0, '']);
  const [name = ''] = readdirSync(join(home, 'backups')).filter((entry) => entry !== 'ticks.json');
  expect(made.stdout).toContain(`Backup:   ${join(home, 'backups', name)}\n`);

  const served = await serveCharon(home);
  const out = join(folder, 'out');
  expect((await charon('backup', '--out', out)).code).toBe(0);
  const again = await charon('backup', '--out', out);
  expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(/the folder exists already/)]);
  const looked = await charon('backup', 'inspect', out);
  expect(looked.code).toBe(0);
  expect(looked.stdout).toMatch(/^ok {4}backup of home [0-9a-f-]{36}, made /);
  expect(looked.stdout).toMatch(/^Tokens to approve again: 0; tokens lost: 0$/m);
  const asked = await charon('restore', out);
  expect([asked.code, asked.stderr]).toEqual([2, expect.stringMatching(/Add --yes to do it without/)]);
  const waits = await charon('restore', out, '--yes');
  expect(waits.code).toBe(3);
  expect(waits.stderr).toContain(`or quit it and run: charon restore ${out} --home ${home}`);
  await served.stop('SIGTERM');

  const next = await serveCharon(home);
  const listed = await charon('backup', 'ls', '--json');
  expect(JSON.parse(listed.stdout).backups.map(({ kind }: { kind: string }) => kind)).toEqual(['safety', 'backup']);
  expect((await charon('principal', 'reconcile', 'two', 'propose', 'demo')).stderr).toMatch(/read_only/);
  await next.stop('SIGTERM');
  const lifted = await charon('restore', '--lift');
  expect([lifted.code, lifted.stdout]).toEqual([0, expect.stringMatching(/Everything agrees\.\nRecovery is lifted/)]);

  const closed = await charon('restore', name, '--yes', '--json');
  expect([closed.code, JSON.parse(closed.stdout)]).toMatchObject([0, { notes: [], safety: expect.any(String) }]);
  const empty = join(folder, 'empty');
  const moved = await runProgram('charon', ['restore', out, '--yes', '--home', empty]);
  expect([moved.code, moved.stdout]).toEqual([0, expect.stringMatching(/MAC not verifiable, key absent/)]);
});
