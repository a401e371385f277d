// Gathers what set-up needs to know before it decides anything. Reads only.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUILD_INPUTS, digestOf, lockDigest } from './digest.mjs';
import { electronPath } from './electron.mjs';
import { nodeVersionOf } from './node.mjs';
import { bundledNodePath, outsideNodePath, ROOT, readRecord } from './place.mjs';
import { matchesLock } from './steps.mjs';

/** The files without which a build is not one. */
export const BUILT_FILES = Object.freeze([
  'out/main/index.js',
  'out/main/engine.js',
  'out/main/charon.js',
  'out/main/lethe.js',
  'out/preload/bridge.cjs',
  'out/renderer/index.html',
]);

/** @returns {import('./steps.mjs').Facts} */
export function gatherFacts() {
  const installedList = join(ROOT, 'node_modules/.package-lock.json');
  const packagesPresent = existsSync(installedList);
  const failedAt = readRecord('electron-failed-at-ms');
  return {
    nodeVersion: nodeVersionOf(outsideNodePath()),
    bundledNode: existsSync(bundledNodePath()),
    packagesPresent,
    lockDigest: lockDigest(ROOT),
    installedStamp: readRecord('installed'),
    installedMatches:
      packagesPresent && matchesLock(readJson(join(ROOT, 'package-lock.json')), readJson(installedList)),
    electronInstalled: electronPath() !== null,
    electronFailedAtMs: failedAt === null ? null : Number(failedAt),
    nowMs: Date.now(),
    sourcesDigest: digestOf(ROOT, BUILD_INPUTS),
    builtStamp: readRecord('built'),
    buildPresent: isBuilt(),
  };
}

/** Whether every built file is there. */
export function isBuilt() {
  return BUILT_FILES.every((file) => existsSync(join(ROOT, file)));
}

/** Whether the built programs are those of the present sources, so that they may be run in their stead. */
export function isBuildFresh() {
  return isBuilt() && readRecord('built') === digestOf(ROOT, BUILD_INPUTS);
}

function readJson(/** @type {string} */ path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}
