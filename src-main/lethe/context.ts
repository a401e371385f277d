import { z } from 'zod';
import { type ChangesetId, type ProjectId, projectIdSchema } from '../../src-preload/contract/ids.ts';
import { contextLimitMax } from '../../src-preload/contract/limits.ts';
import { type AcceptedMemory, type MemoryContext, projectionVersion } from '../../src-preload/contract/memory.ts';
import { assert } from '../base/assert.ts';
import { sha256Hex } from '../canonical/digest.ts';
import { encodeCanonical } from '../canonical/json.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import { openTextHealth, type TextHealth } from '../text/health.ts';
import type { ContextInput } from './api.ts';
import { getChangesetRow } from './changeset-rows.ts';
import { findExcluded } from './context-excluded.ts';
import {
  type ContextBounds,
  contextBounds,
  findPage,
  firstPage,
  type PageQuestion,
  type PageStart,
} from './context-page.ts';
import { readRelationshipsOf } from './context-relationships.ts';
import { type SelectedHead, selectHead } from './head.ts';
import { openSieve } from './memory-sieve.ts';
import { openAccepted } from './projection/accepted.ts';
import { changesetIdOf } from './projection/identity.ts';
import { openSight, type Sight, sees } from './projection/sight.ts';
import { findWithheld } from './projection/withheld.ts';
import { cursorInvalid, decodeCursor, encodeCursor } from './rules/cursor.ts';
import { pinnedFilter } from './rules/memory-filter.ts';
import { seqOf } from './rules/numbers.ts';
import { findPlace, type Place } from './tables/chains.ts';
import {
  liveAmong,
  type PinnedWithheld,
  pinWithheld,
  type Withheld,
  withheldFields,
  withheldMark,
  withheldThen,
} from './withheld.ts';

/** How a context is read where it is not read as of today. */
export interface ContextOptions {
  readonly bounds?: Partial<ContextBounds> | undefined;
  readonly textHealth?: TextHealth | undefined;
  /** What a manifest pinned of conflicts, in the place of today's (`lethe.md` §0.6). */
  readonly pinned?: { readonly conflictIds: readonly string[]; readonly withheld: PinnedWithheld } | undefined;
}

/** A context, and a way to read, in the same transaction, all that conflicts withheld from it: a manifest pins both. */
export interface ContextReading {
  readonly context: MemoryContext;
  readWithheld(): PinnedWithheld;
}

const byRecency = 'most recent active accepted memory';

/**
 * The accepted memory at a head (`memory-context/v1`, `lethe.md` §5.8 to §5.12 with D18, D22): what matches the query, best
 * first, then the most recently touched, one page of it; with `excluded`, what that first page leaves out. Cost follows the
 * page (`L101`): nothing walks the history. The cursor pins head, question, order and what is withheld. Throws what
 * `selectHead` throws, and CURSOR_INVALID.
 */
export function readContext(db: ReadableDb, input: ContextInput, options: ContextOptions = {}): MemoryContext {
  return readContextWhole(db, input, options).context;
}

/** The same, with everything that a manifest pins beside the reply. */
export function readContextWhole(db: ReadableDb, input: ContextInput, options: ContextOptions = {}): ContextReading {
  assert(input.limit >= 1 && input.limit <= contextLimitMax, 'the limit of a context is checked at the door');
  const sight = openSight(db);
  const selected = selectHead(db, input, sight);
  const at = input.cursor === undefined ? firstAt(selected) : readCursor(sight, selected, input, input.cursor);
  const head = sight.places.get(at.head);
  const withheld = findWithheldAt(db, sight, head, selected.projectId, options);
  const mark = withheldMark(withheld.memories);
  if (input.cursor !== undefined && at.withheld !== mark.withheld) throw cursorInvalid();
  const question = openQuestion(db, sight, head, input, withheld, options);
  const answer = input.excluded === true ? answerExcluded(question, at.below) : answerPage(question, at);
  const nextCursor = answer.next && encodeCursor({ ...cursorHead(input), head: at.head, ...answer.next, ...mark });
  const told = withheldFields(question.accepted, withheld);
  return {
    context: {
      project_id: input.projectId,
      ref_name: input.refName,
      head_changeset_id: at.head === selected.seq ? selected.changesetId : changesetIdOf(db, at.head),
      projection_version: projectionVersion,
      total_active: question.total,
      ...answer.fields,
      ...told,
      ...(answer.excluded === undefined ? {} : { exclusion_reasons: answer.excluded }),
      ...(nextCursor === undefined ? {} : { next_cursor: nextCursor }),
    },
    readWithheld: () => pinWithheld(question.accepted, withheld),
  };
}

/** Number of active memories at a changeset that no conflict withholds, without a count. Throws CHANGESET_NOT_FOUND. */
export function readTotalActive(db: ReadableDb, changesetId: ChangesetId): number {
  const row = getChangesetRow(db, changesetId, 'changeset_id');
  const sight = openSight(db);
  const head = sight.places.get(row.seq);
  return head.active - findWithheldAt(db, sight, head, projectIdSchema.parse(row.project_id), {}).memories.size;
}

function findWithheldAt(
  db: ReadableDb,
  sight: Sight,
  head: Place,
  projectId: ProjectId,
  { pinned }: ContextOptions,
): Withheld {
  const { conflictIds, memories } =
    pinned === undefined
      ? findWithheld(sight, head, projectId)
      : withheldThen(db, projectId, pinned.conflictIds, pinned.withheld);
  return { conflictIds, memories: liveAmong(sight, head, memories) };
}

function openQuestion(
  db: ReadableDb,
  sight: Sight,
  head: Place,
  input: ContextInput,
  { memories }: Withheld,
  { bounds, textHealth = openTextHealth() }: ContextOptions,
): PageQuestion {
  return {
    ...{ db, sight, head, projectId: input.projectId, query: input.query ?? '', limit: input.limit },
    bounds: { ...contextBounds, ...bounds },
    ...{ filter: input, sieve: openSieve(db, input), withheld: memories, total: head.active - memories.size },
    ...{ accepted: openAccepted(db), textHealth },
  };
}

/** What a reply says of its own, and where the next one starts when there is one. */
interface Answer {
  readonly fields: Pick<MemoryContext, 'memories' | 'relationships' | 'inclusion_reasons'>;
  readonly excluded?: Record<string, string>;
  readonly next: Readonly<Record<string, number>> | undefined;
}

function answerPage(question: PageQuestion, start: PageStart): Answer {
  const { sight, head, accepted, withheld } = question;
  const { touches, scores, next } = findPage(question, start);
  const memories = accepted.readAll(touches);
  const numbers = touches.map(({ memory }) => memory);
  return {
    fields: {
      memories: [...memories],
      ...readRelationshipsOf(sight, head, accepted, numbers, withheld),
      ...(memories.length === 0 ? {} : { inclusion_reasons: reasonsOf(memories, scores) }),
    },
    next: next === undefined ? undefined : { matched: next.matched, after: next.after, shown: next.shown },
  };
}

/** What the first page of the question leaves out, from an op on backwards. */
function answerExcluded(question: PageQuestion, below: number): Answer {
  const shown = new Set(findPage(question, firstPage).touches.map(({ memory }) => memory));
  const { reasons, next } = findExcluded(question, shown, below);
  return {
    fields: { memories: [] },
    excluded: Object.fromEntries(reasons),
    next: next === undefined ? undefined : { below: next },
  };
}

/** Why each memory is on the page: the first ones match the query, the others are recent. */
function reasonsOf(memories: readonly AcceptedMemory[], scores: readonly number[]): Record<string, string> {
  return Object.fromEntries(
    memories.map(({ memory_id: memoryId }, index) => {
      const score = scores[index];
      return [memoryId, score === undefined ? byRecency : `query relevance score ${score}`];
    }),
  );
}

/** Where a reply goes on: a page, or, of what is left out, below an op. */
interface At extends PageStart {
  readonly head: number;
  readonly below: number;
  readonly withheld?: string | undefined;
}

function firstAt({ seq }: SelectedHead): At {
  return { ...firstPage, head: seq, below: Number.MAX_SAFE_INTEGER };
}

function cursorHead(input: ContextInput) {
  return { of: input.excluded === true ? 'excluded' : 'context', question: questionOf(input) };
}

/** A cursor goes with the head that it pins: the one asked for, or an earlier one of the ref when none was asked for. */
function readCursor(sight: Sight, selected: SelectedHead, input: ContextInput, cursor: string): At {
  const { of, question } = cursorHead(input);
  const pinned = {
    of: z.literal(of),
    question: z.literal(question),
    head: z.int().min(1).max(selected.seq),
    withheld: z.string().optional(),
  };
  const number = z.int().min(0);
  const at =
    of === 'excluded'
      ? { ...firstAt(selected), ...decodeCursor(cursor, z.strictObject({ ...pinned, below: z.int().min(1) })) }
      : {
          ...firstAt(selected),
          ...decodeCursor(cursor, z.strictObject({ ...pinned, matched: number, after: number, shown: number })),
        };
  const known = (seq: number, from: number): boolean =>
    findPlace(sight.db, seq) !== undefined && sees(sight, from, seq);
  const named = input.headChangesetId !== undefined || input.at !== undefined;
  const headHolds = named ? at.head === selected.seq : known(at.head, selected.seq);
  if (!headHolds || (at.after !== 0 && !known(seqOf(at.after), at.head))) throw cursorInvalid();
  return at;
}

/** What a cursor is good for beside its head. The head is apart, so that a manifest, which names it, can use the cursor. */
function questionOf(input: ContextInput): string {
  const { projectId, refName, query = '', kinds = [], tags = [], excluded = false, limit } = input;
  const { kinds: _, tags: __, ...filter } = pinnedFilter(input);
  const asked = { projectId, refName, query, kinds, tags, ...filter, ...(excluded ? { excluded, limit } : {}) };
  return sha256Hex(encodeCanonical(asked));
}
