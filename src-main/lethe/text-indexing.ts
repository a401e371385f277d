// Filling the full-text index from the history, behind the commits. All of it can be made again at any time; nothing here
// is ever the only copy of anything.

import type { ReadableDb, WritableDb } from '../sqlite/driver.ts';
import { indexTokens, type MemoryText } from './rules/segment.ts';
import {
  ensureProjectKey,
  findIndexedThrough,
  findIndexedVersion,
  findProjectKey,
  hasTokens,
  insertVersion,
  mergeSegments,
  setIndexedThrough,
} from './tables/text-index.ts';

/** One state of one memory, waiting to be indexed. */
export interface PendingVersion {
  /** Number of the op that made the state; ascends with the history over all projects. */
  readonly version: number;
  readonly projectId: string;
  /** The number that all states of the memory share. */
  readonly memory: number;
  /** The whole text of the state (of a correction, the merged one); null when the op left nothing alive to find. */
  readonly text: MemoryText | null;
}

/** Where waiting versions come from: at most `limit` of all projects above `after`, ascending, none left out. */
export type VersionSource = (after: number, limit: number) => readonly PendingVersion[];

/** Text of one batch, in UTF-16 units: about as much as can be cut and written within 50 ms. */
const batchUnitsMax = 40_000;
/** Pages of the index that a full batch, and one idle step of tidying, merges. */
const mergePagesMax = 200;

/**
 * Indexes the next versions that wait, `limit` at most (250 to 500) and less when they are long, in the transaction that
 * it is called in: a write of its own, never that of a commit. Returns true when more may be waiting.
 */
export function indexPending(db: WritableDb, source: VersionSource, limit: number): boolean {
  const pending = source(findIndexedThrough(db), limit);
  let done = 0;
  let units = 0;
  for (const { version, projectId, memory, text } of pending) {
    if (text !== null) {
      insertVersion(db, ensureProjectKey(db, projectId), { version, memory }, indexTokens(memory, text));
      units += text.content.length;
    }
    done += 1;
    if (units >= batchUnitsMax) break;
  }
  const last = pending[done - 1];
  if (last !== undefined) setIndexedThrough(db, last.version);
  const more = done < pending.length || pending.length >= limit;
  // While batches follow each other there is no idle moment: each pays for its share of the tidying.
  if (more) mergeSegments(db, mergePagesMax);
  return more;
}

/** One bounded step of keeping the index quick, for idle moments when nothing waits; true when another would do more. */
export function tidyTextIndex(db: WritableDb): boolean {
  return mergeSegments(db, mergePagesMax);
}

/** A version about which index and history disagree. */
export interface TextIndexProblem {
  readonly version: number;
  readonly problem: string;
}

/** Tokens that are asked for at once when a version is verified. */
const tokensPerQuery = 64;

/**
 * Compares a stretch of the history, as `VersionSource` gives it, with what the index holds of it: each version that can
 * be found is there, under its memory, with every one of its tokens; each that cannot is not (D12). What is not indexed
 * yet is no problem. Reads only. Asks for every token: to compare a whole index, `verifyProjectText` goes through it once.
 * @param sample which of the tokens of a version are asked for
 */
export function verifyTextIndex(
  db: ReadableDb,
  stretch: readonly PendingVersion[],
  sample: (tokens: readonly string[]) => readonly string[] = (tokens) => tokens,
): readonly TextIndexProblem[] {
  const through = findIndexedThrough(db);
  return stretch
    .filter(({ version }) => version <= through)
    .flatMap((pending) => {
      const problem = findProblem(db, pending, sample);
      return problem === undefined ? [] : [{ version: pending.version, problem }];
    });
}

/** What is wrong about the place of a version in the index, its text aside. `memory`: under which one the index has it, if it does. */
export function findPlacingProblem(
  { memory, text }: Pick<PendingVersion, 'memory' | 'text'>,
  indexed: number | undefined,
): string | undefined {
  if (text === null) return indexed === undefined ? undefined : 'is in the full-text index but leaves nothing to find';
  if (indexed === undefined) return 'is missing from the full-text index';
  return indexed === memory ? undefined : 'is in the full-text index under another memory';
}

function findProblem(
  db: ReadableDb,
  pending: PendingVersion,
  sample: (tokens: readonly string[]) => readonly string[],
): string | undefined {
  const { version, projectId, memory, text } = pending;
  const problem = findPlacingProblem(pending, findIndexedVersion(db, version)?.memory);
  if (problem !== undefined || text === null) return problem;
  const projectKey = findProjectKey(db, projectId);
  if (projectKey === undefined) return 'is in the full-text index without all of its text';
  const tokens = sample([...indexTokens(memory, text)]);
  for (let at = 0; at < tokens.length; at += tokensPerQuery) {
    if (!hasTokens(db, projectKey, version, tokens.slice(at, at + tokensPerQuery)))
      return 'is in the full-text index without all of its text';
  }
  return undefined;
}
