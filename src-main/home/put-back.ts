import { constants, copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Fault } from '../base/fault.ts';
import { type HomePaths, keptAsidePrefix } from './home.ts';
import { type KeysFile, readStoredKeys, writeKeysFile } from './keys-file.ts';

/** What became of keys that were put back: `kept` names the file, beside them, of those that were there before. */
export interface PutBack {
  readonly changed: boolean;
  readonly kept: string | null;
}

/**
 * Puts keys back into a home that this process holds and that is closed (H45). Keys that are there and not the same, sealed
 * or damaged ones among them, are replaced only with `replace`, and their file is kept aside under the name of the moment `nowMs`.
 * Throws KEYS_INVALID otherwise, and then nothing was changed.
 */
export function putBackKeys(
  paths: HomePaths,
  file: KeysFile,
  { replace, nowMs }: { readonly replace: boolean; readonly nowMs: number },
): PutBack {
  if (!existsSync(paths.keys)) {
    writeKeysFile(paths, file);
    return { changed: true, kept: null };
  }
  if (isDeepStrictEqual(findPlain(paths), file)) return { changed: false, kept: null };
  if (!replace)
    throw new Fault(
      'KEYS_INVALID',
      'keys.json of this home holds other keys, or sealed ones that cannot be compared. Add --replace to put these in their place; the file is kept aside.',
    );
  const kept = `${keptAsidePrefix}${new Date(nowMs).toISOString().replace(/[-:.]/g, '')}`;
  copyFileSync(paths.keys, join(paths.root, kept), constants.COPYFILE_EXCL);
  writeKeysFile(paths, file);
  return { changed: true, kept };
}

/** The keys that are there in plain; undefined for sealed and damaged ones. */
function findPlain(paths: HomePaths): KeysFile | undefined {
  try {
    const stored = readStoredKeys(paths);
    return stored?.kind === 'plain' ? stored.file : undefined;
  } catch (thrown) {
    if (thrown instanceof Fault) return undefined;
    throw thrown;
  }
}
