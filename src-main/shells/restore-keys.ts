import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { readHomeId } from '../charon/home-id.ts';
import { type Environment, type HomePaths, homeExists, homePaths, prepareHome } from '../home/home.ts';
import { lockHome } from '../home/lock.ts';
import { type PutBack, putBackKeys } from '../home/put-back.ts';
import { openRecoveryEnvelope, parseRecoveryEnvelope } from '../home/recovery.ts';
import type { AskPassphrase } from './cli-confirm.ts';
import { usageFault } from './cli-program.ts';

/** Most bytes of an export that is read. */
const exportBytesMax = 2_097_152;

/**
 * Puts the keys of an export back into a home that no process has open (H45): asks for the passphrase while it holds the
 * home. Throws INPUT_INVALID for a file that is none, HOME_LOCKED, HOME_INVALID, KEYS_INVALID.
 */
export async function restoreKeys(options: {
  readonly home: string;
  readonly env: Environment;
  readonly file: string;
  readonly replace: boolean;
  readonly ask: AskPassphrase;
}): Promise<PutBack & { readonly home_id: string }> {
  const envelope = parseRecoveryEnvelope(await readExport(options.file));
  const paths = homePaths(options.home, options.env);
  const done = await whileClosed(paths, async () => {
    const passphrase = await options.ask('Recovery passphrase: ');
    const restored = await openRecoveryEnvelope(envelope, passphrase, readHomeId(paths.charonDb));
    return () => putBackKeys(paths, restored, { replace: options.replace, nowMs: Date.now() });
  });
  return { home_id: envelope.home_id, ...done };
}

/** Holds the home while `prepare` asks and opens, and while what it gave is done; a home that is missing is made in between. */
async function whileClosed(paths: HomePaths, prepare: () => Promise<() => PutBack>): Promise<PutBack> {
  let lock = homeExists(paths) ? lockHome(paths) : undefined;
  try {
    const putBack = await prepare();
    if (lock === undefined) {
      prepareHome(paths);
      lock = lockHome(paths);
    }
    return putBack();
  } finally {
    lock?.release();
  }
}

async function readExport(file: string): Promise<string> {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isFile() === true && found.size <= exportBytesMax) return readFile(file, 'utf8');
  throw usageFault('file', 'there is no export of keys by that name. Name the file that charon keys export wrote.');
}
