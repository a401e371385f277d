// `npm start`: sets up what is missing and runs the app. With `--headless` no window is opened; everything else
// that is given goes to the app (`--home DIR`, `--port N`).
import { join } from 'node:path';
import { electronArgs, electronPath, hasDisplay } from './lib/electron.mjs';
import { decideLaunch, parseStartArgs } from './lib/launch.mjs';
import { serveOwnerPage } from './lib/owner-page.mjs';
import { childEnv, nodePath, ROOT } from './lib/place.mjs';
import { runOpenly } from './lib/run.mjs';
import { say } from './lib/say.mjs';
import { SetUpError, setUp } from './lib/set-up.mjs';

/** A window that ends sooner than this with a failure did not come up at all (a library is missing). */
const WINDOW_FAILED_MS = 5_000;

const { headless, rest } = parseStartArgs(process.argv.slice(2));
try {
  const display = hasDisplay(process.platform, process.env);
  await setUp({ electron: !headless && display, retryElectron: false, build: true });
  process.exitCode = await launch(display);
} catch (error) {
  if (!(error instanceof SetUpError)) throw error;
  say(error.message);
  process.exitCode = 1;
}

/**
 * @param {boolean} display
 * @returns {Promise<number>} exit code
 */
async function launch(display) {
  const electron = electronPath();
  const way = decideLaunch({ headless, electron: electron !== null, display });
  if (way.kind === 'headless') {
    const args = [join(ROOT, 'out/main/charon.js'), 'serve', ...rest];
    return runOpenly({ command: nodePath(), args, cwd: ROOT, env: childEnv() });
  }
  if (way.kind === 'window' && electron !== null) return openWindow(electron);
  if (way.kind === 'page') say(way.why);
  return serveOwnerPage({ rest, browser: way.kind === 'page' && way.browser });
}

async function openWindow(/** @type {string} */ electron) {
  const isRoot = process.getuid?.() === 0;
  const args = electronArgs({ platform: process.platform, isRoot, rest });
  if (args.includes('--no-sandbox')) say('running as root: Electron starts without its sandbox.');
  const startedAt = Date.now();
  const code = await runOpenly({ command: electron, args, cwd: ROOT, env: childEnv() });
  if (code === 0 || Date.now() - startedAt > WINDOW_FAILED_MS) return code;
  say('Electron could not open its window; opening the owner page in a browser.');
  return serveOwnerPage({ rest, browser: true });
}
