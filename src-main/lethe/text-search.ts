// Full text over memory as one head shows it: the query of a context (lethe.md §5.10, D22) and the search (§0.5).

import type { ReadableDb } from '../sqlite/driver.ts';
import { needleTokens, type Piece, pieceToken } from '../text/pieces.ts';
import { parseSearch, type SearchQuery } from '../text/search-query.ts';
import {
  contextScore,
  findHits,
  holdsNeedle,
  type NeedleRarity,
  searchScore,
  type TextFilter,
  type TextHits,
} from './rules/relevance.ts';
import { contextText, type MemoryText, type TextField } from './rules/segment.ts';
import { contextTokens } from './rules/tokens.ts';
import {
  type CandidateBounds,
  type Candidates,
  type Collected,
  candidateBounds,
  type HeadView,
  type LiveState,
  openCandidates,
  overIndex,
} from './text-candidates.ts';

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
  const found = overIndex(view.textHealth, (usesIndex) => {
    const candidates = openCandidates(db, view, filter, tokens.length, bounds, usesIndex);
    for (const token of tokens)
      candidates.collect(needleTokens(token), (text) => contextText(text).includes(token), bounds.holdersMax);
    return candidates.list();
  });
  const matches = found.map((state) => ({ state, score: contextScore(tokens, state.text) }));
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
/** How many times the versions in which a part reached its bound are gone through for parts together. */
const jointSpans = 500;

/**
 * Searches the memory of a head: every text is a valid query, no part of it an operator (lethe.md §0.5). Best first, then
 * newest version first. `complete` is false when a bound ended the search before every memory that holds the whole query
 * was considered. Those that hold only too frequent a part of it need not all be there.
 */
export function searchMemories<State extends LiveState>(
  db: ReadableDb,
  view: HeadView<State>,
  page: SearchPage,
  bounds: CandidateBounds = candidateBounds,
): { readonly matches: readonly SearchFound<State>[]; readonly more: boolean; readonly complete: boolean } {
  const query = parseSearch(page.query);
  if (query.needles.length === 0) return { matches: [], more: false, complete: true };
  const { found, complete } = overIndex(view.textHealth, (usesIndex) => {
    const candidates = openCandidates(db, view, page.filter, query.needles.length, bounds, usesIndex);
    const { rarity, wholeCut } = gather(query, candidates, view);
    return { found: rank(query, candidates.list(), rarity), complete: candidates.complete && !wholeCut };
  });
  const matches = found.slice(page.offset, page.offset + page.limit).map(({ state, score, hits }) => ({
    state,
    score: Math.round(score * 10_000) / 10_000,
    why: hits.hits.map((hit) => ({ token: hit.needle.text, fields: hit.fields })),
  }));
  return { matches, more: found.length > page.offset + page.limit, complete };
}

/**
 * Looks for each part of the query; then, for parts that too many memories hold, for what holds several of them at once.
 * Returns how rare the parts are, and whether more memories hold the whole query than were taken.
 */
function gather<State extends LiveState>(
  query: SearchQuery,
  candidates: Candidates<State>,
  view: HeadView<State>,
): { readonly rarity: ReadonlyMap<string, NeedleRarity>; readonly wholeCut: boolean } {
  const seen = new Map(query.needles.map((needle) => [needle.text, collectNeedle(needle, candidates)] as const));
  const joint = (pieces: readonly Piece[], holdersMax: number): boolean => {
    const counts = pieces.flatMap((piece) => seen.get(piece.text) ?? []);
    // A part that few hold has brought all that hold it together with others.
    if (counts.length === 0 || counts.some((count) => !count.saturated)) return false;
    if (pieces.length < 2) return true;
    const holdsAll = (text: MemoryText): boolean => pieces.every((piece) => holdsNeedle(piece, text));
    return candidates.collect(jointTokens(pieces), holdsAll, holdersMax, jointDownTo(counts, view)).saturated;
  };
  const wholeCut = joint(query.needles, wholeHoldersMax);
  for (const term of query.terms) joint(term.pieces, partHoldersMax);
  const total = view.totalActive;
  const rarity = new Map([...seen].map(([text, count]) => [text, { holders: estimateHolders(count, view), total }]));
  return { rarity, wholeCut };
}

/** Looks for the live memories that hold one part: as a whole word or symbol first, then inside words. */
function collectNeedle<State extends LiveState>(needle: Piece, candidates: Candidates<State>): Collected {
  const holds = (text: MemoryText): boolean => holdsNeedle(needle, text);
  const inside = (): Collected => candidates.collect(needleTokens(needle.text), holds, partHoldersMax);
  if (needle.kind === 'run_on') return inside();
  const whole = candidates.collect([pieceToken(needle)], holds, partHoldersMax);
  if (needle.kind === 'symbol' || whole.saturated) return whole;
  const parts = inside();
  return parts.holders > whole.holders ? parts : whole;
}

/**
 * How far back parts are looked for together: so far that no part is met more than some 100 000 times if it is as
 * frequent there as among the newest. Frequent parts that hardly ever meet would else be compared through all history.
 */
function jointDownTo(counts: readonly Collected[], view: HeadView<LiveState>): number {
  const span = Math.max(...counts.map((count) => view.upTo - count.lowest + 1));
  return Math.max(0, view.upTo - span * jointSpans);
}

/** Tokens that a text with all of the pieces must have, as many as are worth asking for. */
function jointTokens(pieces: readonly Piece[]): readonly string[] {
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
