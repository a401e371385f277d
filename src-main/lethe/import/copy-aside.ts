import {
  closeSync,
  constants,
  fstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statfsSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Fault } from '../../base/fault.ts';
import { foreignBounds } from '../rules/foreign-schema.ts';
import { importRefused } from './refusal.ts';

/** A copy that nobody else writes, in a folder of its own. */
export interface CopiedFile {
  /** The database file; its write-ahead log, if it had one, lies beside it. */
  readonly path: string;
  /** Removes the folder with all that is in it. */
  remove(): void;
}

const folderPrefix = 'import-';
const chunkBytes = 1_048_576;
/** What a file can grow to in this store, as a multiple of its size: ids, digests and the derived index come on top. */
const growth = 4;

/**
 * Copies a database file and its write-ahead log into a new folder (0700) in `home`, bounded in size, and only when the disk has
 * room for the copy and for what an import would add. What an import that was killed left there is removed first: whoever
 * calls holds the home. Throws IMPORT_REFUSED (no regular file, too large, in use, not closed cleanly), DISK_FULL.
 */
export async function copyAside(source: string, home: string): Promise<CopiedFile> {
  removeLeftovers(home);
  if ((lookAt(`${source}-journal`)?.bytes ?? 0) > 0)
    throw importRefused(
      'a rollback journal lies beside it: open it once with the program that wrote it, and close that',
    );
  const [main, log] = [lookAt(source), lookAt(`${source}-wal`)];
  if (main === undefined) throw importRefused('there is no such file');
  const bytes = main.bytes + (log?.bytes ?? 0);
  if (bytes > foreignBounds.fileBytesMax) throw importRefused(`it is larger than ${foreignBounds.fileBytesMax} bytes`);
  requireRoom(home, bytes);
  const folder = mkdtempSync(join(home, folderPrefix));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const path = join(folder, 'foreign.db');
    await copyFile(source, path, main.bytes);
    if (log !== undefined && log.bytes > 0) await copyFile(`${source}-wal`, `${path}-wal`, log.bytes);
    if (!isSame(lookAt(source), main) || !isSame(lookAt(`${source}-wal`), log)) throw inUse();
    return { path, remove };
  } catch (thrown) {
    remove();
    throw thrown;
  }
}

/** Removes the folders that imports of earlier processes left behind. */
function removeLeftovers(home: string): void {
  for (const entry of readdirSync(home, { withFileTypes: true })) {
    if (entry.isDirectory() && entry.name.startsWith(folderPrefix))
      rmSync(join(home, entry.name), { recursive: true, force: true });
  }
}

/** What tells a file from the one that it was, also when as many bytes of it were written in place. */
interface Look {
  readonly bytes: number;
  readonly inode: bigint;
  readonly writtenNs: bigint;
}

/** Undefined when there is no such file. Throws IMPORT_REFUSED for anything that is no regular file. */
function lookAt(path: string): Look | undefined {
  const file = openRegular(path);
  if (file === undefined) return undefined;
  try {
    const { size, ino, mtimeNs } = fstatSync(file, { bigint: true });
    return { bytes: Number(size), inode: ino, writtenNs: mtimeNs };
  } finally {
    closeSync(file);
  }
}

function isSame(now: Look | undefined, before: Look | undefined): boolean {
  return now?.bytes === before?.bytes && now?.inode === before?.inode && now?.writtenNs === before?.writtenNs;
}

/** Opens without waiting for a writer of a pipe; a folder, a pipe or a device is refused. */
function openRegular(path: string): number | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && (thrown.code === 'ENOENT' || thrown.code === 'ENOTDIR'))
      return undefined;
    throw importRefused('it cannot be read: look at its permissions');
  }
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw importRefused('it is no regular file');
}

function requireRoom(home: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(home);
  if (bavail * bsize >= bytes * (1 + growth)) return;
  throw new Fault(
    'DISK_FULL',
    'The disk of the home has no room for the copy of the file and what it would add. Nothing was written; free some space and try again.',
    { needed_bytes: bytes * (1 + growth) },
  );
}

async function copyFile(from: string, to: string, bytes: number): Promise<void> {
  const source = openRegular(from);
  if (source === undefined) throw inUse();
  try {
    const target = openSync(to, 'wx', 0o600);
    try {
      await copyBytes(source, target, bytes);
    } finally {
      closeSync(target);
    }
  } finally {
    closeSync(source);
  }
}

async function copyBytes(source: number, target: number, bytes: number): Promise<void> {
  const chunk = Buffer.alloc(chunkBytes);
  for (let done = 0; ; await setImmediate()) {
    const read = readSync(source, chunk, 0, chunkBytes, null);
    done += read;
    if (read === 0 && done === bytes) return;
    if (read === 0 || done > bytes) throw inUse();
    for (let written = 0; written < read; ) written += writeSync(target, chunk, written, read - written);
  }
}

function inUse(): Fault {
  return importRefused('it changed while it was copied: stop the program that writes it, and try again');
}
