import type { MemoryId } from '../../../src-preload/contract/ids.ts';
import { compareUtf8 } from '../../canonical/text.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import type { Place } from '../tables/chains.ts';
import { listBereft } from './bereft.ts';
import { memoryIdOf } from './identity.ts';
import { type ChainRange, countTouchesOf, openSight, rangesBeyond, type Sight } from './sight.ts';
import { findNewestTouch, seesTouch } from './state.ts';
import { touchesOfRange } from './touch-runs.ts';

/** Memories that both sides changed since they parted, or that one retired and the other let stand for a duplicate. */
export interface ContestedMemories {
  /** The first of them, by the bytes of their ids. */
  readonly memoryIds: readonly MemoryId[];
  readonly total: number;
}

/**
 * The memories that changesets of both sides touched since they parted, tested from the side with fewer touches (`L87`),
 * and those that stand for a duplicate of one side and that the other side retired (`L142`). A merge of such sides is
 * refused with these ids until typed conflicts decide. Cost follows the smaller side, and the marks of duplicates of both.
 * @param left and right: changeset numbers
 * @param limit most ids that are answered; `total` counts all
 */
export function contestedMemories(db: ReadableDb, left: number, right: number, limit: number): ContestedMemories {
  const sight = openSight(db);
  const numbers = new Set([...listContested(sight, left, right), ...listBereft(sight, left, right)]);
  const memoryIds = [...numbers].map((number) => memoryIdOf(db, number)).toSorted(compareUtf8);
  return { memoryIds: memoryIds.slice(0, limit), total: numbers.size };
}

/** Those that both sides touched, as numbers of memories, in the order in which the smaller side touched them first. */
export function listContested(sight: Sight, leftSeq: number, rightSeq: number): readonly number[] {
  const left = sight.places.get(leftSeq);
  const right = sight.places.get(rightSeq);
  const leftRanges = rangesBeyond(sight, left, right);
  const rightRanges = rangesBeyond(sight, right, left);
  if (countTouchesOf(leftRanges) <= countTouchesOf(rightRanges)) return contestedFrom(sight, leftRanges, left, right);
  return contestedFrom(sight, rightRanges, right, left);
}

/** A memory is contested when the newest touch that the other side sees is one that this side does not. */
function contestedFrom(sight: Sight, ranges: readonly ChainRange[], side: Place, other: Place): readonly number[] {
  const contested: number[] = [];
  for (const memory of memoriesIn(sight, ranges)) {
    const touch = findNewestTouch(sight, [other], memory);
    if (touch !== undefined && !seesTouch(sight, [side], touch)) contested.push(memory);
  }
  return contested;
}

/** The memories that runs of chains touch, each once, in the order of their first touch there. */
export function memoriesIn(sight: Sight, ranges: readonly ChainRange[]): ReadonlySet<number> {
  const memories = new Set<number>();
  for (const range of ranges) for (const touch of touchesOfRange(sight.db, range, 0)) memories.add(touch.memory);
  return memories;
}
