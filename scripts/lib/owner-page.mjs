// Runs the engine without a window of its own and shows the owner page in a browser.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { findChromium } from './chromium.mjs';
import { browserArgs, parseReadyLine } from './launch.mjs';
import { childEnv, nodePath, ROOT } from './place.mjs';
import { passSignalsTo } from './run.mjs';
import { say } from './say.mjs';

/**
 * Serves until the browser's window is closed or a signal comes. Without a browser the address is printed.
 * @param {{ rest: readonly string[], browser: boolean }} options
 * @returns {Promise<number>} exit code of the engine
 */
export function serveOwnerPage(options) {
  const args = [join(ROOT, 'out/main/charon.js'), 'serve', '--owner-page', '--json', ...options.rest];
  const engine = spawn(nodePath(), args, { cwd: ROOT, env: childEnv(), stdio: ['inherit', 'pipe', 'inherit'] });
  const stopPassing = passSignalsTo(engine);
  createInterface({ input: engine.stdout }).on('line', (line) => {
    const ready = parseReadyLine(line);
    if (ready === null) process.stdout.write(`${line}\n`);
    else show(ready, options.browser, () => engine.kill('SIGTERM'));
  });
  return new Promise((resolve) => {
    engine.once('error', (error) => {
      say(`the engine could not be started: ${error.message}`);
      resolve(1);
    });
    engine.once('close', (code) => {
      stopPassing();
      resolve(code ?? 0);
    });
  });
}

/**
 * @param {{ mcp: string | null, owner: string | null }} ready
 * @param {boolean} browser
 * @param {() => void} stop
 */
function show(ready, browser, stop) {
  if (ready.mcp !== null) say(`agents connect to ${ready.mcp}`);
  if (ready.owner === null) {
    say('the owner page is shut; only agents are served. Ctrl-C ends it.');
    return;
  }
  const chromium = browser ? findChromium() : null;
  if (chromium === null) printAddress(ready.owner);
  else openWindow(chromium, ready.owner, stop);
}

function printAddress(/** @type {string} */ url) {
  say('open this address in a browser within a minute (it works once). Ctrl-C ends Memory Git.');
  process.stdout.write(`${url}\n`);
}

/**
 * @param {string} chromium
 * @param {string} url
 * @param {() => void} stop
 */
function openWindow(chromium, url, stop) {
  const profile = mkdtempSync(join(tmpdir(), 'memory-git-page-'));
  const isRoot = process.getuid?.() === 0;
  if (isRoot && process.platform === 'linux') say('running as root: the browser starts without its sandbox.');
  const args = browserArgs({ url, profile, platform: process.platform, isRoot });
  const startedAt = Date.now();
  const window = spawn(chromium, args, { stdio: 'ignore' });
  say('the owner page is open in a window. Closing it ends Memory Git.');
  const closeWindow = () => window.kill();
  process.once('exit', closeWindow);
  window.once('error', () => printAddress(url));
  window.once('close', (code) => {
    process.off('exit', closeWindow);
    rmSync(profile, { recursive: true, force: true, maxRetries: 3 });
    if (code !== 0 && Date.now() - startedAt < 5_000) printAddress(url);
    else stop();
  });
}
