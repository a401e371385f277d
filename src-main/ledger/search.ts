import type { LedgerMatch } from '../../src-preload/contract/ledger.ts';
import { assert } from '../base/assert.ts';
import { Fault } from '../base/fault.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import { isDamage, type TextHealth } from '../text/health.ts';
import { needleTokens, type Piece, pieceToken } from '../text/pieces.ts';
import type { SearchInput } from './api.ts';
import { entryText, importanceToken, keyToken } from './rules/entry-text.ts';
import { rankOf, ranksFrom } from './rules/importance.ts';
import { mostWithout, type Question, readQuestion, similarityOf, wholeSimilarity } from './rules/similarity.ts';
import { findAgent } from './tables/agents.ts';
import { iterateNewest } from './tables/heads.ts';
import { findIndexedThrough, listHolders } from './tables/text-index.ts';
import { findVersionBySeq, type ValuedVersionRow } from './tables/versions.ts';
import { readBody, toValue } from './version-rows.ts';

/** Bounds of one search. */
export interface SearchBounds {
  /** Newest values that hold the whole query, and those that hold one part of it, which are looked at. */
  readonly wholeHoldersMax: number;
  readonly partHoldersMax: number;
  /** Newest values that are looked at one by one: those that are not indexed yet, or all of them without the index. */
  readonly tailMax: number;
  /** Bytes of values that are looked through, each counted for its reading and for every part of the query. */
  readonly workMax: number;
}

const searchBounds: SearchBounds = {
  wholeHoldersMax: 200,
  partHoldersMax: 200,
  tailMax: 2_000,
  workMax: 40_000_000,
};

/** What reading and folding a value costs, in searches through it. */
const readingWork = 4;

/** Tokens that are asked of the index together at most. */
const jointTokensMax = 16;

interface Searching {
  readonly db: ReadableDb;
  readonly agent: number;
  readonly input: SearchInput;
  readonly question: Question;
  readonly ranks: readonly number[];
  readonly nowMs: number;
  readonly bounds: SearchBounds;
}

/**
 * The live values of an agent that answer a query best (`G20` to `G25`): by similarity, then importance, then newest, then key.
 * Every text is a query, no part of it an operator. What is not indexed yet is found too. An index that cannot be used is
 * noticed in `health` and done without as long as few values are live. Throws MEMORY_QUERY_REQUIRED,
 * MEMORY_SEARCH_UNAVAILABLE.
 */
export function searchValues(
  db: ReadableDb,
  input: SearchInput,
  nowMs: number,
  health: TextHealth,
  bounds: SearchBounds = searchBounds,
): readonly LedgerMatch[] {
  const question = readQuestion(input.query);
  if (question.parts.length === 0)
    throw new Fault('MEMORY_QUERY_REQUIRED', 'q: there is nothing to search for. Send at least one visible character.');
  const agent = findAgent(db, input.agentId);
  if (agent === undefined) return [];
  const searching = { db, agent, input, question, ranks: ranksFrom(input.importance), nowMs, bounds };
  const found = health.isDamaged ? undefined : overIndex(searching, health);
  const rows = found ?? withoutIndex(searching);
  return rows
    .filter(({ similarity }) => similarity > 0 && similarity >= input.threshold)
    .sort(byRank)
    .slice(0, input.limit)
    .map(({ seq, similarity }) => {
      const row = findVersionBySeq(db, seq);
      assert(row !== undefined, 'what was found a moment ago, in the same transaction, is still there');
      return { ...toValue(input.agentId, row), similarity };
    });
}

/** What was found, without its value: there may be many, and few are answered. */
interface Found extends Pick<ValuedVersionRow, 'seq' | 'key' | 'importance' | 'written_ms'> {
  readonly similarity: number;
}

function byRank(one: Found, other: Found): number {
  return (
    other.similarity - one.similarity ||
    (one.importance ?? 0) - (other.importance ?? 0) ||
    other.written_ms - one.written_ms ||
    (one.key < other.key ? -1 : 1)
  );
}

/** Looks at what the index finds, and at the tail that it does not hold yet; undefined when it cannot be used. */
function overIndex(searching: Searching, health: TextHealth): readonly Found[] | undefined {
  const { db, bounds } = searching;
  const looks = openLooks(searching);
  try {
    // First what the index does not hold yet, so that no bound leaves it out.
    lookAtNewest(
      searching,
      looks,
      asking(() => findIndexedThrough(db)),
      bounds.tailMax,
    );
    for (const seqs of candidates(searching, looks))
      for (const seq of seqs) {
        if (looks.spent()) return looks.found;
        if (!looks.met(seq)) looks.look(findVersionBySeq(db, seq));
      }
    return looks.found;
  } catch (thrown) {
    if (!(thrown instanceof IndexUnusable)) throw thrown;
    health.noticeDamage();
    return undefined;
  }
}

/** What asking a damaged index ends in; an error of any other part of a search is not the index's. */
class IndexUnusable extends Error {
  override readonly name = 'IndexUnusable';
}

function asking<Answer>(ask: () => Answer): Answer {
  try {
    return ask();
  } catch (thrown) {
    throw isDamage(thrown) ? new IndexUnusable('the search index cannot be used', { cause: thrown }) : thrown;
  }
}

/** Looks at the newest values one by one. Throws MEMORY_SEARCH_UNAVAILABLE when those are not all. */
function withoutIndex(searching: Searching): readonly Found[] {
  const looks = openLooks(searching);
  if (lookAtNewest(searching, looks, 0, searching.bounds.tailMax)) return looks.found;
  throw new Fault(
    'MEMORY_SEARCH_UNAVAILABLE',
    'The search index cannot be opened and is being made anew. Get by key, or search again in a moment.',
  );
}

/**
 * Candidates in the order in which they are worth a look: keys that the query spells, holders of the whole query, then of its
 * parts, those that say most first. No more than can still change the answer: what lacks a part comes after all that holds the whole query, and what
 * holds only parts of too little weight stays below the threshold.
 */
function* candidates(searching: Searching, looks: Looks): IterableIterator<readonly number[]> {
  const { db, agent, question, ranks, nowMs, bounds, input } = searching;
  const oneOf = ranks.length === 4 ? [] : ranks.map(importanceToken);
  const ask = (every: readonly string[], limit: number): readonly number[] =>
    every.length === 0 ? [] : asking(() => listHolders(db, agent, { every, oneOf }, nowMs, limit));
  const joint = [...new Set(question.parts.flatMap(({ piece }) => tokensOf(piece)))].slice(0, jointTokensMax);
  const asKey = keyToken(input.query);
  if (asKey !== undefined) yield ask([asKey], bounds.partHoldersMax);
  if (question.parts.length > 1) {
    yield ask(joint, bounds.wholeHoldersMax);
    if (looks.found.filter(({ similarity }) => similarity >= wholeSimilarity).length >= input.limit) return;
  }
  for (const [index, { piece }] of question.parts.entries()) {
    if (mostWithout(question, index) < input.threshold) return;
    const whole = ask(tokensOf(piece), bounds.partHoldersMax);
    yield whole;
    if (piece.kind === 'word' && whole.length < bounds.partHoldersMax)
      yield ask(needleTokens(piece.text), bounds.partHoldersMax);
  }
}

/** Index tokens that every text has in which the piece stands, as a whole word when it is one. */
function tokensOf(piece: Piece): readonly string[] {
  return piece.kind === 'run_on' ? needleTokens(piece.text) : [pieceToken(piece)];
}

/** True when the values above a number were all looked at. */
function lookAtNewest({ db, agent, nowMs, ranks }: Searching, looks: Looks, after: number, limit: number): boolean {
  let count = 0;
  for (const row of iterateNewest(db, agent, after, nowMs, limit + 1)) {
    count += 1;
    if (count > limit || looks.spent()) return false;
    if (ranks.includes(row.importance ?? rankOf('low')) && !looks.met(row.seq)) looks.look(row);
  }
  return true;
}

/** Values that were looked at, each once, and what that has cost. */
interface Looks {
  readonly found: readonly Found[];
  met(seq: number): boolean;
  look(row: ValuedVersionRow | undefined): void;
  spent(): boolean;
}

function openLooks({ question, bounds }: Searching): Looks {
  const met = new Set<number>();
  const found: Found[] = [];
  let work = 0;
  return {
    found,
    met: (seq) => met.has(seq),
    look: (row) => {
      if (row === undefined) return;
      met.add(row.seq);
      const { seq, key, importance, written_ms, value_bytes } = row;
      work += (value_bytes + 64) * (question.parts.length + readingWork);
      const similarity = similarityOf(question, entryText(key, readBody(row)));
      if (similarity > 0) found.push({ seq, key, importance, written_ms, similarity });
    },
    spent: () => work >= bounds.workMax,
  };
}
