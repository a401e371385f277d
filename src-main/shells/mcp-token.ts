import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { Fault } from '../base/fault.ts';
import type { Environment } from '../home/home.ts';
import { usageFault } from './cli-program.ts';

const fileBytesMax = 4_096;
const tokenPattern = /^[A-Za-z0-9._~+/=-]{1,512}$/;

/**
 * Where a stdio client's token comes from: the file that `--token-file` names, read anew each time so that a new token
 * is used at once (B12), else `MEMORY_GIT_TOKEN`; never an argument, which every program of this machine could read (B11).
 * The returned function throws INPUT_INVALID, which repeats neither token nor path.
 */
export function tokenSource(file: string | undefined, env: Environment): () => string {
  if (file !== undefined) return () => checkToken('--token-file', readTokenFile(file));
  const token = env.MEMORY_GIT_TOKEN ?? '';
  return () => {
    if (token.trim() !== '') return checkToken('MEMORY_GIT_TOKEN', token);
    throw usageFault(
      'MEMORY_GIT_TOKEN',
      'there is no token. Set this variable in the environment that the client gives, or name a file of mode 0600 with --token-file.',
    );
  };
}

function checkToken(field: string, text: string): string {
  const token = text.trim();
  if (tokenPattern.test(token)) return token;
  throw usageFault(field, 'this is not one token. Copy the whole token, obol_…, and nothing else.');
}

function readTokenFile(path: string): string {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, 'r');
    const found = fstatSync(descriptor);
    if (!found.isFile() || found.size > fileBytesMax)
      throw usageFault('--token-file', 'this is no file with a token in it. Name a file that holds the token alone.');
    // Windows has no such modes: there the folders of a user are closed to others.
    if (process.platform !== 'win32' && (found.mode & 0o077) !== 0)
      throw usageFault(
        '--token-file',
        'others can read this file. Close it (chmod 600), and change the token if they may have.',
      );
    return readFileSync(descriptor, 'utf8');
  } catch (thrown) {
    if (thrown instanceof Fault) throw thrown;
    throw usageFault('--token-file', 'the file cannot be read. Make one of mode 0600 that holds the token alone.');
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
