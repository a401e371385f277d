// Type-checks every part of the tree under its own rules (the contract sees neither Node nor DOM), all at once.
// Exits 1 when any part has an error. TypeScript's own output is passed through, part by part.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const parts = [
  { config: 'tsconfig.contract.json', folder: 'src-preload/contract' },
  { config: 'tsconfig.main.json', folder: 'src-main' },
  { config: 'tsconfig.renderer.json', folder: 'src-renderer' },
  { config: 'tsconfig.test.json', folder: 'scripts' },
];

/**
 * Checks one part; what TypeScript says of it is printed in one piece when it is done.
 * @param {string} config
 * @returns {Promise<boolean>} whether it is free of errors
 */
function check(config) {
  // The parts share the cores; checkers of one part beside each other would do much of its work twice.
  const args = [join(root, 'node_modules/typescript/bin/tsc'), '--noEmit', '--singleThreaded', '-p', config];
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    child.stdout.on('data', (/** @type {Buffer} */ chunk) => {
      said += chunk.toString('utf8');
    });
    child.once('error', () => resolve(false));
    child.once('close', (code) => {
      process.stdout.write(said);
      resolve(code === 0);
    });
  });
}

const present = parts.filter((part) => existsSync(join(root, part.folder)));
const done = await Promise.all(present.map((part) => check(part.config)));
process.exitCode = done.every(Boolean) ? 0 : 1;
