// Finds the memories that may answer a query: newest versions first, each memory looked at once, everything bounded.
// What a memory says at a head, and whether it is alive there, is asked of the caller; nothing here knows about branches.

import type { ReadableDb } from '../sqlite/driver.ts';
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
  /** The state that a memory has at the head; undefined when it is unknown there, retired, or withheld. */
  findLive(memory: number): State | undefined;
  /** Versions of the project above `after` and not above `upTo`, visible or not, newest first. */
  listTail(after: number, limit: number): Tail;
}

/** What one call of `collect` saw. */
export interface Collected {
  /** Live memories that hold what was asked for, as many as were found before a bound. */
  readonly holders: number;
  /** The bound on holders was reached: there may be more, older than `lowest`. */
  readonly saturated: boolean;
  /** The oldest version that was looked at. */
  readonly lowest: number;
}

/** The candidates of one query at one head. */
export interface Candidates<State extends LiveState> {
  /**
   * Looks at the newest versions that have every token, until `holdersMax` live memories hold what was asked for.
   * The index says only that a version may hold it: `holds` decides, from the text as it is at the head.
   * @param downTo versions below this number are left out, and `complete` says so when there may be some
   */
  collect(
    every: readonly string[],
    holds: (text: MemoryText) => boolean,
    holdersMax: number,
    downTo?: number,
  ): Collected;
  /** Every live memory that was looked at and passes the filter, in no particular order. */
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
  tailMax: 5_000,
  workMax: 100_000_000,
};

/** Sightings of one memory after which the index is asked to pass over its other versions. */
const sightingsMax = 16;
/** Most memories that are passed over so. */
const passedOverMax = 32;

/**
 * Opens the candidates of a query. The versions that the index does not hold yet are looked at here, all of them up to
 * the bound, so that what was just committed is found (performance.md, "Full text").
 * @param lookedFor how many things each text is searched for, for the bound on work
 */
export function openCandidates<State extends LiveState>(
  db: ReadableDb,
  view: HeadView<State>,
  filter: TextFilter,
  lookedFor: number,
  bounds: CandidateBounds = candidateBounds,
): Candidates<State> {
  const states = new Map<number, State | undefined>();
  const sightings = new Map<number, number>();
  const passedOver = new Set<number>();
  const projectKey = findProjectKey(db, view.projectId);
  const filterTokens = (filter.tags ?? []).map(tagToken);
  const filterKinds = (filter.kinds ?? []).map(kindToken);
  let rows = 0;
  let work = 0;
  let complete = true;

  const look = (memory: number): State | undefined => {
    const known = states.get(memory);
    if (known !== undefined || states.has(memory)) return known;
    const state = view.findLive(memory);
    const kept = state !== undefined && passesFilter(state.text, filter) ? state : undefined;
    states.set(memory, kept);
    if (kept !== undefined) work += (kept.text.content.length + 64) * lookedFor;
    return kept;
  };
  const spent = (): boolean => rows >= bounds.rowsMax || states.size >= bounds.statesMax || work >= bounds.workMax;

  const tail = view.listTail(findIndexedThrough(db), bounds.tailMax);
  if (tail.more) complete = false;
  const tailMemories = new Set(tail.versions.map((found) => found.memory));
  for (const memory of tailMemories) look(memory);

  /** One pass over the index; the version where a memory was passed over anew, else undefined. */
  const pass = (
    every: readonly string[],
    seen: Set<number>,
    range: VersionRange,
    take: (memory: number) => boolean,
  ): number | undefined => {
    if (projectKey === undefined) return undefined;
    const none = [...passedOver].map(memoryToken);
    const query = { every: [...every, ...filterTokens], oneOf: [filterKinds], none };
    for (const { version, memory } of iterateVersions(db, projectKey, query, range)) {
      if (spent()) {
        complete = false;
        return undefined;
      }
      rows += 1;
      if (!seen.has(memory)) {
        seen.add(memory);
        if (!take(memory)) return undefined;
      } else if (sightAgain(memory)) return version;
    }
    return undefined;
  };
  const sightAgain = (memory: number): boolean => {
    const count = (sightings.get(memory) ?? 0) + 1;
    sightings.set(memory, count);
    if (count < sightingsMax || passedOver.size >= passedOverMax) return false;
    passedOver.add(memory);
    return true;
  };

  return {
    collect: (every, holds, holdersMax, downTo = 0) => {
      let holders = 0;
      let lowest = view.upTo;
      const take = (memory: number): boolean => {
        const state = look(memory);
        if (state === undefined) return true;
        work += state.text.content.length + 64;
        lowest = Math.min(lowest, state.version);
        if (holds(state.text)) holders += 1;
        return holders < holdersMax;
      };
      const seen = new Set<number>([...tailMemories, ...passedOver]);
      for (const memory of seen) if (!take(memory)) return { holders, saturated: true, lowest };
      let upTo: number | undefined = every.length === 0 ? undefined : view.upTo;
      while (upTo !== undefined) upTo = pass(every, seen, { upTo, downTo }, take);
      if (downTo > 0 && holders < holdersMax) complete = false;
      return { holders, saturated: holders >= holdersMax, lowest };
    },
    list: () => [...states.values()].filter((state) => state !== undefined),
    get complete() {
      return complete;
    },
  };
}
