// Starts one of the two command lines: the built program when it is that of the present sources, else the sources.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isBuildFresh } from './facts.mjs';
import { bundledNodePath, ROOT } from './place.mjs';
import { say } from './say.mjs';
import { isNodeRecent, NODE_MIN } from './steps.mjs';

/** Exit code for "cannot be had at the moment" (`charon.md` §8). */
const UNAVAILABLE = 3;

/**
 * Runs the program named `charon` or `lethe` with the arguments of this process. With a Node that is too old the one
 * that the packages bring along takes over; without that either, the reason is said and the exit code is 3.
 * @param {'charon' | 'lethe'} name
 */
export async function runProgram(name) {
  if (!isNodeRecent(process.versions.node)) {
    process.exitCode = runWithBundledNode(process.argv[1] ?? '', process.argv.slice(2));
    return;
  }
  if (!existsSync(join(ROOT, 'node_modules'))) {
    say(`${name} is not set up yet. Run \`npm run setup\` in the folder of Memory Git first.`);
    process.exitCode = UNAVAILABLE;
    return;
  }
  const file = isBuildFresh() ? `out/main/${name}.js` : `src-main/shells/${name}.ts`;
  process.argv[1] = join(ROOT, file);
  await import(pathToFileURL(join(ROOT, file)).href);
}

/**
 * @param {string} script
 * @param {readonly string[]} args
 * @returns {number} the exit code
 */
function runWithBundledNode(script, args) {
  if (!existsSync(bundledNodePath())) {
    const wanted = `${NODE_MIN.major}.${NODE_MIN.minor}`;
    say(`Node ${process.versions.node} is too old. Run \`npm run setup\` first, or use Node ${wanted} or later.`);
    return UNAVAILABLE;
  }
  return spawnSync(bundledNodePath(), [script, ...args], { stdio: 'inherit' }).status ?? 1;
}
