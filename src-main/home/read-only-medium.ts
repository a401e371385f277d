import { chmodSync, closeSync, copyFileSync, existsSync, mkdtempSync, openSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { Fault } from '../base/fault.ts';
import type { Ids } from '../base/ids.ts';
import type { HomePaths } from './home.ts';
import { isSwapping } from './swap.ts';

/** A private copy of a home to work on, where the home's own place takes no writing. */
export interface ReadingCopy {
  readonly root: string;
  /** Removes the copy. Once is enough. */
  remove(): void;
}

const refusals: ReadonlySet<string> = new Set(['EROFS', 'EACCES', 'EPERM']);
const errorSchema = z.object({ code: z.string() });

/** Whether an error says that a place takes no writing. */
export function isWriteRefusal(thrown: unknown): boolean {
  return refusals.has(errorSchema.safeParse(thrown).data?.code ?? '');
}

/** Whether a folder takes no new file: by trying, since neither mount options nor modes tell (H50). */
export function isReadOnlyMedium(folder: string, ids: Ids): boolean {
  const probe = join(folder, `.writable-${ids.randomBytes(8).toString('hex')}`);
  try {
    closeSync(openSync(probe, 'wx', 0o600));
  } catch (thrown) {
    return isWriteRefusal(thrown);
  }
  rmSync(probe, { force: true });
  return false;
}

/**
 * Copies what a home needs to be read into a folder of this user's own, 0700 (H51): a database in write-ahead mode cannot be
 * opened where its index file cannot be made, and the record of what is asked for must stand somewhere. The anchor is copied
 * too, wherever it is kept: what is recorded in the copy is no part of the home's own ledger. Backups, logs and what a restore
 * put aside stay where they are. Throws HOME_INVALID for a restore that was cut short and cannot be finished there, and
 * where the copy cannot be made.
 */
export function openReadingCopy(paths: HomePaths): ReadingCopy {
  if (isSwapping(paths))
    throw new Fault(
      'HOME_INVALID',
      'A restore of this home was cut short, and its place takes no writing, so it cannot be finished here. Copy the home to a disk that can be written.',
    );
  removeLeftCopies();
  const root = mkdtempSync(join(tmpdir(), `${copyName}${process.pid}-`));
  const databases = [paths.letheDb, paths.charonDb].flatMap((file) => [file, `${file}-wal`]);
  const inHome = [...databases, paths.keys, paths.ownerKey, paths.settings, paths.restored, paths.anchor];
  const remove = removing(root);
  try {
    for (const file of inHome.filter((one) => existsSync(one))) {
      const copy = join(root, file === paths.anchor ? 'ledger.anchor' : basename(file));
      copyFileSync(file, copy);
      chmodSync(copy, 0o600);
    }
  } catch (thrown) {
    remove();
    throw new Fault(
      'HOME_INVALID',
      'The place of this home takes no writing, and it could not be copied to the temporary folder to be read there. Make room, name another folder with TMPDIR, or see that its files can be read.',
      {},
      { cause: thrown },
    );
  }
  return { root, remove };
}

const copyName = 'memory-git-reading-';
const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The way to remove a copy, which is also taken when the process ends, by itself or by a signal that nothing else handles. */
function removing(root: string): () => void {
  const remove = (): void => {
    process.off('exit', remove);
    for (const signal of endings) process.off(signal, onSignal);
    rmSync(root, { recursive: true, force: true });
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    // Whoever else handles it ends in order, and removes the copy on the way.
    if (process.listenerCount(signal) > 1) return;
    remove();
    process.kill(process.pid, signal);
  };
  process.once('exit', remove);
  for (const signal of endings) process.on(signal, onSignal);
  return remove;
}

/** Copies hold keys: those of processes that were killed are removed by the next one that makes one. */
function removeLeftCopies(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = Number(/^memory-git-reading-(\d+)-/.exec(name)?.[1] ?? Number.NaN);
    if (Number.isNaN(pid) || isAlive(pid)) continue;
    try {
      rmSync(join(tmpdir(), name), { recursive: true, force: true });
    } catch (thrown) {
      // Another user's, in a folder that all share.
      if (!isWriteRefusal(thrown)) throw thrown;
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return errorSchema.safeParse(thrown).data?.code !== 'ESRCH';
  }
}
