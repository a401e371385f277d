import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { openApp } from '../../src-main/app.ts';
import { systemClock } from '../../src-main/base/clock.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import type { Log } from '../../src-main/base/log.ts';
import { isReadOnlyMedium } from '../../src-main/home/read-only-medium.ts';
import { tempFolder, tempHome } from '../support/temp-home.ts';

/**
 * Lets nobody write in a folder: by its mode, or for root, whom modes do not hold, by mounting it read-only over itself.
 * False where root may not mount, as in most containers.
 */
function forbidWriting(folder: string): boolean {
  if (process.getuid?.() !== 0) {
    chmodSync(folder, 0o500);
    onTestFinished(() => chmodSync(folder, 0o700));
    return true;
  }
  try {
    execFileSync('mount', ['--bind', folder, folder], { stdio: 'ignore' });
  } catch {
    return false;
  }
  onTestFinished(() => void execFileSync('umount', [folder]));
  execFileSync('mount', ['-o', 'remount,ro,bind', folder]);
  return true;
}

/** Every file with its bytes and the moment of its last change. */
function treeOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => `${file} ${statSync(file).mtimeMs} ${readFileSync(file).toString('base64')}`)
    .toSorted();
}

function linesOf(): { readonly log: Log; readonly lines: () => readonly Record<string, unknown>[] } {
  const texts: string[] = [];
  const into = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      texts.push(chunk.toString());
      done();
    },
  });
  return { log: pino({ level: 'warn', base: null }, into), lines: () => texts.map((text) => JSON.parse(text)) };
}

const readingCopies = () => readdirSync(tmpdir()).filter((name) => name.startsWith('memory-git-reading-'));

test('H50 H51 H52 in recovery a home on a read-only medium is read, nothing of it is touched, and the audit goes to the log', async () => {
  const { root: home } = tempHome();
  const { log, lines } = linesOf();
  const common = { home, doors: null, version: '0.0.0', clock: systemClock, ids: systemIds(), log };
  const app = await openApp({ ...common, env: {} });
  const owner = app.ownerCaller('window');
  await app.commands.call('memory.repo_init', { project: 'demo' }, owner);
  await app.close();
  expect(isReadOnlyMedium(home, systemIds())).toBe(false);
  if (!forbidWriting(home)) {
    // What is left to be shown there: a place of the system that takes no file from anybody is known as one.
    expect(isReadOnlyMedium('/sys', systemIds())).toBe(true);
    return;
  }
  expect(isReadOnlyMedium(home, systemIds())).toBe(true);
  const before = treeOf(home);
  const copies = readingCopies();
  // A folder that is the owner's own is opened up by a normal start; a medium is not.
  if (process.getuid?.() === 0)
    await expect(openApp({ ...common, env: {} })).rejects.toMatchObject({ code: 'HOME_INVALID' });

  const anchor = join(tempFolder(), 'anchor');
  copyFileSync(join(home, 'ledger.anchor'), anchor);
  const anchored = readFileSync(anchor);
  const left = join(tmpdir(), 'memory-git-reading-999999999-left');
  mkdirSync(left);
  const env = { CHARON_RECOVERY_READONLY: '1', CHARON_LEDGER_ANCHOR_PATH: anchor };
  const reading = await openApp({ ...common, env });
  expect(existsSync(left)).toBe(false);
  const reader = reading.ownerCaller('window');
  expect((await reading.commands.call('project.list', {}, reader)).projects).toHaveLength(1);
  expect((await reading.commands.call('store.verify_chain', { project: 'demo' }, reader)).ok).toBe(true);
  expect((await reading.commands.call('audit.verify', {}, reader)).ok).toBe(true);
  expect((await reading.commands.call('engine.reconcile', {}, reader)).ok).toBe(true);
  const refused = reading.commands.call('memory.repo_init', { project: 'other' }, reader);
  await expect(refused).rejects.toMatchObject({ code: 'READ_ONLY' });
  const lifted = reading.commands.call('restore.lift', {}, reader);
  await expect(lifted).rejects.toMatchObject({ code: 'READ_ONLY' });
  await reading.close();

  const told = lines().flatMap((line) => (line.msg === 'audit' ? [line.audit] : []));
  expect(told).toContainEqual(expect.objectContaining({ command: 'memory.repo_init', outcome: 'read_only READ_ONLY' }));
  expect(lines().filter(({ msg }) => String(msg).startsWith('The place of this home'))).toHaveLength(1);
  expect(readFileSync(anchor).equals(anchored)).toBe(true);
  expect(treeOf(home)).toEqual(before);
  expect(readingCopies()).toEqual(copies);
});

test('H52 a restore that was cut short is not finished where nothing can be written', async () => {
  const { root: home } = tempHome();
  const common = { home, doors: null, version: '0.0.0', clock: systemClock, ids: systemIds(), log: linesOf().log };
  await (await openApp({ ...common, env: {} })).close();
  writeFileSync(join(home, 'restore.journal'), '{}');
  const isForbidden = forbidWriting(home);
  const opening = openApp({ ...common, env: { LETHE_RECOVERY_READONLY: '1' } });
  if (!isForbidden) return await expect(opening).rejects.toMatchObject({ code: 'HOME_INVALID' });
  await expect(opening).rejects.toMatchObject({ code: 'HOME_INVALID', message: expect.stringMatching(/cut short/) });
});
