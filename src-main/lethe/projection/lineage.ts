import { lastOpOf } from '../rules/numbers.ts';
import type { Place } from '../tables/chains.ts';
import { listLinkedTouches, listTouchesOfMemory, type Touch } from '../tables/touches.ts';
import type { Sight } from './sight.ts';
import { seesTouch } from './state.ts';

/** Memories of one lineage that are followed at most, each way from the one asked for. */
export const lineageMemoriesMax = 1_000;
/** Links of one memory that are followed: an id can be given again after its memory was retired. */
const linksMax = 64;
/** Touches that one page of a lineage looks at. */
export const lineageScanMax = 2_000;

/**
 * The memories that one came from and became, at a head: over corrections to a new id and supersessions with a
 * replacement, both ways (`L104`). Ascending by number; the memory itself is among them.
 */
export function listLineage(sight: Sight, head: Place, memory: number): readonly number[] {
  const lineage = new Set([memory]);
  for (const one of lineage) {
    if (lineage.size > 2 * lineageMemoriesMax) break;
    for (const touch of listLinkedTouches(sight.db, one, lastOpOf(head.seq), linksMax)) {
      if (touch.linked !== undefined && seesTouch(sight, [head], touch)) lineage.add(touch.linked);
    }
  }
  return [...lineage].toSorted((one, other) => one - other);
}

/** A page of the touches of a lineage: one or two of an op. */
export interface LineagePage {
  /** Op numbers of the page, oldest first, with what each touched. */
  readonly ops: ReadonlyMap<number, readonly Touch[]>;
  /** Op number after which the next page starts. */
  readonly next: number | undefined;
}

/**
 * The next ops after `after` that touched a memory of a lineage and that the head sees, oldest first, `limit` at most.
 * A page that has looked at `lineageScanMax` touches ends there, short.
 */
export function readLineagePage(
  sight: Sight,
  head: Place,
  lineage: readonly number[],
  after: number,
  limit: number,
): LineagePage {
  const found: Touch[] = [];
  let upTo = lastOpOf(head.seq);
  for (const memory of lineage) {
    // A memory is never touched before the op that its number is.
    if (memory > upTo) break;
    const reach = readTouches(sight, head, memory, after, upTo, limit + 1, found);
    const keys = [...new Set(found.map((touch) => touch.key))].toSorted((one, other) => one - other);
    upTo = Math.min(upTo, reach, keys[limit] ?? upTo);
  }
  const inReach = found.filter((touch) => touch.key <= upTo);
  const ops = new Map(
    [...Map.groupBy(inReach, (touch) => touch.key)].toSorted(([one], [other]) => one - other).slice(0, limit),
  );
  const last = [...ops.keys()].at(-1);
  const full = ops.size === limit && inReach.some((touch) => touch.key > (last ?? 0));
  if (full) return { ops, next: last };
  return { ops, next: upTo < lastOpOf(head.seq) ? upTo : undefined };
}

/** Collects visible touches of one memory, in steps; answers how far it has looked. */
function readTouches(
  sight: Sight,
  head: Place,
  memory: number,
  after: number,
  upTo: number,
  wanted: number,
  found: Touch[],
): number {
  let from = after;
  let seen = 0;
  for (let scanned = 0; scanned < lineageScanMax; ) {
    const touches = listTouchesOfMemory(sight.db, memory, from, upTo, wanted);
    const visible = touches.filter((touch) => seesTouch(sight, [head], touch));
    found.push(...visible);
    if (touches.length < wanted) return upTo;
    scanned += touches.length;
    seen += visible.length;
    from = touches.at(-1)?.key ?? upTo;
    if (seen >= wanted) break;
  }
  return from;
}
