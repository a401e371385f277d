// Finds the memories that may answer a query: newest versions first, each memory looked at once, everything bounded.
// What a memory says at a head, and whether it is alive there, is asked of the caller; nothing here knows about branches.

import type { ReadableDb } from '../sqlite/driver.ts';
import { isDamage, type TextHealth } from '../text/health.ts';
import { passesFilter, type TextFilter } from './rules/relevance.ts';
import { kindToken, type MemoryText, memoryToken, tagToken } from './rules/segment.ts';
import {
  findIndexedThrough,
  findProjectKey,
  type IndexedVersion,
  iterateVersions,
  type VersionRange,
} from './tables/text-index.ts';

/** The state of a memory that is alive at a head. `version` is the number of the op that made it so. */
export interface LiveState {
  readonly version: number;
  readonly text: MemoryText;
}

/** Versions that the index does not hold yet. */
export interface Tail {
  readonly versions: readonly IndexedVersion[];
  /** Older ones were left out: no more than `limit` were looked at. */
  readonly more: boolean;
}

/** Memory as one head shows it. A state passes through untouched, so that it may carry whatever the caller needs. */
export interface HeadView<State extends LiveState> {
  readonly projectId: string;
  /** No version above this number can be visible at the head. */
  readonly upTo: number;
  /** Number of memories alive at the head. */
  readonly totalActive: number;
  /** What is known of the index; absent where nobody keeps it. */
  readonly textHealth?: TextHealth | undefined;
  /** The state that a memory has at the head; undefined when it is unknown there, retired, or withheld. */
  findLive(memory: number): State | undefined;
  /** Versions of the project above `after` and not above `upTo`, visible or not, newest first. */
  listTail(after: number, limit: number): Tail;
}

/** What one call of `collect` found. */
export interface Collected {
  /** Live memories that hold what was asked for, as many as were found before a bound. */
  readonly holders: number;
  /** The bound on holders was reached: there may be more, older than `lowest`. */
  readonly saturated: boolean;
  /** The version of the oldest holder that was found. */
  readonly lowest: number;
}

/** The candidates of one query at one head. */
export interface Candidates<State extends LiveState> {
  /**
   * Finds the live memories that hold what was asked for: those with the newest live versions, `holdersMax` at most, the
   * same ones whether the index holds them yet or not. A version that has every token may hold it: `holds` decides, from
   * the text as it is at the head.
   * @param downTo versions below this number are left out, and `complete` says so when there may be some
   */
  collect(
    every: readonly string[],
    holds: (text: MemoryText) => boolean,
    holdersMax: number,
    downTo?: number,
  ): Collected;
  /** Every memory that a `collect` found, each once, in no particular order. */
  list(): readonly State[];
  /** False once a bound other than `holdersMax` ended the search: older memories may be missing. */
  readonly complete: boolean;
}

/** Bounds of one query; the defaults are those of the product. */
export interface CandidateBounds {
  /** Index rows that are looked at. */
  readonly rowsMax: number;
  /** Memories whose state is asked for. */
  readonly statesMax: number;
  /** Versions that are not indexed yet and are looked at one by one. */
  readonly tailMax: number;
  /** Text that is searched through, in UTF-16 units, each time that it is. */
  readonly workMax: number;
}

export const candidateBounds: CandidateBounds = {
  rowsMax: 50_000,
  statesMax: 10_000,
  tailMax: 20_000,
  workMax: 100_000_000,
};

/** Sightings of one memory after which the index is asked to pass over its other versions. */
const sightingsMax = 16;
/** Most memories that are passed over so. */
const passedOverMax = 32;

/**
 * Does what asks the index. When the index fails, or is known to be damaged, the same is done without it, over the newest
 * versions, as if it held nothing: the reader gets an answer, and maintenance hears of it (`L225`). What fails without the
 * index too is thrown.
 */
export function overIndex<Result>(textHealth: TextHealth | undefined, work: (usesIndex: boolean) => Result): Result {
  if (textHealth?.isDamaged === true) return work(false);
  try {
    return work(true);
  } catch (thrown) {
    if (textHealth === undefined || !isDamage(thrown)) throw thrown;
    const result = work(false);
    textHealth.noticeDamage();
    return result;
  }
}

/**
 * Opens the candidates of a query. The versions that the index does not hold yet are looked at here, all of them up to
 * the bound, so that what was just committed is found (performance.md, "Full text").
 * @param lookedFor how many things each text is searched for, for the bound on work
 * @param usesIndex whether the index is asked at all; else every version is looked at like one that waits, up to the bound
 */
export function openCandidates<State extends LiveState>(
  db: ReadableDb,
  view: HeadView<State>,
  filter: TextFilter,
  lookedFor: number,
  bounds: CandidateBounds = candidateBounds,
  usesIndex = true,
): Candidates<State> {
  const states = openStates(view, filter, lookedFor, bounds);
  const passedOver = openPassedOver();
  const found = new Set<State>();
  const projectKey = usesIndex ? findProjectKey(db, view.projectId) : undefined;
  const filterTokens = (filter.tags ?? []).map(tagToken);
  const filterKinds = (filter.kinds ?? []).map(kindToken);
  const tail = view.listTail(usesIndex ? findIndexedThrough(db) : 0, bounds.tailMax);
  const tailMemories = new Set(tail.versions.map((version) => version.memory));
  let complete = !tail.more;

  /** One pass over the index; the version where a memory was passed over anew, else undefined. */
  const pass = (
    every: readonly string[],
    met: Set<number>,
    range: VersionRange,
    meet: (memory: number, version: number) => boolean,
  ): number | undefined => {
    if (projectKey === undefined) return undefined;
    const none = [...passedOver.memories].map(memoryToken);
    const query = { every: [...every, ...filterTokens], oneOf: [filterKinds], none };
    for (const { version, memory } of iterateVersions(db, projectKey, query, range)) {
      if (states.spent()) {
        complete = false;
        return undefined;
      }
      states.countRow();
      if (!met.has(memory)) {
        met.add(memory);
        if (!meet(memory, version)) return undefined;
      } else if (passedOver.sightAgain(memory)) return version;
    }
    return undefined;
  };

  return {
    collect: (every, holds, holdersMax, downTo = 0) => {
      const holders = openHolders<State>(holdersMax);
      const holderOf = (memory: number): State | undefined => {
        const state = states.look(memory);
        return state !== undefined && holds(state.text) ? state : undefined;
      };
      const met = new Set<number>([...tailMemories, ...passedOver.memories]);
      for (const memory of met) holders.add(holderOf(memory));
      const meet = (memory: number, version: number): boolean => {
        holders.add(holderOf(memory));
        return !holders.settle(version);
      };
      let upTo: number | undefined = every.length === 0 ? undefined : view.upTo;
      while (upTo !== undefined) upTo = pass(every, met, { upTo, downTo }, meet);
      const saturated = holders.settle(0);
      if (downTo > 0 && !saturated) complete = false;
      for (const state of holders.settled) found.add(state);
      const lowest = holders.settled.at(-1)?.version ?? view.upTo;
      return { holders: holders.settled.length, saturated, lowest };
    },
    list: () => [...found],
    get complete() {
      return complete;
    },
  };
}

/** The states of one query, each asked for once, and what looking at them has cost. */
interface States<State extends LiveState> {
  /** The live state of a memory, when it passes the filter. Each look counts the text as searched through once. */
  look(memory: number): State | undefined;
  countRow(): void;
  spent(): boolean;
}

function openStates<State extends LiveState>(
  view: HeadView<State>,
  filter: TextFilter,
  lookedFor: number,
  bounds: CandidateBounds,
): States<State> {
  const known = new Map<number, State | undefined>();
  let rows = 0;
  let work = 0;
  const unitsOf = (state: State): number => state.text.content.length + 64;
  const ask = (memory: number): State | undefined => {
    const state = view.findLive(memory);
    const kept = state !== undefined && passesFilter(state.text, filter) ? state : undefined;
    known.set(memory, kept);
    if (kept !== undefined) work += unitsOf(kept) * lookedFor;
    return kept;
  };
  return {
    look: (memory) => {
      const state = known.has(memory) ? known.get(memory) : ask(memory);
      if (state !== undefined) work += unitsOf(state);
      return state;
    },
    countRow: () => {
      rows += 1;
    },
    spent: () => rows >= bounds.rowsMax || known.size >= bounds.statesMax || work >= bounds.workMax,
  };
}

/** Memories of which the index has shown so many versions that it is asked for no more of them. */
interface PassedOver {
  readonly memories: ReadonlySet<number>;
  /** Counts another version of a memory; true when the memory is passed over from here on. */
  sightAgain(memory: number): boolean;
}

function openPassedOver(): PassedOver {
  const sightings = new Map<number, number>();
  const memories = new Set<number>();
  return {
    memories,
    sightAgain: (memory) => {
      const count = (sightings.get(memory) ?? 0) + 1;
      sightings.set(memory, count);
      if (count < sightingsMax || memories.size >= passedOverMax) return false;
      memories.add(memory);
      return true;
    },
  };
}

/** Holders in the order of their live versions, newest first, however they were met: by that version or by another. */
interface Holders<State extends LiveState> {
  readonly settled: readonly State[];
  add(state: State | undefined): void;
  /** Takes in those that are not older than the version that the search has come down to; true when that is enough. */
  settle(version: number): boolean;
}

function openHolders<State extends LiveState>(holdersMax: number): Holders<State> {
  const settled: State[] = [];
  /** Oldest first. */
  const waiting: State[] = [];
  return {
    settled,
    add: (state) => {
      if (state === undefined) return;
      const before = waiting.findLastIndex((other) => other.version < state.version);
      waiting.splice(before + 1, 0, state);
    },
    settle: (version) => {
      while (settled.length < holdersMax) {
        const newest = waiting.at(-1);
        if (newest === undefined || newest.version < version) break;
        waiting.pop();
        settled.push(newest);
      }
      return settled.length >= holdersMax;
    },
  };
}
