import { lastOpOf } from '../rules/numbers.ts';
import type { Place } from '../tables/chains.ts';
import type { Touch } from '../tables/touches.ts';
import { successorOf } from './bereft.ts';
import { type ChainRange, rangesBeyond, type Sight, seenOf } from './sight.ts';
import { findNewestSeen, findNewestTouch, isLive, seesTouch } from './state.ts';
import { touchesOfRange } from './touch-runs.ts';

/** A memory that one side, or both, touched since they parted: where it stands. */
export interface TouchedMemory {
  readonly memory: number;
  /** The left side has it in a state that the right one does not see. */
  readonly isByLeft: boolean;
  /** The right side has it in a state that the left one does not see. */
  readonly isByRight: boolean;
  /** Its newest touch that both sides see; undefined when it came only after they parted. */
  readonly common: Touch | undefined;
  readonly left: Touch | undefined;
  readonly right: Touch | undefined;
}

/** Two sides and what each of them did that the other does not see (`lethe.md` §0.3). */
export interface PartedSides {
  readonly left: Place;
  readonly right: Place;
  readonly leftRanges: readonly ChainRange[];
  readonly rightRanges: readonly ChainRange[];
  /** By the number of the memory. */
  readonly touched: ReadonlyMap<number, TouchedMemory>;
  /** The memories that an op of a unique changeset touched, by op number. */
  readonly memoriesOfOp: ReadonlyMap<number, readonly number[]>;
}

/** Reads what two sides did since they parted (`L161`): the touches of their unique changesets, and three states of each memory. */
export function readPartedSides(sight: Sight, leftSeq: number, rightSeq: number): PartedSides {
  const left = sight.places.get(leftSeq);
  const right = sight.places.get(rightSeq);
  const leftRanges = rangesBeyond(sight, left, right);
  const rightRanges = rangesBeyond(sight, right, left);
  const memoriesOfOp = new Map<number, number[]>();
  const byLeft = collectMemories(sight, leftRanges, memoriesOfOp);
  const byRight = collectMemories(sight, rightRanges, memoriesOfOp);
  const touched = new Map<number, TouchedMemory>();
  for (const memory of new Set([...byLeft, ...byRight])) {
    const atLeft = findNewestTouch(sight, [left], memory);
    const atRight = findNewestTouch(sight, [right], memory);
    // Of two states that mean the same a merge keeps the newer one: a side may have touched a memory and not have its state.
    const isByLeft = atLeft !== undefined && !seesTouch(sight, [right], atLeft);
    const isByRight = atRight !== undefined && !seesTouch(sight, [left], atRight);
    const common = !isByLeft ? atLeft : !isByRight ? atRight : findNewestCommonTouch(sight, left, right, memory);
    if (isByLeft || isByRight)
      touched.set(memory, { memory, isByLeft, isByRight, common, left: atLeft, right: atRight });
  }
  return { left, right, leftRanges, rightRanges, touched, memoriesOfOp };
}

function collectMemories(
  sight: Sight,
  ranges: readonly ChainRange[],
  memoriesOfOp: Map<number, number[]>,
): ReadonlySet<number> {
  const memories = new Set<number>();
  for (const range of ranges) {
    for (const { memory, key } of touchesOfRange(sight.db, range, 0)) {
      memories.add(memory);
      const ofOp = memoriesOfOp.get(key);
      if (ofOp === undefined) memoriesOfOp.set(key, [memory]);
      else ofOp.push(memory);
    }
  }
  return memories;
}

/**
 * The newest touch of a memory that both heads see: its state before they parted (`L161`). Both see a prefix of every chain,
 * so what they share is one too: no walk.
 */
export function findNewestCommonTouch(sight: Sight, left: Place, right: Place, memory: number): Touch | undefined {
  const upTo = lastOpOf(Math.min(left.seq, right.seq));
  return findNewestSeen(sight, memory, upTo, (chain) =>
    Math.min(seenOf(sight, left, chain), seenOf(sight, right, chain)),
  );
}

/** Memories that are followed from one to what it became. */
const followedMax = 1_000;

/**
 * A memory and what became of it at a head, over corrections to a new id, replacements and marks of duplicates: up to the
 * first one that is live there, if one is.
 */
export function followHeirs(
  sight: Sight,
  head: Place,
  memory: number,
): { readonly followed: ReadonlySet<number>; readonly live: Touch | undefined } {
  const followed = new Set<number>();
  for (let one: number | undefined = memory; one !== undefined && !followed.has(one); ) {
    if (followed.size === followedMax) break;
    followed.add(one);
    const touch = findNewestTouch(sight, [head], one);
    if (isLive(touch)) return { followed, live: touch };
    one = touch === undefined ? undefined : successorOf(sight.db, touch);
  }
  return { followed, live: undefined };
}
