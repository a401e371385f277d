// `npm run drill:fuzz`: every random history of test/fuzz, of which `npm test` looks at a third. Some minutes.

import { childEnv, nodePath, ROOT } from './lib/place.mjs';
import { runOpenly } from './lib/run.mjs';

process.exitCode = await runOpenly({
  command: nodePath(),
  args: ['node_modules/vitest/vitest.mjs', 'run', '--project', 'unit', 'test/fuzz'],
  cwd: ROOT,
  env: { ...childEnv(), FUZZ_WHOLE: '1' },
});
