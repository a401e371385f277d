import type { ReadableDb } from '../sqlite/driver.ts';
import type { TextHealth } from '../text/health.ts';
import type { MemorySieve } from './memory-sieve.ts';
import type { AcceptedReader } from './projection/accepted.ts';
import { compareWays, findWay, type Turn } from './projection/line.ts';
import { walkRecency } from './projection/recency.ts';
import type { Sight } from './projection/sight.ts';
import type { MemoryFilter } from './rules/memory-filter.ts';
import { seqOf } from './rules/numbers.ts';
import { readVersion } from './rules/overlay.ts';
import type { Place } from './tables/chains.ts';
import type { Touch } from './tables/touches.ts';
import { openTextView } from './text-head.ts';
import { matchContext } from './text-search.ts';

/** Bounds of one page. A page that spends one ends there: it may be short and still have a next one. */
export interface ContextBounds {
  /** Touches that are looked at for the order of recency. */
  readonly scanMax: number;
  /** Memories whose text is read for the filter, or that are shown. */
  readonly readMax: number;
  /** Touches that are looked at for what is left out. */
  readonly leftOutMax: number;
}

export const contextBounds: ContextBounds = { scanMax: 4_096, readMax: 1_024, leftOutMax: 1_024 };

/** What a page of context is about. */
export interface PageQuestion {
  readonly db: ReadableDb;
  readonly sight: Sight;
  readonly projectId: string;
  readonly head: Place;
  /** '' asks for recency alone. */
  readonly query: string;
  readonly filter: MemoryFilter;
  readonly sieve: MemorySieve;
  /** Memories that are not shown, with the conflict that withholds each. */
  readonly withheld: ReadonlyMap<number, string>;
  /** Memories that are active and not withheld. */
  readonly total: number;
  readonly limit: number;
  readonly bounds: ContextBounds;
  readonly accepted: AcceptedReader;
  readonly textHealth: TextHealth;
}

/** Where a page starts: in the matches of the query, then after an op in the order of recency. */
export interface PageStart {
  /** Matches shown before. */
  readonly matched: number;
  /** Op number after which the walk goes on; 0 before its start. */
  readonly after: number;
  /** Memories shown before. */
  readonly shown: number;
}

export const firstPage: PageStart = { matched: 0, after: 0, shown: 0 };

/** One page of the answer, and where the next one starts when there is one. */
export interface Page {
  /** The newest touch of each memory to show. */
  readonly touches: readonly Touch[];
  /** Of the first ones, which match the query, how well they do. */
  readonly scores: readonly number[];
  readonly next: PageStart | undefined;
}

/** The matches of the query from where the page starts, then recency for what room is left. */
export function findPage(question: PageQuestion, start: PageStart): Page {
  const { sight, head, limit } = question;
  const found = findMatches(question);
  const matches = orderMatches(sight, head.seq, found, start.matched, limit);
  const touches = matches.map(({ state }) => state.touch);
  const scores = matches.map(({ score }) => score);
  const at = { ...start, matched: start.matched + matches.length, shown: start.shown + matches.length };
  if (at.matched < found.length) return { touches, scores, next: at };
  const skipped = new Set(found.map(({ state }) => state.touch.memory));
  const rest = fillByRecency({ ...question, limit: limit - matches.length }, skipped, at);
  return { touches: [...touches, ...rest.touches], scores, next: rest.next };
}

function findMatches({ db, sight, projectId, head, query, filter, sieve, withheld, textHealth }: PageQuestion) {
  if (query === '') return [];
  const view = openTextView(db, { projectId, seq: head.seq }, { sight, sieve, withheld, textHealth });
  return matchContext(db, view, query, filter);
}

/** Memories that no token of the query found, most recently touched first, as many as there is room for. */
function fillByRecency(question: PageQuestion, skipped: ReadonlySet<number>, start: PageStart): Omit<Page, 'scores'> {
  const { total, limit, bounds, sieve } = question;
  const touches: Touch[] = [];
  let after = start.after;
  let scanned = 0;
  const page = (more: boolean): Omit<Page, 'scores'> => ({
    touches,
    next: more ? { ...start, after, shown: start.shown + touches.length } : undefined,
  });
  if (sieve.keepsAll && start.shown >= total) return page(false);
  if (sieve.keepsAll && limit === 0) return page(true);
  for (const { key, found, read } of walkMatching(question, skipped, start.after)) {
    scanned += 1;
    const full = touches.length === limit;
    if (found !== undefined && full) return page(true);
    if (found !== undefined) touches.push(found);
    if (!full) after = key;
    if (sieve.keepsAll && start.shown + touches.length >= total) return page(false);
    if (sieve.keepsAll && touches.length === limit) return page(true);
    if (scanned >= bounds.scanMax || read >= bounds.readMax) return page(true);
  }
  return page(false);
}

/** The walk in order of recency, with the memories that pass the filter, and how many were looked at so far. */
function* walkMatching(
  question: PageQuestion,
  skipped: ReadonlySet<number>,
  after: number,
): IterableIterator<{ readonly key: number; readonly found: Touch | undefined; readonly read: number }> {
  const { sight, head, withheld } = question;
  let read = 0;
  for (const { key, live } of walkRecency(sight, head, after === 0 ? {} : { after })) {
    const one = live === undefined || skipped.has(live.memory) || withheld.has(live.memory) ? undefined : live;
    if (one !== undefined) read += 1;
    yield { key, found: one !== undefined && passes(question, one) ? one : undefined, read };
  }
}

/** Whether a memory passes the filter; without one nothing is read to say so. */
function passes({ sieve, accepted }: PageQuestion, touch: Touch): boolean {
  if (sieve.keepsAll) return true;
  return sieve.findFailing(touch, readVersion(accepted.version(touch), accepted.payloadOf)) === undefined;
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
