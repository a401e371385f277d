import { lastOpOf, seqOf } from '../rules/numbers.ts';
import type { Place } from '../tables/chains.ts';
import { decodeOp, findOpRow } from '../tables/ops.ts';
import { findTouch, listTouchesInChain, type Touch } from '../tables/touches.ts';
import { type Found, openDraft } from './draft.ts';
import { changesetIdOf } from './identity.ts';
import { applyOp } from './op-changes.ts';
import { type ChainRange, rangesBeyond, type Sight } from './sight.ts';
import { findNewestTouch, isRetiredStatus, loadVersion } from './state.ts';

/** Two sides that are merged. */
export interface TwoSides {
  readonly projectId: string;
  /** The first parent. */
  readonly left: Place;
  readonly right: Place;
}

const touchesPerRead = 256;

/**
 * What a merge that says nothing about some memories makes of them (`L144`, `lethe.md` §5): the ops that only the right side
 * has on them, and on what corrections made them of, applied in their order over the states of the left side. One level
 * deep: what merges of the right side made of its sides is left out. Cost follows those touches.
 */
export function mixedStates(
  sight: Sight,
  { projectId, left, right }: TwoSides,
  memories: readonly number[],
): ReadonlyMap<number, Found | undefined> {
  const draft = openDraft(
    {
      sight,
      projectId,
      parents: [left, right],
      findBefore: (memory) => foundAt(sight, findNewestTouch(sight, [left], memory)),
    },
    true,
  );
  const ranges = rangesBeyond(sight, right, left);
  for (const key of opsBehind(sight, ranges, memories)) {
    const row = findOpRow(sight.db, key);
    // A touch that a merge made has no op.
    if (row === undefined) continue;
    applyOp(draft, { op: decodeOp(row), seq: seqOf(key), changesetId: changesetIdOf(sight.db, seqOf(key)) });
  }
  return new Map(
    memories.map((memory) => [memory, draft.found.has(memory) ? draft.found.get(memory) : draft.findBefore(memory)]),
  );
}

/** The memory in the state that a touch left it in. */
export function foundAt(sight: Sight, touch: Touch | undefined): Found | undefined {
  if (touch === undefined) return undefined;
  const { memory, status, version } = touch;
  const linked = isRetiredStatus(status) ? touch.linked : undefined;
  return { memory, status, linked, state: () => loadVersion(sight.db, version), kept: version };
}

/** The ops of a side on some memories and on what they were made of, ascending. */
function opsBehind(sight: Sight, ranges: readonly ChainRange[], memories: readonly number[]): readonly number[] {
  const behind = new Set(memories);
  const ops = new Set<number>();
  for (const memory of behind) {
    for (const touch of touchesWithin(sight, ranges, memory)) {
      ops.add(touch.key);
      if (touch.linked !== undefined && !isRetiredStatus(touch.status)) behind.add(touch.linked);
    }
  }
  return [...ops].toSorted((one, other) => one - other);
}

/** The memories that corrections of the right side made of some, and of those, and so on (`L144`). */
export function madeOf(sight: Sight, { left, right }: TwoSides, memories: readonly number[]): readonly number[] {
  const ranges = rangesBeyond(sight, right, left);
  const asked = new Set(memories);
  const made = new Set(memories);
  for (const memory of made) {
    for (const touch of touchesWithin(sight, ranges, memory))
      if (touch.linked !== undefined && isCorrection(touch)) made.add(touch.linked);
  }
  return [...made].filter((memory) => !asked.has(memory));
}

/** The touches of one memory in runs of chains, in no particular order. */
function* touchesWithin(sight: Sight, ranges: readonly ChainRange[], memory: number): IterableIterator<Touch> {
  for (const { chain, after, upTo } of ranges) {
    const first = after < seqOf(memory) && seqOf(memory) <= upTo ? findTouch(sight.db, memory, memory) : undefined;
    if (first?.chain === chain) yield first;
    let from = after === 0 ? 0 : lastOpOf(after);
    for (let full = true; full; ) {
      const touches = listTouchesInChain(sight.db, memory, chain, from, lastOpOf(upTo), touchesPerRead);
      yield* touches;
      full = touches.length === touchesPerRead;
      from = touches.at(-1)?.key ?? from;
    }
  }
}

/** Whether an op corrected the memory to another one; one that was restored as corrected stands for itself. */
function isCorrection({ status, version, key }: Touch): boolean {
  return status === 'corrected' && version !== key;
}
