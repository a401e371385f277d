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
 * How a command line is started: in this process, by the Node that the packages bring along, or not at all, with the
 * reason and the remedy.
 * @param {'charon' | 'lethe'} name
 * @param {{ nodeVersion: string, bundledNode: boolean, packagesPresent: boolean, buildFresh: () => boolean }} facts
 * @returns {{ kind: 'run', file: string } | { kind: 'hand-over' } | { kind: 'refuse', why: string }}
 */
export function decideProgram(name, facts) {
  if (!isNodeRecent(facts.nodeVersion)) {
    if (facts.bundledNode) return { kind: 'hand-over' };
    const wanted = `${NODE_MIN.major}.${NODE_MIN.minor}`;
    return {
      kind: 'refuse',
      why: `Node ${facts.nodeVersion} is too old for ${name}. Run \`npm run setup\` in the folder of Memory Git, or use Node ${wanted} or later.`,
    };
  }
  if (!facts.packagesPresent) {
    return {
      kind: 'refuse',
      why: `${name} is not set up yet. Run \`npm run setup\` in the folder of Memory Git first.`,
    };
  }
  return { kind: 'run', file: facts.buildFresh() ? `out/main/${name}.js` : `src-main/shells/${name}.ts` };
}

/**
 * Runs the program named `charon` or `lethe` with the arguments of this process.
 * @param {'charon' | 'lethe'} name
 */
export async function runProgram(name) {
  const way = decideProgram(name, {
    nodeVersion: process.versions.node,
    bundledNode: existsSync(bundledNodePath()),
    packagesPresent: existsSync(join(ROOT, 'node_modules/.package-lock.json')),
    buildFresh: isBuildFresh,
  });
  if (way.kind === 'refuse') {
    say(way.why);
    process.exitCode = UNAVAILABLE;
  } else if (way.kind === 'hand-over') {
    const result = spawnSync(bundledNodePath(), process.argv.slice(1), { stdio: 'inherit' });
    process.exitCode = result.status ?? 1;
  } else {
    process.argv[1] = join(ROOT, way.file);
    await import(pathToFileURL(join(ROOT, way.file)).href);
  }
}
