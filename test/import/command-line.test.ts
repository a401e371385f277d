import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { fillHistory, makeReferenceFile } from '../support/reference-files.ts';
import {
  fillSessions,
  openReferenceGit,
  openReferenceSessions,
  referenceHistory,
} from '../support/reference-stores.ts';
import { type Ran, runProgram, serveCharon, startProgram } from '../support/spawn-charon.ts';
import { tempFolder } from '../support/temp-home.ts';

// Every verb is a process of its own here, and the machine may be busy.
vi.setConfig({ testTimeout: 90_000 });

const gitFile = (): string => makeReferenceFile(openReferenceGit, (store) => void fillHistory(referenceHistory(store)));

function onHome() {
  const home = join(tempFolder(), 'home');
  return { home, lethe: (...args: string[]): Promise<Ran> => runProgram('lethe', [...args, '--home', home]) };
}

test('L287 the command line shows the heads, asks for a word, imports, and does it once', async () => {
  const { lethe } = onHome();
  const file = gitFile();
  const looked = await lethe('import', file, '--dry-run');
  expect([looked.code, looked.stderr]).toEqual([0, '']);
  expect(looked.stdout).toMatch(/demo +comes whole +4 +0\n/);
  expect(looked.stdout).toMatch(/demo +refs\/shared\/main +[0-9a-f-]{36} +refs\/shared\/main +protected\n?/);
  expect((await lethe('memory', 'status', 'demo')).code).toBe(1);
  const unasked = await lethe('import', file);
  expect([unasked.code, unasked.stderr]).toEqual([2, expect.stringMatching(/--yes/)]);
  const done = await lethe('import', file, '--yes', '--json');
  expect(JSON.parse(done.stdout)).toMatchObject({ nothing_new: false, projects: [{ mode: 'whole' }], proposals: [] });
  expect((await lethe('verify-chain', 'demo')).code).toBe(0);
  const again = await lethe('import', file, '--yes');
  expect([again.code, again.stdout]).toEqual([0, expect.stringMatching(/Nothing in it is new: it was imported at /)]);
});

test('L288 a file that is refused says why, and the home has nothing of it', async () => {
  const { lethe } = onHome();
  const file = join(tempFolder(), 'notes.txt');
  writeFileSync(file, 'not a database, but long enough to be looked at as one'.repeat(40));
  const refused = await lethe('import', file, '--yes', '--json');
  expect([refused.code, JSON.parse(refused.stderr).fault]).toEqual([
    1,
    expect.objectContaining({ code: 'IMPORT_REFUSED' }),
  ]);
  const missing = await lethe('import', join(tempFolder(), 'nothing.db'), '--yes');
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringMatching(/there is no such file/)]);
});

test('L284 while Memory Git runs the command line says that it must be quit', async () => {
  const { home, lethe } = onHome();
  const served = await serveCharon(home);
  const refused = await lethe('import', gitFile(), '--yes');
  expect([refused.code, refused.stderr]).toEqual([3, expect.stringMatching(/quit Memory Git/)]);
  await served.stop('SIGTERM');
});

test('L289 a home of the store alone imports too, and is still without a policy engine', async () => {
  const { home, lethe } = onHome();
  const serving = startProgram('lethe', ['serve', '--http', '127.0.0.1:0', '--home', home, '--json']);
  await serving.until(/"ready":true/);
  await serving.stop('SIGTERM');
  const file = makeReferenceFile(openReferenceSessions, (store) => fillSessions(store));
  const done = await lethe('import', file, '--yes', '--json');
  expect(JSON.parse(done.stdout)).toMatchObject({ projects: [{ project: 'project-1', mode: 'start' }] });
  expect((await lethe('verify-chain', 'project-1')).code).toBe(0);
  expect((await lethe('memory', 'status', 'project-1')).stderr).toMatch(/store alone/);
});
