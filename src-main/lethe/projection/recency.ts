import { lastOpOf, opNumber, seqOf } from '../rules/numbers.ts';
import type { Place } from '../tables/chains.ts';
import { findRecencyPage, type RecencyPage } from '../tables/recency-pages.ts';
import { listTouchesBack, type Touch } from '../tables/touches.ts';
import { findWay } from './line.ts';
import { type Sight, seenOfAny } from './sight.ts';
import { findNewestTouch, isLive } from './state.ts';

/** One thing that a walk has looked at. */
export interface Scanned {
  /** Where the walk stands: another one that starts `after` this op number goes on from here. */
  readonly key: number;
  /** The memory that comes next in the order, when this was one: a live touch, and the newest of its memory at the head. */
  readonly live: Touch | undefined;
}

/** A first-parent line that is still to be walked: from `seq` on, leaving out what the excluded changesets see. */
interface Line {
  readonly seq: number;
  readonly excluded: readonly Place[];
  /** Of the first changeset only touches up to here. */
  readonly upTo: number;
}

export interface WalkOptions {
  /** Go on after this op number, which the head must see. */
  readonly after?: number | undefined;
  /** A changeset whose stored page is not used: the one for which the page is being made. */
  readonly withoutPageOf?: number | undefined;
}

const touchesPerRead = 32;

/**
 * Walks the memories that are live at a head, most recently touched first: replay order backwards (`L94`). An entry counts
 * when its touch is the newest that the head sees of its memory, so a walk can start anywhere without knowing what came
 * before. A stored page takes the place of what lies behind it. The caller bounds the walk by what it takes.
 */
export function* walkRecency(sight: Sight, head: Place, options: WalkOptions = {}): IterableIterator<Scanned> {
  const lines: Line[] =
    options.after === undefined
      ? [{ seq: head.seq, excluded: [], upTo: lastOpOf(head.seq) }]
      : linesAfter(sight, head.seq, options.after, []);
  const run: TouchRun = { chain: -1, upTo: -1, downTo: 0, touches: [] };
  // From the head on the first touch of a memory is its newest, as long as every touch is looked at: a page leaves out some.
  let met: Set<number> | undefined = options.after === undefined ? new Set() : undefined;
  let reached = options.after ?? lastOpOf(head.seq);
  for (let line = lines.pop(); line !== undefined; line = lines.pop()) {
    if (line.seq === 0 || isExcluded(sight, line.excluded, line.seq)) continue;
    const place = sight.places.getAhead(line.seq);
    const page =
      line.upTo === lastOpOf(line.seq) && line.seq !== options.withoutPageOf ? pageFor(sight, place, line) : undefined;
    if (page === undefined) {
      // What is still to be walked may be newer where both sides of a merge left a memory with the same meaning.
      const isNewest = lines.every(({ seq }) => seq < place.seq);
      yield* walkTouches(sight, run, head, place, line.upTo, { met, isNewest });
      reached = opNumber(place.seq, 0);
      lines.push({ seq: place.firstParent, excluded: line.excluded, upTo: lastOpOf(place.firstParent) });
      lines.push({
        seq: place.secondParent,
        excluded: withFirst(sight, place, line),
        upTo: lastOpOf(place.secondParent),
      });
      continue;
    }
    met = undefined;
    for (const { memory, key } of page.entries) {
      if (isExcluded(sight, line.excluded, seqOf(key))) yield { key: reached, live: undefined };
      else {
        reached = key;
        yield { key, live: newestIs(sight, head, memory, key) };
      }
    }
    if (page.end !== 0) lines.push(...linesAfter(sight, place.seq, page.end, line.excluded));
  }
}

/** What is left to walk below a changeset after an op: the last line comes first. */
function linesAfter(sight: Sight, from: number, after: number, excluded: readonly Place[]): Line[] {
  const lines: Line[] = [];
  let left = excluded;
  for (const { place, arrived } of findWay(sight, from, seqOf(after))) {
    if (arrived) lines.push({ seq: place.seq, excluded: left, upTo: after - 1 });
    else {
      lines.push({ seq: place.firstParent, excluded: left, upTo: lastOpOf(place.firstParent) });
      left = [...left, sight.places.get(place.firstParent)];
    }
  }
  return lines;
}

function withFirst(sight: Sight, place: Place, line: Line): readonly Place[] {
  return place.secondParent === 0 ? line.excluded : [...line.excluded, sight.places.get(place.firstParent)];
}

/** The page of a changeset, unless it helps no one: one that lists nothing but what the line leaves out. */
function pageFor(sight: Sight, place: Place, line: Line): RecencyPage | undefined {
  if (place.steps !== 0) return undefined;
  if (place.secondParent !== 0 && isExcluded(sight, line.excluded, place.secondParent)) return undefined;
  const page = findRecencyPage(sight.db, place.seq);
  if (page === undefined || page.end === 0 || line.excluded.length === 0) return page;
  return page.entries.some(({ key }) => !isExcluded(sight, line.excluded, seqOf(key))) ? page : undefined;
}

function isExcluded(sight: Sight, excluded: readonly Place[], seq: number): boolean {
  return excluded.length > 0 && seenOfAny(sight, excluded, sight.places.get(seq).chain) >= seq;
}

/** What a walk knows without asking. */
interface Walked {
  /** Memories whose newest touch was walked, to which these are added; undefined when some touches were left out. */
  readonly met: Set<number> | undefined;
  /** Nothing that is still to be walked is newer than this changeset. */
  readonly isNewest: boolean;
}

/** The touches of one changeset. */
function* walkTouches(
  sight: Sight,
  run: TouchRun,
  head: Place,
  place: Place,
  upTo: number,
  { met, isNewest }: Walked,
): IterableIterator<Scanned> {
  const from = opNumber(place.seq, 0);
  for (let below = upTo; below >= from; ) {
    const { touches, downTo } = readRun(sight, run, place.chain, below);
    const own = touches.filter((touch) => touch.key >= from && touch.key <= below);
    for (const key of new Set(own.map((touch) => touch.key))) {
      const ofOp = own.filter((touch) => touch.key === key);
      // Of an op that retired one memory and made another, the live one counts.
      const live = ofOp.find((touch) => isLive(touch));
      if (live === undefined || met?.has(live.memory)) yield { key, live: undefined };
      else yield { key, live: met !== undefined && isNewest ? live : newestIs(sight, head, live.memory, key) };
      if (met === undefined) continue;
      for (const { memory } of ofOp)
        if (isNewest || findNewestTouch(sight, [head], memory)?.key === key) met.add(memory);
    }
    below = downTo - 1;
  }
  yield { key: from, live: undefined };
}

/** The touches of one chain that were read last: all of them from `downTo` to `upTo`, newest first. */
interface TouchRun {
  chain: number;
  upTo: number;
  downTo: number;
  touches: readonly Touch[];
}

/** The touches of a chain at and below an op, read ahead: the changesets of a line are neighbours in their chain. */
function readRun(sight: Sight, run: TouchRun, chain: number, below: number): TouchRun {
  if (run.chain === chain && run.downTo <= below && below <= run.upTo) return run;
  const touches = listTouchesBack(sight.db, chain, 0, below, touchesPerRead);
  // An op touches two memories at most: a full read ends before its last op, which may not be whole.
  const last = touches.length < touchesPerRead ? undefined : touches.at(-1)?.key;
  run.chain = chain;
  run.upTo = below;
  run.downTo = last === undefined ? 0 : last + 1;
  run.touches = last === undefined ? touches : touches.filter((touch) => touch.key > last);
  return run;
}

/** The newest touch of a memory when it is this one and live. */
function newestIs(sight: Sight, head: Place, memory: number, key: number): Touch | undefined {
  const newest = findNewestTouch(sight, [head], memory);
  return newest?.key === key && isLive(newest) ? newest : undefined;
}
