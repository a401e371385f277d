// Where things are in this folder, and the small records that set-up keeps inside node_modules.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findOutsideNode } from './node.mjs';
import { withPath } from './run.mjs';

/** The root of the source tree: the folder that holds package.json. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');

const RECORDS = join(ROOT, 'node_modules/.memory-git');

/**
 * Reads a record of set-up. Records live in node_modules, so that deleting that folder forgets them all.
 * @param {string} name
 * @returns {string | null} null when there is none
 */
export function readRecord(name) {
  const path = join(RECORDS, name);
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : null;
}

/**
 * @param {string} name
 * @param {string} value
 */
export function writeRecord(name, value) {
  mkdirSync(RECORDS, { recursive: true });
  writeFileSync(join(RECORDS, name), `${value}\n`);
}

/** Forgets a record; that it is not there is fine. */
export function dropRecord(/** @type {string} */ name) {
  rmSync(join(RECORDS, name), { force: true });
}

/** The path of a file that a run of the tests writes its results to. The folder exists afterwards. */
export function resultsPath(/** @type {string} */ name) {
  mkdirSync(RECORDS, { recursive: true });
  return join(RECORDS, name);
}

/** The Node that the packages bring along; it may not be in place. */
export function bundledNodePath() {
  return join(ROOT, 'node_modules/node/bin', process.platform === 'win32' ? 'node.exe' : 'node');
}

/** The Node to install with: one that does not lie in node_modules. */
export function outsideNodePath() {
  const inside = join(ROOT, 'node_modules');
  const { execPath, env, platform } = process;
  return findOutsideNode({ inside, execPath, env, platform }) ?? execPath;
}

/** The Node for children: the bundled one when it is there, else the one outside. */
export function nodePath() {
  return existsSync(bundledNodePath()) ? bundledNodePath() : outsideNodePath();
}

/** The environment for children: that Node first, then the tools of this folder, then whatever the PATH was. */
export function childEnv() {
  return withPath(process.env, [dirname(nodePath()), join(ROOT, 'node_modules/.bin')]);
}
