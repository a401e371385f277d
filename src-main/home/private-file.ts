/// <reference path="./write-file-atomic.d.ts" />
import { chmodSync, readFileSync } from 'node:fs';
import { sync as writeFileAtomic } from 'write-file-atomic';

/** Writes a file that only its owner can read (0600), whole or not at all. */
export function writePrivateFile(path: string, text: string): void {
  writeFileAtomic(path, text, { mode: 0o600 });
  chmodSync(path, 0o600);
}

/** The text of a file; undefined when there is none. Any other failure goes on as it is. */
export function readTextIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return undefined;
    throw thrown;
  }
}
