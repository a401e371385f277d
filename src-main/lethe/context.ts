import { z } from 'zod';
import type { ChangesetId } from '../../src-preload/contract/ids.ts';
import { contextLimitMax } from '../../src-preload/contract/limits.ts';
import { type AcceptedMemory, type MemoryContext, projectionVersion } from '../../src-preload/contract/memory.ts';
import { assert } from '../base/assert.ts';
import { sha256Hex } from '../canonical/digest.ts';
import { encodeCanonical } from '../canonical/json.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import type { ContextInput } from './api.ts';
import { getChangesetRow } from './changeset-rows.ts';
import { readRelationshipsOf } from './context-relationships.ts';
import { type SelectedHead, selectHead } from './head.ts';
import { type AcceptedReader, openAccepted } from './projection/accepted.ts';
import { changesetIdOf } from './projection/identity.ts';
import { compareWays, findWay, type Turn } from './projection/line.ts';
import { walkRecency } from './projection/recency.ts';
import { openSight, type Sight, sees } from './projection/sight.ts';
import { cursorInvalid, decodeCursor, encodeCursor } from './rules/cursor.ts';
import { seqOf } from './rules/numbers.ts';
import { readVersion } from './rules/overlay.ts';
import { passesFilter, type TextFilter } from './rules/relevance.ts';
import { memoryText } from './rules/segment.ts';
import { findPlace, type Place } from './tables/chains.ts';
import type { Touch } from './tables/touches.ts';
import { openTextView } from './text-head.ts';
import { matchContext } from './text-search.ts';

/** Bounds of one page. A page that spends one ends there: it may be short and still have a next one. */
export interface ContextBounds {
  /** Touches that are looked at for the order of recency. */
  readonly scanMax: number;
  /** Memories whose text is read for the filter, or that are shown. */
  readonly readMax: number;
}

export const contextBounds: ContextBounds = { scanMax: 4_096, readMax: 1_024 };

/** Where a page starts: in the matches of the query, then after an op in the order of recency. */
interface Start {
  readonly head: number;
  /** Matches shown before. */
  readonly matched: number;
  /** Op number after which the walk goes on; 0 before its start. */
  readonly after: number;
  /** Memories shown before. */
  readonly shown: number;
}

/** One page of the answer, and where the next one starts when there is one. */
interface Page {
  /** The newest touch of each memory to show. */
  readonly touches: readonly Touch[];
  /** Of the first ones, which match the query, how well they do. */
  readonly scores: readonly number[];
  readonly next: Start | undefined;
}

interface Question {
  readonly db: ReadableDb;
  readonly sight: Sight;
  readonly head: Place;
  readonly filter: TextFilter;
  readonly limit: number;
  readonly bounds: ContextBounds;
  readonly accepted: AcceptedReader;
}

const byRecency = 'most recent active accepted memory';

/**
 * The accepted memory at a head (`memory-context/v1`, `lethe.md` §5.9 to §5.12 with D22): what matches the query, best first,
 * then the most recently touched, one page of it. Cost follows the page (`L101`): nothing walks the history. The cursor
 * pins head, question and order. Throws what `selectHead` throws, and CURSOR_INVALID.
 */
export function readContext(db: ReadableDb, input: ContextInput, bounds: ContextBounds = contextBounds): MemoryContext {
  assert(input.limit >= 1 && input.limit <= contextLimitMax, 'the limit of a context is checked at the door');
  const sight = openSight(db);
  const selected = selectHead(db, input, sight);
  const start =
    input.cursor === undefined
      ? { head: selected.seq, matched: 0, after: 0, shown: 0 }
      : readCursor(sight, selected, input, input.cursor);
  const head = sight.places.get(start.head);
  const question: Question = {
    db,
    sight,
    head,
    filter: { kinds: input.kinds, tags: input.tags },
    limit: input.limit,
    bounds,
    accepted: openAccepted(db),
  };
  const page = findPage(question, selected, input.query ?? '', start);
  const memories = question.accepted.readAll(page.touches);
  return {
    project_id: input.projectId,
    ref_name: input.refName,
    head_changeset_id: start.head === selected.seq ? selected.changesetId : changesetIdOf(db, start.head),
    projection_version: projectionVersion,
    total_active: head.active,
    memories: [...memories],
    ...readRelationshipsOf(
      sight,
      head,
      question.accepted,
      page.touches.map(({ memory }) => memory),
    ),
    ...(memories.length === 0 ? {} : { inclusion_reasons: reasonsOf(memories, page.scores) }),
    ...(page.next === undefined
      ? {}
      : { next_cursor: encodeCursor({ of: 'context', question: questionOf(input), ...page.next }) }),
  };
}

/** Number of active memories at a changeset: a column of its place, never a count. Throws CHANGESET_NOT_FOUND. */
export function readTotalActive(db: ReadableDb, changesetId: ChangesetId): number {
  return openSight(db).places.get(getChangesetRow(db, changesetId, 'changeset_id').seq).active;
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

/** The matches of the query from where the page starts, then recency for what room is left. */
function findPage(question: Question, selected: SelectedHead, query: string, start: Start): Page {
  const { db, sight, head, filter, limit } = question;
  const found =
    query === ''
      ? []
      : matchContext(db, openTextView(db, { projectId: selected.projectId, seq: head.seq }, sight), query, filter);
  const matches = orderMatches(sight, head.seq, found, start.matched, limit);
  const touches = matches.map(({ state }) => state.touch);
  const scores = matches.map(({ score }) => score);
  const at = { ...start, matched: start.matched + matches.length, shown: start.shown + matches.length };
  if (at.matched < found.length) return { touches, scores, next: at };
  const skipped = new Set(found.map(({ state }) => state.touch.memory));
  const rest = fillByRecency({ ...question, limit: limit - matches.length }, skipped, at);
  return { touches: [...touches, ...rest.touches], scores, next: rest.next };
}

/** Memories that no token of the query found, most recently touched first, as many as there is room for. */
function fillByRecency(question: Question, skipped: ReadonlySet<number>, start: Start): Omit<Page, 'scores'> {
  const { head, limit, bounds } = question;
  const unfiltered = isUnfiltered(question.filter);
  const touches: Touch[] = [];
  let after = start.after;
  let scanned = 0;
  const page = (more: boolean): Omit<Page, 'scores'> => ({
    touches,
    next: more ? { ...start, after, shown: start.shown + touches.length } : undefined,
  });
  if (unfiltered && start.shown >= head.active) return page(false);
  if (unfiltered && limit === 0) return page(true);
  for (const { key, found, read } of walkMatching(question, skipped, start.after)) {
    scanned += 1;
    const full = touches.length === limit;
    if (found !== undefined && full) return page(true);
    if (found !== undefined) touches.push(found);
    if (!full) after = key;
    if (unfiltered && start.shown + touches.length >= head.active) return page(false);
    if (unfiltered && touches.length === limit) return page(true);
    if (scanned >= bounds.scanMax || read >= bounds.readMax) return page(true);
  }
  return page(false);
}

/** The walk in order of recency, with the memories that pass the filter, and how many were looked at so far. */
function* walkMatching(
  question: Question,
  skipped: ReadonlySet<number>,
  after: number,
): IterableIterator<{ readonly key: number; readonly found: Touch | undefined; readonly read: number }> {
  const { sight, head } = question;
  let read = 0;
  for (const { key, live } of walkRecency(sight, head, after === 0 ? {} : { after })) {
    const one = live === undefined || skipped.has(live.memory) ? undefined : live;
    if (one !== undefined) read += 1;
    yield { key, found: one !== undefined && passes(question, one) ? one : undefined, read };
  }
}

/** Whether a memory passes the filter; without one nothing is read to say so. */
function passes({ filter, accepted }: Question, touch: Touch): boolean {
  if (isUnfiltered(filter)) return true;
  return passesFilter(memoryText(readVersion(accepted.version(touch), accepted.payloadOf)), filter);
}

function isUnfiltered(filter: TextFilter): boolean {
  return (filter.kinds ?? []).length === 0 && (filter.tags ?? []).length === 0;
}

interface Match {
  readonly state: { readonly touch: Touch };
  readonly score: number;
}

/**
 * The matches from `offset` on, at most `limit`: score first, then most recently touched in replay order (`L102`). Only
 * scores that reach into the page are put in order.
 */
function orderMatches<One extends Match>(
  sight: Sight,
  head: number,
  found: readonly One[],
  offset: number,
  limit: number,
): readonly One[] {
  const ordered: One[] = [];
  const ways = new Map<number, readonly Turn[]>();
  const wayTo = (match: One): readonly Turn[] => {
    const seq = seqOf(match.state.touch.key);
    const way = ways.get(seq) ?? findWay(sight, head, seq);
    ways.set(seq, way);
    return way;
  };
  for (let at = 0; at < found.length && ordered.length < offset + limit; ) {
    const score = found[at]?.score;
    const group = found.slice(at).filter((match) => match.score === score);
    at += group.length;
    if (ordered.length + group.length <= offset) ordered.push(...group);
    else
      ordered.push(
        ...group.toSorted(
          (one, other) => compareWays(wayTo(one), wayTo(other)) || other.state.touch.key - one.state.touch.key,
        ),
      );
  }
  return ordered.slice(offset, offset + limit);
}

/** A cursor goes with the head that it pins: the one asked for, or an earlier one of the ref when none was asked for. */
function readCursor(sight: Sight, selected: SelectedHead, input: ContextInput, cursor: string): Start {
  const schema = z.strictObject({
    of: z.literal('context'),
    question: z.literal(questionOf(input)),
    head: z.int().min(1).max(selected.seq),
    matched: z.int().min(0),
    after: z.int().min(0),
    shown: z.int().min(0),
  });
  const { head, matched, after, shown } = decodeCursor(cursor, schema);
  const known = (seq: number, from: number): boolean =>
    findPlace(sight.db, seq) !== undefined && sees(sight, from, seq);
  const named = input.headChangesetId !== undefined || input.at !== undefined;
  const headHolds = named ? head === selected.seq : known(head, selected.seq);
  if (!headHolds || (after !== 0 && !known(seqOf(after), head))) throw cursorInvalid();
  return { head, matched, after, shown };
}

/** What a cursor is good for beside its head. The head is apart, so that a manifest, which names it, can use the cursor. */
function questionOf(input: ContextInput): string {
  const { projectId, refName, query = '', kinds = [], tags = [] } = input;
  return sha256Hex(encodeCanonical({ projectId, refName, query, kinds, tags }));
}
