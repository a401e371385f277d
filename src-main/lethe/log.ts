import { z } from 'zod';
import type { Changeset } from '../../src-preload/contract/changeset.ts';
import type { ProjectId, RefName } from '../../src-preload/contract/ids.ts';
import { logLimitMax } from '../../src-preload/contract/limits.ts';
import { assert } from '../base/assert.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import { readChangeset } from './changeset-rows.ts';
import { openSight, sees } from './projection/sight.ts';
import { getRef } from './refs.ts';
import { cursorInvalid, decodeCursor, encodeCursor } from './rules/cursor.ts';
import { findChangesetRowBySeq, findFirstParentSeq, listSeqsBefore } from './tables/changesets.ts';

/** Changesets that one page of an all-parents log looks at; a page may then be short and still have a next one. */
export const logScanMax = 2_000;

export interface LogInput {
  readonly projectId: ProjectId;
  readonly refName: RefName;
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly allParents: boolean;
}

/** Where a page begins: the pinned head, and the number that the page starts at or below. */
interface LogStart {
  readonly head: number;
  readonly from: number;
}

/**
 * History of a ref, newest first, along first parents or over everything that its head contains. The cursor pins the head
 * that the first page saw. An all-parents page looks at no more than `logScanMax` changesets and may come out short.
 * Throws REF_NOT_FOUND, PROJECT_NOT_FOUND, CURSOR_INVALID, INTEGRITY_MISMATCH.
 */
export function readLog(
  db: ReadableDb,
  input: LogInput,
): { readonly changesets: readonly Changeset[]; readonly nextCursor?: string | undefined } {
  assert(input.limit >= 1 && input.limit <= logLimitMax, 'the limit of a log is checked at the door');
  const { headSeq } = getRef(db, input.projectId, input.refName);
  const start =
    input.cursor === undefined ? { head: headSeq, from: headSeq } : readLogCursor(db, input, input.cursor, headSeq);
  const { seqs, next } = input.allParents ? walkAllParents(db, input, start) : walkFirstParents(db, input, start);
  const changesets = seqs.map((seq) => {
    const row = findChangesetRowBySeq(db, seq);
    assert(row !== undefined, 'a changeset of the index is stored');
    return readChangeset(db, row);
  });
  return next === undefined
    ? { changesets }
    : {
        changesets,
        nextCursor: encodeCursor({
          of: logName(input),
          project: input.projectId,
          ref: input.refName,
          head: start.head,
          from: next,
        }),
      };
}

/** What a cursor of a log says that it is of. */
export function logName(input: Pick<LogInput, 'allParents'>): string {
  return input.allParents ? 'log-all' : 'log';
}

/** A cursor is good as long as its head is still part of the ref, which refs never lose, and its place part of the head. */
function readLogCursor(db: ReadableDb, input: LogInput, cursor: string, headSeq: number): LogStart {
  const schema = z.strictObject({
    of: z.literal(logName(input)),
    project: z.literal<string>(input.projectId),
    ref: z.literal<string>(input.refName),
    head: z.int().min(1),
    from: z.int().min(1),
  });
  const { head, from } = decodeCursor(cursor, schema);
  if (head > headSeq || from > head) throw cursorInvalid();
  const sight = openSight(db);
  if (!sees(sight, headSeq, head)) throw cursorInvalid();
  // Over all parents each changeset is tested on the way; along first parents only the start is.
  if (!input.allParents && (findChangesetRowBySeq(db, from) === undefined || !sees(sight, head, from)))
    throw cursorInvalid();
  return { head, from };
}

interface Walk {
  readonly seqs: readonly number[];
  /** Where the next page starts. */
  readonly next?: number | undefined;
}

function walkFirstParents(db: ReadableDb, input: LogInput, start: LogStart): Walk {
  const seqs: number[] = [];
  let at: number | undefined = start.from;
  while (at !== undefined && seqs.length < input.limit) {
    seqs.push(at);
    at = findFirstParentSeq(db, at);
  }
  return { seqs, next: at };
}

function walkAllParents(db: ReadableDb, input: LogInput, start: LogStart): Walk {
  const sight = openSight(db);
  const seqs: number[] = [];
  let looked = 0;
  let last = 0;
  for (const seq of listSeqsBefore(db, input.projectId, start.from + 1, logScanMax)) {
    looked += 1;
    last = seq;
    if (!sees(sight, start.head, seq)) continue;
    if (seqs.length === input.limit) return { seqs, next: seq };
    seqs.push(seq);
  }
  return looked === logScanMax && last > 1 ? { seqs, next: last - 1 } : { seqs };
}
