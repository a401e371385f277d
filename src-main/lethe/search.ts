import { z } from 'zod';
import { type ChangesetId, changesetIdSchema, type ProjectId } from '../../src-preload/contract/ids.ts';
import { contextLimitMax } from '../../src-preload/contract/limits.ts';
import type { SearchMatch } from '../../src-preload/contract/memory.ts';
import { assert } from '../base/assert.ts';
import { sha256Hex } from '../canonical/digest.ts';
import { encodeCanonical } from '../canonical/json.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import type { TextHealth } from '../text/health.ts';
import type { SearchInput } from './api.ts';
import { openSieve } from './memory-sieve.ts';
import { openAccepted } from './projection/accepted.ts';
import { changesetIdOf } from './projection/identity.ts';
import { openSight, sees } from './projection/sight.ts';
import { findWithheld } from './projection/withheld.ts';
import { cursorInvalid, decodeCursor, encodeCursor } from './rules/cursor.ts';
import { pinnedFilter } from './rules/memory-filter.ts';
import { findPlace } from './tables/chains.ts';
import { openTextView } from './text-head.ts';
import { searchMemories } from './text-search.ts';
import { withheldMark } from './withheld.ts';

/** The head that the selector of the input stands for. */
export interface SearchHead {
  readonly projectId: ProjectId;
  /** Changeset number. */
  readonly seq: number;
  readonly changesetId: ChangesetId;
}

/** One page of a search. */
export interface SearchResult {
  readonly headChangesetId: ChangesetId;
  readonly matches: readonly SearchMatch[];
  readonly complete: boolean;
  readonly nextCursor?: string | undefined;
}

/**
 * Searches the memory of a head (`L65` to `L73`), best first, of what no conflict withholds and the filter keeps (`L210`,
 * `L213`). The cursor pins the head of the first page, which a later head of the same ref still contains, the whole question
 * and what was withheld. Throws CURSOR_INVALID.
 */
export function readSearch(
  db: ReadableDb,
  head: SearchHead,
  input: SearchInput,
  textHealth?: TextHealth | undefined,
): SearchResult {
  assert(input.limit >= 1 && input.limit <= contextLimitMax, 'the limit of a search is checked at the door');
  const start =
    input.cursor === undefined
      ? { head: head.seq, offset: 0, withheld: undefined }
      : readCursor(db, head, input, input.cursor);
  const sight = openSight(db);
  const { memories: withheld } = findWithheld(sight, sight.places.get(start.head), head.projectId);
  const mark = withheldMark(withheld);
  if (input.cursor !== undefined && start.withheld !== mark.withheld) throw cursorInvalid();
  const shown = { sight, sieve: openSieve(db, input), withheld, textHealth };
  const view = openTextView(db, { projectId: head.projectId, seq: start.head }, shown);
  const page = { query: input.query, filter: input, offset: start.offset, limit: input.limit };
  const { matches, more, complete } = searchMemories(db, view, page);
  const accepted = openAccepted(db);
  const next = {
    of: 'search',
    question: questionOf(input),
    head: start.head,
    offset: start.offset + matches.length,
    ...mark,
  };
  return {
    headChangesetId:
      start.head === head.seq ? head.changesetId : changesetIdSchema.parse(changesetIdOf(db, start.head)),
    matches: matches.map(({ state, score, why }) => ({
      memory: accepted.read(state.touch),
      score,
      why: why.map(({ token, fields }) => ({ token, fields: [...fields] })),
    })),
    complete,
    ...(more ? { nextCursor: encodeCursor(next) } : {}),
  };
}

function readCursor(
  db: ReadableDb,
  head: SearchHead,
  input: SearchInput,
  cursor: string,
): { readonly head: number; readonly offset: number; readonly withheld?: string | undefined } {
  const schema = z.strictObject({
    of: z.literal('search'),
    question: z.literal(questionOf(input)),
    head: z.int().min(1).max(head.seq),
    offset: z.int().min(1),
    withheld: z.string().optional(),
  });
  const start = decodeCursor(cursor, schema);
  const sight = openSight(db);
  if (start.head !== head.seq && !(findPlace(db, start.head) !== undefined && sees(sight, head.seq, start.head)))
    throw cursorInvalid();
  return start;
}

function questionOf(input: SearchInput): string {
  const { projectId, refName, headChangesetId, at, query } = input;
  const head = { headChangesetId: headChangesetId ?? null, at: at ?? null };
  return sha256Hex(encodeCanonical({ projectId, refName, ...head, query, filter: pinnedFilter(input) }));
}
