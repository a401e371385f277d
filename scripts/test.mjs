// `npm test`: sets up, then type-checks, lints, builds and runs every test. Everything is run even when something
// failed before it, so that one run tells all. The last line on stdout is `N passed, N failed, N skipped`.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureChromium } from './lib/chromium.mjs';
import { add, countsOf, formatCounts, NONE } from './lib/counts.mjs';
import { childEnv, nodePath, ROOT, resultsPath } from './lib/place.mjs';
import { runOpenly } from './lib/run.mjs';
import { formatDuration, say } from './lib/say.mjs';
import { setUp } from './lib/set-up.mjs';

/** @type {string[]} */
const failures = [];
let counts = NONE;

/**
 * Runs one check of the house; a failing one counts as one failed and is named at the end.
 * @param {string} name
 * @param {string} script path of its program, relative to the root
 * @param {readonly string[]} args
 */
async function check(name, script, args) {
  const startedAt = Date.now();
  say(`${name} …`);
  const code = await runOpenly({
    command: nodePath(),
    args: [join(ROOT, script), ...args],
    cwd: ROOT,
    env: childEnv(),
  });
  if (code === 0) {
    say(`${name} passed in ${formatDuration(Date.now() - startedAt)}`);
  } else {
    failed(name);
  }
}

function failed(/** @type {string} */ name) {
  failures.push(name);
  counts = add(counts, { ...NONE, failed: 1 });
  say(`${name} FAILED`);
}

/**
 * Runs the tests of some projects of vitest.config.ts and adds their counts.
 * @param {string} name
 * @param {readonly string[]} projects
 * @param {NodeJS.ProcessEnv} env
 */
async function tests(name, projects, env) {
  const report = resultsPath(`${name}.json`);
  rmSync(report, { force: true });
  say(`${name} tests …`);
  const code = await runOpenly({
    command: nodePath(),
    args: [
      join(ROOT, 'node_modules/vitest/vitest.mjs'),
      'run',
      ...projects.flatMap((project) => ['--project', project]),
      '--passWithNoTests',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
    ],
    cwd: ROOT,
    env,
  });
  const found = countsOf(existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : null, code);
  if (found.failed > 0) failures.push(`${name} tests`);
  counts = add(counts, found);
}

/** Sets up one thing; what cannot be had counts as one failed, with its reason said. */
async function have(/** @type {string} */ name, /** @type {() => Promise<boolean>} */ get) {
  try {
    if (await get()) return true;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    say(error.message);
  }
  failed(name);
  return false;
}

const installed = await have('set-up', async () => {
  await setUp({ electron: false, retryElectron: false, build: false });
  return true;
});

if (installed) {
  // Where there is no browser it is fetched beside everything else: only the journeys need one.
  let chromium = '';
  const browser = have('a browser for the journeys', async () => {
    chromium = (await ensureChromium()) ?? '';
    return chromium !== '';
  });
  await check('type check', 'scripts/typecheck.mjs', []);
  await check('lint', 'node_modules/@biomejs/biome/bin/biome', ['check', '.', '--error-on-warnings']);
  await check('unused code', 'node_modules/knip/bin/knip.js', ['--no-progress']);
  const isBuilt = await have('build', async () => {
    await setUp({ electron: false, retryElectron: false, build: true });
    return true;
  });
  await tests('unit', ['unit', 'unit-alone', 'architecture'], childEnv());
  if ((await browser) && isBuilt) await tests('journey', ['journeys'], { ...childEnv(), CHROMIUM_PATH: chromium });
  else say('the journeys were not run: they need the build and a browser.');
}

if (failures.length > 0) say(`failed: ${failures.join(', ')}`);
process.exitCode = counts.failed > 0 ? 1 : 0;
process.stdout.write(`${formatCounts(counts)}\n`);
