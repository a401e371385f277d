// `npm run setup`: installs what is missing and builds, and does nothing more.

import { say } from './lib/say.mjs';
import { SetUpError, setUp } from './lib/set-up.mjs';

try {
  const steps = await setUp({ electron: true, retryElectron: true, build: true });
  say(steps.length === 0 ? 'everything is in place.' : 'set up. `npm start` opens the app.');
} catch (error) {
  if (!(error instanceof SetUpError)) throw error;
  say(error.message);
  process.exitCode = 1;
}
