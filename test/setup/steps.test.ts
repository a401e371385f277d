import { describe, expect, test } from 'vitest';
import { decideSteps, ELECTRON_RETRY_MS, isNodeRecent, matchesLock } from '../../scripts/lib/steps.mjs';

const inPlace = {
  nodeVersion: '20.19.2',
  bundledNode: true,
  packagesPresent: true,
  lockDigest: 'lock',
  installedStamp: 'lock',
  installedMatches: true,
  electronInstalled: true,
  electronFailedAtMs: null,
  nowMs: 1_000_000_000,
  sourcesDigest: 'sources',
  builtStamp: 'sources',
  buildPresent: true,
};
const everything = { electron: true, retryElectron: false, build: true };

describe('which steps set-up needs', () => {
  test('nothing is done a second time', () => {
    expect(decideSteps(inPlace, everything)).toEqual([]);
  });

  test('a fresh machine with Node 20 needs every step, in their order', () => {
    const fresh = {
      ...inPlace,
      packagesPresent: false,
      installedStamp: null,
      installedMatches: false,
      bundledNode: false,
      electronInstalled: false,
      builtStamp: null,
      buildPresent: false,
    };
    expect(decideSteps(fresh, everything)).toEqual(['install', 'node', 'electron', 'build']);
  });

  test('a recent Node is not replaced by the bundled one', () => {
    const fresh = { ...inPlace, nodeVersion: '22.12.0', bundledNode: false };
    expect(decideSteps(fresh, everything)).toEqual([]);
  });

  test('a changed lock file installs anew, and with it the Node and Electron that lay in the folder', () => {
    const changed = { ...inPlace, lockDigest: 'other', installedMatches: false };
    expect(decideSteps(changed, everything)).toEqual(['install', 'node', 'electron']);
  });

  test('packages that someone installed by hand from the same lock file are kept', () => {
    expect(decideSteps({ ...inPlace, installedStamp: null }, everything)).toEqual([]);
  });

  test('changed sources are built, and a stamp without its files counts for nothing', () => {
    expect(decideSteps({ ...inPlace, sourcesDigest: 'changed' }, everything)).toEqual(['build']);
    expect(decideSteps({ ...inPlace, buildPresent: false }, everything)).toEqual(['build']);
  });

  test('a failed download of Electron is not waited for again within the hour, unless asked', () => {
    const failed = { ...inPlace, electronInstalled: false, electronFailedAtMs: inPlace.nowMs - 1 };
    expect(decideSteps(failed, everything)).toEqual([]);
    expect(decideSteps(failed, { ...everything, retryElectron: true })).toEqual(['electron']);
    expect(decideSteps({ ...failed, nowMs: inPlace.nowMs + ELECTRON_RETRY_MS }, everything)).toEqual(['electron']);
  });

  test('what is not wanted is not done', () => {
    const bare = { ...inPlace, electronInstalled: false, builtStamp: null };
    expect(decideSteps(bare, { electron: false, retryElectron: false, build: false })).toEqual([]);
  });
});

test.each([
  ['20.19.2', false],
  ['22.11.9', false],
  ['22.12.0', true],
  ['23.0.0', true],
  ['24.9.0', true],
  ['nonsense', false],
])('Node %s is recent: %s', (version, expected) => {
  expect(isNodeRecent(version)).toBe(expected);
});

describe('whether the installed packages are those of the lock file', () => {
  const lock = {
    packages: {
      '': {},
      'node_modules/a': { version: '1.0.0' },
      'node_modules/b-other-system': { version: '2.0.0', optional: true },
    },
  };

  test('a package for another system may be absent', () => {
    expect(matchesLock(lock, { packages: { 'node_modules/a': { version: '1.0.0' } } })).toBe(true);
  });

  test('an absent package, another version, or nothing at all is no match', () => {
    expect(matchesLock(lock, { packages: {} })).toBe(false);
    expect(matchesLock(lock, { packages: { 'node_modules/a': { version: '1.0.1' } } })).toBe(false);
    expect(matchesLock({}, {})).toBe(false);
  });
});
