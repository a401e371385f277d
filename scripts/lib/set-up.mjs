// Set-up: installs and builds what is missing, says what it does, and does nothing a second time.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { gatherFacts, isBuilt } from './facts.mjs';
import { nodeVersionOf, npmCommand } from './node.mjs';
import { childEnv, dropRecord, nodePath, outsideNodePath, ROOT, writeRecord } from './place.mjs';
import { runQuietly } from './run.mjs';
import { formatDuration, say } from './say.mjs';
import { decideSteps, isNodeRecent, NODE_MIN } from './steps.mjs';

/** How long fetching Electron's binary may take. Without it there is the owner page. */
const ELECTRON_LIMIT_MS = 60_000;

/** How much of a failed program's output is shown. */
const OUTPUT_LINES_SHOWN = 40;

/** Why set-up could not go on, in words for people: what happened and what to do. */
export class SetUpError extends Error {}

/**
 * Runs the steps that are needed.
 * @param {import('./steps.mjs').Wants} wants
 * @returns {Promise<readonly import('./steps.mjs').Step[]>} the steps that ran
 * @throws {SetUpError} when a step without which nothing works has failed
 */
export async function setUp(wants) {
  if (Number(process.versions.node.split('.')[0]) < 20) {
    throw new SetUpError(`Node ${process.versions.node} is too old. Install Node 20 or later, then run this again.`);
  }
  /** @type {import('./steps.mjs').Step[]} */
  const done = [];
  const steps = decideSteps(gatherFacts(), wants);
  for (const step of steps) {
    if (step === 'install') await installPackages();
    else if (step === 'node') await installNode();
    else if (step === 'electron') await installElectron();
    else await build();
    done.push(step);
  }
  forgetBrokenNode();
  rememberInstalled();
  return done;
}

async function installPackages() {
  const npm = npmCommand({ node: outsideNodePath(), env: process.env, platform: process.platform });
  const result = await runQuietly({
    title: 'installing packages (npm ci)',
    command: npm.command,
    args: [...npm.args, 'ci', '--ignore-scripts', '--no-audit', '--no-fund'],
    cwd: ROOT,
    env: process.env,
    shell: npm.shell,
  });
  if (!result.ok) throw failure('the packages could not be installed. Check the network and the registry', result);
  say(`packages installed in ${formatDuration(result.durationMs)}`);
}

async function installNode() {
  const npm = npmCommand({ node: outsideNodePath(), env: process.env, platform: process.platform });
  const result = await runQuietly({
    title: `fetching a recent Node (this one is ${nodeVersionOf(outsideNodePath())})`,
    command: npm.command,
    args: [...npm.args, 'rebuild', 'node', '--ignore-scripts=false'],
    cwd: ROOT,
    env: process.env,
    shell: npm.shell,
  });
  const version = nodeVersionOf(nodePath());
  if (!result.ok || !isNodeRecent(version)) {
    const wanted = `${NODE_MIN.major}.${NODE_MIN.minor}`;
    throw failure(`a recent Node could not be fetched. Install Node ${wanted} or later, then run this again`, result);
  }
  say(`Node ${version} fetched in ${formatDuration(result.durationMs)}`);
}

async function installElectron() {
  const result = await runQuietly({
    title: 'fetching Electron',
    command: nodePath(),
    args: [join(ROOT, 'node_modules/electron/install.js')],
    cwd: ROOT,
    env: childEnv(),
    limitMs: ELECTRON_LIMIT_MS,
  });
  if (result.ok) {
    dropRecord('electron-failed-at-ms');
    say(`Electron fetched in ${formatDuration(result.durationMs)}`);
    return;
  }
  writeRecord('electron-failed-at-ms', String(Date.now()));
  const why = result.timedOut ? `not within ${formatDuration(ELECTRON_LIMIT_MS)}` : reasonIn(result.output);
  say(`Electron's binary could not be fetched (${why}); the owner page in a browser shows the same screens.`);
}

async function build() {
  const { sourcesDigest } = gatherFacts();
  dropRecord('built');
  const result = await runQuietly({
    title: 'building the app',
    command: nodePath(),
    args: [join(ROOT, 'node_modules/electron-vite/bin/electron-vite.js'), 'build'],
    cwd: ROOT,
    env: childEnv(),
  });
  if (!result.ok) throw failure('the app could not be built', result);
  if (!isBuilt()) throw failure('the build ended without all of its files', result);
  writeRecord('built', sourcesDigest);
  say(`built in ${formatDuration(result.durationMs)}`);
}

/** A launcher in node_modules/.bin without its program would shadow the user's own Node. */
function forgetBrokenNode() {
  if (gatherFacts().bundledNode) return;
  for (const name of ['node', 'node.cmd', 'node.ps1']) rmSync(join(ROOT, 'node_modules/.bin', name), { force: true });
}

function rememberInstalled() {
  const facts = gatherFacts();
  if (facts.installedMatches && facts.installedStamp !== facts.lockDigest) writeRecord('installed', facts.lockDigest);
}

/**
 * @param {string} what
 * @param {import('./run.mjs').StepResult} result
 */
function failure(what, result) {
  const lines = stripVTControlCharacters(result.output)
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^\s+at /.test(line));
  return new SetUpError([`${what}.`, ...lines.slice(-OUTPUT_LINES_SHOWN).map((line) => `  | ${line}`)].join('\n'));
}

/** The line of a program's output that says what went wrong, shortened to one line of at most 120 characters. */
export function reasonIn(/** @type {string} */ output) {
  const lines = output.split('\n').map((line) => line.trim());
  const line =
    lines.find((text) => /error|ENOTFOUND|refused|timed? ?out|denied|status/i.test(text)) ?? lines.find(Boolean);
  return (line ?? 'no reason given').slice(0, 120);
}
