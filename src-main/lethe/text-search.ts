// Full text over memory: filling the index behind the commits, the query of a context (lethe.md §5.10, D22) and the
// search (§0.5). All of it is derived from the history; nothing here is ever the only copy of anything.

import type { ReadableDb, WritableDb } from '../sqlite/driver.ts';
import {
  contextScore,
  findHits,
  type NeedleRarity,
  searchScore,
  type TextFilter,
  type TextHits,
} from './rules/relevance.ts';
import {
  contextText,
  indexTokens,
  type MemoryText,
  needleTokens,
  type Piece,
  pieceToken,
  type TextField,
} from './rules/segment.ts';
import { contextTokens, parseSearch, type SearchQuery } from './rules/tokens.ts';
import {
  ensureProjectKey,
  findIndexedThrough,
  insertVersion,
  mergeSegments,
  setIndexedThrough,
} from './tables/text-index.ts';
import {
  type CandidateBounds,
  type Candidates,
  type Collected,
  candidateBounds,
  type HeadView,
  type LiveState,
  openCandidates,
} from './text-candidates.ts';

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

/** Live memories that are candidates for each token of a context query (lethe.md D22). */
export const contextHoldersMax = 2_000;

/** A memory that a context query found. */
export interface ContextMatch<State extends LiveState> {
  readonly state: State;
  /** The score of §5.10, at least 1. */
  readonly score: number;
}

/**
 * The memories that hold a token of the query, best first, then newest version first: for each token the 2 000 newest
 * live ones, scored over all tokens exactly as §5.10 (D22). What remains of a page is the caller's to fill by recency.
 */
export function matchContext<State extends LiveState>(
  db: ReadableDb,
  view: HeadView<State>,
  query: string,
  filter: TextFilter,
  bounds: CandidateBounds & { readonly holdersMax: number } = { ...candidateBounds, holdersMax: contextHoldersMax },
): readonly ContextMatch<State>[] {
  const tokens = contextTokens(query);
  if (tokens.length === 0) return [];
  const candidates = openCandidates(db, view, filter, tokens.length, bounds);
  for (const token of tokens) {
    candidates.collect(needleTokens(token), (text) => contextText(text).includes(token), bounds.holdersMax);
  }
  const matches = candidates.list().map((state) => ({ state, score: contextScore(tokens, state.text) }));
  return matches
    .filter(({ score }) => score > 0)
    .sort((left, right) => right.score - left.score || right.state.version - left.state.version);
}

/** One page of a search. */
export interface SearchPage {
  readonly query: string;
  readonly filter: TextFilter;
  /** Matches before the page. */
  readonly offset: number;
  readonly limit: number;
}

/** A memory that a search found, and why. */
export interface SearchFound<State extends LiveState> {
  readonly state: State;
  /** Greater is better; only comparable within one search. */
  readonly score: number;
  /** What of the query was found, in its order, and in which fields. */
  readonly why: readonly { readonly token: string; readonly fields: readonly TextField[] }[];
}

/** Live memories that hold the whole query, and those that hold one part of it, which are enough to rank by. */
const wholeHoldersMax = 400;
const partHoldersMax = 200;

/**
 * Searches the memory of a head: every text is a valid query, no part of it an operator (lethe.md §0.5). Best first, then
 * newest version first. `complete` is false when a bound ended the search before all older memories were considered for
 * a query that is not merely too frequent.
 */
export function searchMemories<State extends LiveState>(
  db: ReadableDb,
  view: HeadView<State>,
  page: SearchPage,
  bounds: CandidateBounds = candidateBounds,
): { readonly matches: readonly SearchFound<State>[]; readonly more: boolean; readonly complete: boolean } {
  const query = parseSearch(page.query);
  if (query.needles.length === 0) return { matches: [], more: false, complete: true };
  const candidates = openCandidates(db, view, page.filter, query.needles.length, bounds);
  const rarity = gather(query, candidates, view);
  const found = rank(query, candidates.list(), rarity);
  const matches = found.slice(page.offset, page.offset + page.limit).map(({ state, score, hits }) => ({
    state,
    score: Math.round(score * 10_000) / 10_000,
    why: hits.hits.map((hit) => ({ token: hit.needle.text, fields: hit.fields })),
  }));
  return { matches, more: found.length > page.offset + page.limit, complete: candidates.complete };
}

/** Looks for what holds the whole query, then each compound term, then each part; returns how rare the parts are. */
function gather<State extends LiveState>(
  query: SearchQuery,
  candidates: Candidates<State>,
  view: HeadView<State>,
): ReadonlyMap<string, NeedleRarity> {
  const holdsAll = (text: MemoryText): boolean => findHits(query, text)?.hits.length === query.needles.length;
  const whole = candidates.collect(wholeTokens(query.needles), holdsAll, wholeHoldersMax);
  const rarity = new Map<string, NeedleRarity>();
  if (whole.saturated) return rarity;
  for (const term of query.terms) {
    if (term.pieces.length > 1) candidates.collect(wholeTokens(term.pieces), () => true, partHoldersMax);
  }
  for (const needle of query.needles) {
    const alone = { ...query, needles: [needle] };
    const holds = (text: MemoryText): boolean => findHits(alone, text) !== undefined;
    let seen = needle.kind === 'run_on' ? undefined : candidates.collect([pieceToken(needle)], holds, partHoldersMax);
    if (needle.kind !== 'symbol' && seen?.saturated !== true) {
      const inside = candidates.collect(needleTokens(needle.text), holds, partHoldersMax);
      seen = seen === undefined || inside.holders > seen.holders ? inside : seen;
    }
    if (seen !== undefined) rarity.set(needle.text, { holders: estimateHolders(seen, view), total: view.totalActive });
  }
  return rarity;
}

/** Tokens that a text with all of the pieces must have, as many as are worth asking for. */
function wholeTokens(pieces: readonly Piece[]): readonly string[] {
  const tokens = pieces.flatMap((piece) => (piece.kind === 'run_on' ? needleTokens(piece.text) : [pieceToken(piece)]));
  return [...new Set(tokens)].slice(0, 16);
}

/** Of a part that is held by more than were counted: as many as there would be if older versions hold it as often. */
function estimateHolders(seen: Collected, view: HeadView<LiveState>): number {
  if (!seen.saturated) return seen.holders;
  const share = (view.upTo - seen.lowest + 1) / (view.upTo + 1);
  return Math.min(view.totalActive, Math.ceil(seen.holders / share));
}

interface Ranked<State extends LiveState> {
  readonly state: State;
  readonly score: number;
  readonly hits: TextHits;
}

function rank<State extends LiveState>(
  query: SearchQuery,
  states: readonly State[],
  rarity: ReadonlyMap<string, NeedleRarity>,
): readonly Ranked<State>[] {
  const found = states.flatMap((state) => {
    const hits = findHits(query, state.text);
    return hits === undefined ? [] : [{ state, hits }];
  });
  const meanLength = Math.max(1, found.reduce((sum, { hits }) => sum + hits.length, 0) / Math.max(1, found.length));
  return found
    .map(({ state, hits }) => ({ state, hits, score: searchScore(query, hits, rarity, meanLength) }))
    .sort((left, right) => right.score - left.score || right.state.version - left.state.version);
}
