import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Fault } from '../../src-main/base/fault.ts';
import { findHome, homeExists, homePaths, prepareHome } from '../../src-main/home/home.ts';
import { tempFolder, tempHome } from '../support/temp-home.ts';

const mode = (path: string): number => statSync(path).mode & 0o777;

test('H1 the flag wins over the variable, the variable over the data folder', () => {
  expect(findHome('/somewhere/flag', { MEMORY_GIT_HOME: '/somewhere/variable' })).toBe('/somewhere/flag');
  expect(findHome(undefined, { MEMORY_GIT_HOME: '/somewhere/variable' })).toBe('/somewhere/variable');
  expect(findHome(undefined, { MEMORY_GIT_HOME: ' ' })).toMatch(/memory-git/);
  expect(findHome('', { MEMORY_GIT_HOME: '/somewhere/variable' })).toBe('/somewhere/variable');
  expect(findHome(undefined, {})).toMatch(/memory-git/);
});

test('H1 the anchor may be kept on another disk', () => {
  expect(homePaths('/home-of-memory', {}).anchor).toBe('/home-of-memory/ledger.anchor');
  expect(homePaths('/home-of-memory', { CHARON_LEDGER_ANCHOR_PATH: '/other/anchor' }).anchor).toBe('/other/anchor');
});

test('H17 an anchor is named by an absolute path', () => {
  for (const named of ['anchor', './anchor', '../anchor', 'file:///anchor'])
    expect(() => homePaths('/home-of-memory', { CHARON_LEDGER_ANCHOR_PATH: named })).toThrow(
      expect.objectContaining({ code: 'HOME_INVALID', data: { variable: 'CHARON_LEDGER_ANCHOR_PATH' } }),
    );
  expect(homePaths('/home-of-memory', { CHARON_LEDGER_ANCHOR_PATH: '' }).anchor).toBe('/home-of-memory/ledger.anchor');
});

test('H2 a new home and its folders are closed to others, and so is one that was open', () => {
  const paths = tempHome();
  prepareHome(paths);
  expect([mode(paths.root), mode(paths.backups), mode(paths.logs)]).toEqual([0o700, 0o700, 0o700]);
  expect(homeExists(paths)).toBe(false);

  const open = homePaths(join(tempFolder(), 'open'), {});
  mkdirSync(open.root, { mode: 0o755 });
  prepareHome(open);
  expect(mode(open.root)).toBe(0o700);
});

test('H3 a file and a folder with other things in it are refused and left as they are', () => {
  const file = homePaths(join(tempFolder(), 'file'), {});
  writeFileSync(file.root, 'mine');
  expect(() => prepareHome(file)).toThrow(expect.objectContaining({ code: 'HOME_INVALID' }));
  expect(readFileSync(file.root, 'utf8')).toBe('mine');

  const documents = homePaths(join(tempFolder(), 'documents'), {});
  mkdirSync(documents.root, { mode: 0o755 });
  writeFileSync(join(documents.root, 'letter.txt'), 'dear');
  expect(() => prepareHome(documents)).toThrow(/already holds 1 other file/);
  expect(readdirSync(documents.root)).toEqual(['letter.txt']);
  expect(mode(documents.root)).toBe(0o755);
});

test('H3 a home below a file is refused', () => {
  const folder = tempFolder();
  writeFileSync(join(folder, 'file'), '');
  expect(() => prepareHome(homePaths(join(folder, 'file', 'home'), {}))).toThrow(Fault);
});

test('H3 a home is taken again, whatever else was put into it since, and what an interrupted write left behind', () => {
  const paths = tempHome();
  prepareHome(paths);
  writeFileSync(join(paths.root, 'keys.json.12345'), '');
  writeFileSync(paths.settings, '{}');
  prepareHome(paths);
  writeFileSync(paths.keys, '{}');
  writeFileSync(join(paths.root, 'note.txt'), 'kept');
  prepareHome(paths);
  expect(existsSync(join(paths.root, 'note.txt'))).toBe(true);
});
