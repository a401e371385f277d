import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { RestoreStatus } from '../../src-preload/contract/commands/backup.ts';
import { digestSchema, timestampSchema } from '../../src-preload/contract/ids.ts';
import { toFault } from '../base/fault.ts';
import type { HomePaths } from '../home/home.ts';
import { readTextIfThere, writePrivateFile } from '../home/private-file.ts';
import type { RestoredMark } from '../home/restored-mark.ts';
import { readManifestText, refused } from './folder.ts';
import { putBack, restoreBackup } from './restore.ts';
import { manifestDigest, parseManifest } from './rules/manifest.ts';
import type { BackupTools } from './tools.ts';

const nextSchema = z.strictObject({
  version: z.literal(1),
  act: z.enum(['restore', 'put_back']),
  directory: z.string().nullable(),
  /** The backup that was verified: another one in its place is not restored. */
  manifest_digest: digestSchema.nullable(),
  asked_at: timestampSchema,
});
/** What the owner has had verified and asked for, which needs the databases closed: the next start does it. */
export type NextAct = z.infer<typeof nextSchema>;

const problemSchema = z.strictObject({ message: z.string() });

const nextPath = (paths: HomePaths): string => join(paths.restore, 'next.json');
const problemPath = (paths: HomePaths): string => join(paths.restore, 'problem.json');

/** What waits for the next start. One that cannot be read is none. */
export function findNext(paths: HomePaths): NextAct | undefined {
  return nextSchema.safeParse(jsonOf(nextPath(paths))).data;
}

/** Has the next start do it, in the place of whatever waited before. */
export function setNext(paths: HomePaths, next: Omit<NextAct, 'version'>): void {
  if (!existsSync(paths.restore)) mkdirSync(paths.restore, { mode: 0o700 });
  rmSync(problemPath(paths), { force: true });
  writePrivateFile(nextPath(paths), `${JSON.stringify({ version: 1, ...next })}\n`);
}

/** Takes back what waits; false when nothing did. */
export function withdrawNext(paths: HomePaths): boolean {
  const isWaiting = findNext(paths) !== undefined;
  rmSync(nextPath(paths), { force: true });
  return isWaiting;
}

/** What waits, whether the home was restored, and why what waited was not done. */
export function restoreStatus(paths: HomePaths, restored: RestoredMark | undefined): RestoreStatus {
  const next = findNext(paths);
  const problem = problemSchema.safeParse(jsonOf(problemPath(paths))).data;
  return {
    waiting: next === undefined ? null : { act: next.act, directory: next.directory, asked_at: next.asked_at },
    restored: restored === undefined ? null : shown(restored),
    problem: problem?.message ?? null,
  };
}

function shown({ version: _version, id: _id, ...mark }: RestoredMark): NonNullable<RestoreStatus['restored']> {
  return mark;
}

/**
 * Does what waited, in a home that this process holds and whose databases are closed; the home is to be opened anew then. True when
 * something waited. What fails is told to the log and kept for the owner to see, is not tried again, and the home stays as it was.
 */
export async function carryOutNext(tools: BackupTools, restored: RestoredMark | undefined): Promise<boolean> {
  const { paths, log } = tools;
  const next = findNext(paths);
  if (next === undefined) return false;
  withdrawNext(paths);
  try {
    if (next.act === 'put_back') putBack(paths, restored);
    else await restoreAsVerified(tools, next);
    log.info({ act: next.act }, 'what waited for this start was done: the home is another one now');
  } catch (thrown) {
    log.error({ err: thrown, act: next.act }, 'what waited for this start was not done: the home is as it was');
    writePrivateFile(problemPath(paths), `${JSON.stringify({ message: toFault(thrown).message })}\n`);
  }
  return true;
}

async function restoreAsVerified(tools: BackupTools, { directory, manifest_digest: digest }: NextAct): Promise<void> {
  if (directory === null) return;
  const parsed = parseManifest(readManifestText(directory));
  const found = parsed.kind === 'manifest' ? manifestDigest(parsed.manifest) : '';
  if (found !== digest) throw refused('it is not the one that was verified when the restore was asked for');
  await restoreBackup(tools, { directory });
}

function jsonOf(path: string): unknown {
  try {
    return JSON.parse(readTextIfThere(path) ?? 'null');
  } catch {
    return undefined;
  }
}
