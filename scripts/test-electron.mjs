// `npm run test:electron`: the desk's journey in a real Electron window, for machines that have the binary.
import { join } from 'node:path';
import { electronPath } from './lib/electron.mjs';
import { childEnv, nodePath, ROOT } from './lib/place.mjs';
import { runOpenly } from './lib/run.mjs';
import { say } from './lib/say.mjs';
import { SetUpError, setUp } from './lib/set-up.mjs';

/** Exit code for "cannot be had at the moment". */
const UNAVAILABLE = 3;

try {
  await setUp({ electron: true, retryElectron: true, build: false });
  process.exitCode = await runTests();
} catch (error) {
  if (!(error instanceof SetUpError)) throw error;
  say(error.message);
  process.exitCode = 1;
}

async function runTests() {
  const electron = electronPath();
  if (electron === null) {
    say('there is no Electron binary on this machine: nothing was tested.');
    return UNAVAILABLE;
  }
  await setUp({ electron: true, retryElectron: false, build: true });
  const cli = join(ROOT, 'node_modules/@playwright/test/cli.js');
  const env = { ...childEnv(), ELECTRON_PATH: electron };
  return runOpenly({ command: nodePath(), args: [cli, 'test', '--config', 'playwright.config.ts'], cwd: ROOT, env });
}
