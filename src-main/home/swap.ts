import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { Fault } from '../base/fault.ts';
import type { HomePaths } from './home.ts';
import { readTextIfThere, writePrivateFile } from './private-file.ts';

/** The files that a swap may bring in. */
export const swappedNames = ['lethe.db', 'charon.db', 'ledger.anchor', 'settings.json', 'restored.json'] as const;
/** What lies beside a database while it is open, or after its process died: it belongs to that very file. */
const sideNames = ['-wal', '-shm', '-journal'].flatMap((suffix) => [`lethe.db${suffix}`, `charon.db${suffix}`]);
const allNames: readonly string[] = [...sideNames, ...swappedNames];

/** Where files wait during a swap, and stay after it: what comes in, what it replaced, what was withdrawn when that came back. */
export type SwapSlot = 'incoming' | 'replaced' | 'withdrawn';

const slotSchema = z.enum(['incoming', 'replaced', 'withdrawn']);
const nameSchema = z.string().refine((name) => allNames.includes(name));
const journalSchema = z.strictObject({
  version: z.literal(1),
  id: z.string().regex(/^[0-9a-f]{8}$/),
  from: slotSchema,
  to: slotSchema,
  put: z.array(nameSchema),
});

/** A swap: the files of `put` come from one slot, and whatever of a home's data they meet goes into the other. */
export type Swap = Omit<z.infer<typeof journalSchema>, 'version'>;

/** Told before every step that a crash may separate from the next one; a test throws in it. */
export type SwapHook = (step: string) => void;

/** The folder of one restore. */
export function restoreFolder(paths: HomePaths, id: string): string {
  return join(paths.restore, id);
}

/** Where a file waits or stays. The anchor, which may be on another disk, waits beside itself there: a rename must not cross disks. */
export function slotPath(paths: HomePaths, id: string, slot: SwapSlot, name: string): string {
  if (name === 'ledger.anchor' && dirname(paths.anchor) !== paths.root) return `${paths.anchor}.${slot}-${id}`;
  return join(restoreFolder(paths, id), slot, name);
}

function journalPath(paths: HomePaths): string {
  return join(paths.root, 'restore.journal');
}

/**
 * Swaps files of a home that this process holds and whose databases are closed (`charon.md` §7). From the moment at which the
 * journal is written the swap happens, whoever dies: the next opening of the home finishes it. Nothing is deleted.
 */
export function swapFiles(paths: HomePaths, swap: Swap, hook: SwapHook = () => {}): void {
  const { id, to } = swap;
  mkdirSync(join(restoreFolder(paths, id), to), { recursive: true, mode: 0o700 });
  hook('journal');
  writePrivateFile(journalPath(paths), `${JSON.stringify({ version: 1, ...swap })}\n`);
  syncFolder(paths.root);
  carryOut(paths, swap, hook);
}

/** Whether a swap has begun that is not finished. */
export function isSwapping(paths: HomePaths): boolean {
  return existsSync(journalPath(paths));
}

/** Finishes a swap that a crash cut short; true when there was one. Before anything of the home is read. Throws HOME_INVALID. */
export function finishSwap(paths: HomePaths): boolean {
  const text = readTextIfThere(journalPath(paths));
  if (text === undefined) return false;
  carryOut(paths, parseJournal(text), () => {});
  return true;
}

function carryOut(paths: HomePaths, swap: Swap, hook: SwapHook): void {
  const { id, from, to, put } = swap;
  for (const name of allNames) {
    const [target, waiting] = [targetPath(paths, name), slotPath(paths, id, from, name)];
    const isPut = put.includes(name);
    const hasCome = isPut && !existsSync(waiting);
    if (hasCome && !existsSync(target)) throw missing(name);
    // Settings stay where none come in their place; a database's companions and the mark of a restore never do.
    const leaves = !hasCome && (isPut || name !== 'settings.json');
    if (leaves && existsSync(target)) {
      hook(`take ${name}`);
      renameSync(target, slotPath(paths, id, to, name));
    }
    if (!isPut || hasCome) continue;
    hook(`put ${name}`);
    renameSync(waiting, target);
  }
  for (const folder of [paths.root, dirname(paths.anchor), join(restoreFolder(paths, id), to)]) syncFolder(folder);
  hook('finish');
  rmSync(journalPath(paths));
  syncFolder(paths.root);
}

function targetPath(paths: HomePaths, name: string): string {
  return name === 'ledger.anchor' ? paths.anchor : join(paths.root, name);
}

/** The names of what waits in a slot, of those that a swap may bring in or that belong to them. */
export function listSlot(paths: HomePaths, id: string, slot: SwapSlot): string[] {
  return allNames.filter((name) => existsSync(slotPath(paths, id, slot, name)));
}

/** Removes what restores left behind that never came to their swap. What one replaced stays, and so does what was withdrawn for it. */
export function removeUnfinished(paths: HomePaths): void {
  if (!existsSync(paths.restore)) return;
  for (const entry of readdirSync(paths.restore, { withFileTypes: true })) {
    const folder = join(paths.restore, entry.name);
    if (entry.isDirectory() && !keepsFiles(join(folder, 'replaced')) && !keepsFiles(join(folder, 'withdrawn')))
      rmSync(folder, { recursive: true, force: true });
  }
}

function keepsFiles(folder: string): boolean {
  return existsSync(folder) && readdirSync(folder).length > 0;
}

function parseJournal(text: string): Swap {
  try {
    const { version: _version, ...swap } = journalSchema.parse(JSON.parse(text));
    return swap;
  } catch (thrown) {
    throw unreadable(thrown);
  }
}

function unreadable(cause: unknown): Fault {
  return new Fault(
    'HOME_INVALID',
    'restore.journal of this home is damaged, so a restore that was cut short cannot be finished. Put the file back as it was.',
    {},
    { cause },
  );
}

function missing(name: string): Fault {
  return new Fault(
    'HOME_INVALID',
    `A restore of this home was cut short, and ${name}, which it was bringing in, is gone. Put it back into the folder restore of the home.`,
    { name },
  );
}

function syncFolder(path: string): void {
  // Windows knows no such thing for a folder.
  if (process.platform === 'win32') return;
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
