// Type-checks every part of the tree under its own rules (the contract sees neither Node nor DOM).
// Exits 1 when any part has an error. TypeScript's own output is passed through.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const parts = [
  { config: 'tsconfig.contract.json', folder: 'src-preload/contract' },
  { config: 'tsconfig.main.json', folder: 'src-main' },
  { config: 'tsconfig.renderer.json', folder: 'src-renderer' },
  { config: 'tsconfig.test.json', folder: 'scripts' },
];

let failed = false;
for (const part of parts) {
  if (!existsSync(join(root, part.folder))) continue;
  const result = spawnSync(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), '--noEmit', '-p', part.config],
    { cwd: root, stdio: 'inherit' },
  );
  if (result.status !== 0) failed = true;
}
process.exitCode = failed ? 1 : 0;
