// Which Node and which npm to use. The Node that the packages bring along lies inside node_modules and vanishes while
// packages are installed anew, so installing is always done by a Node outside of it.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, delimiter, join, sep } from 'node:path';

/**
 * The first Node that does not lie inside `inside`: the running one, the one npm itself runs on, else one from the PATH.
 * @param {{ inside: string, execPath: string, env: NodeJS.ProcessEnv, platform: NodeJS.Platform, exists?: (path: string) => boolean }} options
 * @returns {string | null} its path; null when there is no other
 */
export function findOutsideNode(options) {
  const exists = options.exists ?? existsSync;
  const isOutside = (/** @type {string} */ path) => !path.startsWith(options.inside + sep);
  if (isOutside(options.execPath)) return options.execPath;
  const npmNode = options.env.npm_node_execpath;
  if (npmNode !== undefined && isOutside(npmNode) && exists(npmNode)) return npmNode;
  const name = options.platform === 'win32' ? 'node.exe' : 'node';
  const path = options.env.PATH ?? options.env.Path ?? '';
  const candidates = path
    .split(delimiter)
    .filter((folder) => folder !== '' && !folder.includes(`${sep}node_modules${sep}`))
    .map((folder) => join(folder, name));
  return candidates.find((candidate) => isOutside(candidate) && exists(candidate)) ?? null;
}

/**
 * The version of a Node program, like `20.19.2`.
 * @param {string} path
 * @returns {string} `0.0.0` when it does not answer
 */
export function nodeVersionOf(path) {
  if (path === process.execPath) return process.versions.node;
  const result = spawnSync(path, ['--version'], { encoding: 'utf8', timeout: 10_000 });
  return result.status === 0 ? result.stdout.trim().replace(/^v/, '') : '0.0.0';
}

/**
 * How to start the npm that the user uses, without a shell where that is possible.
 * @param {{ node: string, env: NodeJS.ProcessEnv, platform: NodeJS.Platform }} options
 * @returns {{ command: string, args: readonly string[], shell: boolean }}
 */
export function npmCommand(options) {
  const cli = options.env.npm_execpath;
  if (cli !== undefined && /^npm(-cli)?\.c?js$/.test(basename(cli))) {
    return { command: options.node, args: [cli], shell: false };
  }
  // On Windows npm is a script, which only a shell can start. The arguments are our own constants.
  return options.platform === 'win32'
    ? { command: 'npm.cmd', args: [], shell: true }
    : { command: 'npm', args: [], shell: false };
}
