import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  type Dirent,
  existsSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';
import { Fault } from '../base/fault.ts';
import { backupFileNames, manifestBytesMax, manifestName } from './rules/manifest.ts';

const chunkBytes = 1_048_576;

/** Makes a folder for its owner alone (0700). Throws BACKUP_REFUSED when something is there, or its parent is not. */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (thrown) {
    const isThere = thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST';
    throw refused(
      isThere
        ? 'the folder exists already. Name one that does not'
        : 'the folder cannot be made there. Make the folder that it lies in, and see that it can be written',
      thrown,
    );
  }
}

/** Makes what was written into a folder last: the names in it. */
export function syncFolder(path: string): void {
  // Windows knows no such thing for a folder.
  if (process.platform === 'win32') return;
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Makes a file last, and readable by its owner alone. */
export function sealFile(path: string): void {
  const file = openSync(path, 'r+');
  try {
    fchmodSync(file, 0o600);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Writes a new file, 0600, that lasts. */
export function writeNewFile(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    const bytes = Buffer.from(text, 'utf8');
    for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
    fsyncSync(file);
  } catch (thrown) {
    throw diskFault(thrown);
  } finally {
    closeSync(file);
  }
}

/** What a file holds. */
export interface Measured {
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * Reads a regular file to its end, others working in between; with `to`, into a new file (0600, that lasts) as well. Only the
 * first `upTo` bytes when that is given. Throws BACKUP_REFUSED for anything that is no regular file: a link is not followed.
 */
export async function readWhole(
  path: string,
  options: { readonly to?: string; readonly upTo?: number; readonly signal?: AbortSignal | undefined } = {},
): Promise<Measured> {
  const from = openRegular(path);
  const into = options.to === undefined ? undefined : openSync(options.to, 'wx', 0o600);
  try {
    const hash = createHash('sha256');
    const chunk = Buffer.alloc(chunkBytes);
    let bytes = 0;
    for (;;) {
      options.signal?.throwIfAborted();
      const wanted = Math.min(chunkBytes, (options.upTo ?? Number.POSITIVE_INFINITY) - bytes);
      const read = wanted <= 0 ? 0 : readSync(from, chunk, 0, wanted, null);
      if (read === 0) break;
      const part = chunk.subarray(0, read);
      hash.update(part);
      if (into !== undefined) for (let done = 0; done < read; ) done += writeSync(into, part, done);
      bytes += read;
      await nextTick();
    }
    if (into !== undefined) fsyncSync(into);
    return { bytes, sha256: hash.digest('hex') };
  } catch (thrown) {
    throw diskFault(thrown);
  } finally {
    closeSync(from);
    if (into !== undefined) closeSync(into);
  }
}

/** The text of a small regular file, of at most so many bytes. Throws BACKUP_REFUSED. */
export function readSmall(path: string, bytesMax: number): string {
  const file = openRegular(path);
  try {
    const { size } = fstatSync(file);
    if (size > bytesMax) throw refused('a file of it is larger than any that a backup writes');
    const bytes = Buffer.alloc(size);
    let done = 0;
    while (done < size) {
      const read = readSync(file, bytes, done, size - done, null);
      if (read === 0) break;
      done += read;
    }
    return bytes.toString('utf8', 0, done);
  } finally {
    closeSync(file);
  }
}

/** The text of the manifest in a folder. Throws BACKUP_REFUSED when that is no folder or holds no manifest. */
export function readManifestText(folder: string): string {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw refused('there is no such folder, or it is a link. Name the folder of the backup itself');
  if (!existsSync(join(folder, manifestName))) throw refused('the folder holds no manifest.json, so it is no backup');
  return readSmall(join(folder, manifestName), manifestBytesMax);
}

const known: ReadonlySet<string> = new Set([...backupFileNames, manifestName]);

/** Everything in a folder that a backup does not have: other names, and what is no regular file. */
export function findStrangers(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry: Dirent) => !known.has(entry.name) || !entry.isFile())
    .map((entry) => (known.has(entry.name) ? `${entry.name} is no ordinary file` : 'a file that no backup has'));
}

/** Removes a folder that this process made, with all that is in it. */
export function removeFolder(path: string): void {
  rmSync(path, { recursive: true, force: true });
}

/** A disk that is full says so to the owner; everything else goes on as it is. */
function diskFault(thrown: unknown): unknown {
  const isFull = thrown instanceof Error && 'code' in thrown && (thrown.code === 'ENOSPC' || thrown.code === 'EDQUOT');
  if (!isFull) return thrown;
  return new Fault(
    'DISK_FULL',
    'The disk is full. Nothing was changed; free some space and try again.',
    {},
    { cause: thrown },
  );
}

function openRegular(path: string): number {
  let file: number;
  try {
    // A pipe in its place would otherwise wait for ever.
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (thrown) {
    throw refused('a file of it is missing, is a link, or cannot be read', thrown);
  }
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw refused('something in it is no ordinary file');
}

/** What is said of a folder that is no backup, or cannot become one. */
export function refused(reason: string, cause?: unknown): Fault {
  return new Fault(
    'BACKUP_REFUSED',
    `The backup cannot be used: ${reason}. Nothing was changed.`,
    { reason },
    { cause },
  );
}
