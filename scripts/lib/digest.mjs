// Digests that tell whether something changed since it was last installed or built.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** What the build reads, relative to the root. */
export const BUILD_INPUTS = Object.freeze([
  'electron.vite.config.ts',
  'package-lock.json',
  'package.json',
  'resources',
  'src-main',
  'src-preload',
  'src-renderer',
  'tsconfig.base.json',
  'tsconfig.json',
]);

/**
 * SHA-256 in hex over the names and contents of files and folders, in name order. What does not exist is left out,
 * so that creating it changes the digest. Files are read whole: sources are small.
 * @param {string} root
 * @param {readonly string[]} inputs
 * @returns {string}
 */
export function digestOf(root, inputs) {
  const hash = createHash('sha256');
  for (const input of inputs) addTo(hash, root, input);
  return hash.digest('hex');
}

/**
 * @param {import('node:crypto').Hash} hash
 * @param {string} root
 * @param {string} path
 */
function addTo(hash, root, path) {
  const full = join(root, path);
  if (!existsSync(full)) return;
  if (statSync(full).isDirectory()) {
    for (const name of readdirSync(full).sort()) addTo(hash, root, `${path}/${name}`);
    return;
  }
  const content = readFileSync(full);
  hash.update(`${path}\0${content.length}\0`);
  hash.update(content);
}

/**
 * Digest of the lock file for this system: packages installed for another one do not count as installed.
 * @param {string} root
 * @returns {string}
 */
export function lockDigest(root) {
  return createHash('sha256')
    .update(`${process.platform}-${process.arch}\0`)
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
}
