// A Chromium: the one named in CHROMIUM_PATH, else an installed one, else (for tests) one that is fetched.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { childEnv, nodePath, ROOT } from './place.mjs';
import { runQuietly } from './run.mjs';
import { formatDuration, say } from './say.mjs';

const NAMES = Object.freeze([
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'microsoft-edge',
  'msedge',
  'chrome',
]);

/** What to do when no browser can be had. */
export const NO_CHROMIUM =
  'no Chromium was found and none could be fetched. Install Chromium or Chrome, or set CHROMIUM_PATH to its program.';

/**
 * The places where a Chromium usually is, the likeliest first: the PATH, then the folders of the system.
 * @param {NodeJS.Platform} platform
 * @param {NodeJS.ProcessEnv} env
 * @returns {readonly string[]}
 */
export function chromiumCandidates(platform, env) {
  const folders = (env.PATH ?? env.Path ?? '').split(delimiter).filter(Boolean);
  const suffix = platform === 'win32' ? '.exe' : '';
  const onPath = NAMES.flatMap((name) => folders.map((folder) => join(folder, name + suffix)));
  return [...onPath, ...systemPlaces(platform, env)];
}

/**
 * @param {NodeJS.Platform} platform
 * @param {NodeJS.ProcessEnv} env
 * @returns {string[]}
 */
function systemPlaces(platform, env) {
  if (platform === 'darwin') {
    return ['Chromium', 'Google Chrome', 'Microsoft Edge'].flatMap((app) =>
      ['/Applications', join(env.HOME ?? '/', 'Applications')].map((folder) =>
        join(folder, `${app}.app`, 'Contents/MacOS', app),
      ),
    );
  }
  if (platform === 'win32') {
    const folders = [env.PROGRAMFILES, env['PROGRAMFILES(X86)'], env.LOCALAPPDATA].filter(
      (folder) => folder !== undefined,
    );
    return folders.flatMap((folder) => [
      join(folder, 'Google/Chrome/Application/chrome.exe'),
      join(folder, 'Chromium/Application/chrome.exe'),
      join(folder, 'Microsoft/Edge/Application/msedge.exe'),
    ]);
  }
  return [
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
    '/opt/google/chrome/chrome',
    '/snap/bin/chromium',
  ];
}

/**
 * A Chromium that is installed and starts.
 * @returns {string | null} its path
 * @throws {Error} when CHROMIUM_PATH names something that does not start: a wrong setting is not to be passed over
 */
export function findChromium() {
  const named = process.env.CHROMIUM_PATH;
  if (named) {
    if (starts(named)) return named;
    throw new Error(`CHROMIUM_PATH names a program that does not start: ${named}`);
  }
  const usable = (/** @type {string} */ path) => existsSync(path) && starts(path);
  const installed = chromiumCandidates(process.platform, process.env).find(usable);
  if (installed !== undefined) return installed;
  const fetched = playwrightPath();
  return fetched !== null && usable(fetched) ? fetched : null;
}

/** Whether a browser program can be run here: one without its libraries is as good as none. */
function starts(/** @type {string} */ path) {
  // On Windows `--version` opens a window; a file that is there is taken to work.
  if (process.platform === 'win32') return existsSync(path);
  return spawnSync(path, ['--version'], { timeout: 20_000, stdio: 'ignore' }).status === 0;
}

/** Where Playwright keeps its own Chromium, whether or not it has been fetched. */
function playwrightPath() {
  const require = createRequire(join(ROOT, 'package.json'));
  try {
    return /** @type {string} */ (require('@playwright/test').chromium.executablePath());
  } catch {
    return null;
  }
}

/**
 * A Chromium for the tests: found, else fetched by Playwright, else from Debian's packages when we are root there.
 * @returns {Promise<string | null>} its path; null when all of it failed, which has been said then
 */
export async function ensureChromium() {
  const found = findChromium();
  if (found !== null) return found;
  const fetched = await fetchWithPlaywright();
  if (fetched !== null) return fetched;
  if (isDebianRoot()) await installWithApt();
  const installed = findChromium();
  if (installed === null) say(NO_CHROMIUM);
  return installed;
}

async function fetchWithPlaywright() {
  const result = await runQuietly({
    title: 'fetching a Chromium for the tests',
    command: nodePath(),
    args: [join(ROOT, 'node_modules/@playwright/test/cli.js'), 'install', 'chromium'],
    cwd: ROOT,
    env: childEnv(),
    limitMs: 10 * 60_000,
  });
  if (!result.ok) {
    say('Playwright could not fetch a Chromium.');
    return null;
  }
  const path = playwrightPath();
  if (path !== null && existsSync(path) && starts(path)) {
    say(`Chromium fetched in ${formatDuration(result.durationMs)}`);
    return path;
  }
  say('the Chromium that Playwright fetched does not start here (system libraries are missing).');
  return null;
}

/** Whether this is a Debian (or a child of it) on which we may install packages. */
export function isDebianRoot() {
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || !existsSync('/etc/os-release')) return false;
  return /^ID(_LIKE)?=.*\bdebian\b/m.test(readFileSync('/etc/os-release', 'utf8'));
}

async function installWithApt() {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const step = { command: 'apt-get', cwd: ROOT, env, limitMs: 10 * 60_000 };
  await runQuietly({ ...step, title: 'reading Debian’s package lists', args: ['update'] });
  const result = await runQuietly({
    ...step,
    title: 'installing Chromium (apt-get)',
    args: ['install', '-y', 'chromium'],
  });
  say(result.ok ? `Chromium installed in ${formatDuration(result.durationMs)}` : 'apt-get could not install Chromium.');
}
