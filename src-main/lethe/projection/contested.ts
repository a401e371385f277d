import type { MemoryId } from '../../../src-preload/contract/ids.ts';
import { compareUtf8 } from '../../canonical/text.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { meansSame } from '../rules/meaning.ts';
import type { Place } from '../tables/chains.ts';
import type { Touch } from '../tables/touches.ts';
import { type AcceptedReader, openAccepted } from './accepted.ts';
import { listBereft } from './bereft.ts';
import { memoryIdOf } from './identity.ts';
import { type ChainRange, countTouchesOf, openSight, rangesBeyond, type Sight } from './sight.ts';
import { findNewestTouch, seesTouch } from './state.ts';
import { touchesOfRange } from './touch-runs.ts';

/** Memories that a merge has to decide about, as they are named to people. */
export interface ContestedMemories {
  /** The first of them, by the bytes of their ids. */
  readonly memoryIds: readonly MemoryId[];
  readonly total: number;
}

/** Memories that a merge has to decide about, by number. */
export interface Undecided {
  /** Those that both sides changed to different meanings since they parted (`L23`). */
  readonly contested: readonly number[];
  /** Those that one side retired and the other let stand for a duplicate (`L142`). */
  readonly bereft: readonly number[];
}

/** Most of them that a refusal names. */
export const contestedNamedMax = 100;

/** What a merge of two sides would have to decide about: as a preview names it. Cost as that of `listUndecided`. */
export function contestedMemories(db: ReadableDb, left: number, right: number, limit: number): ContestedMemories {
  const sight = openSight(db);
  return nameUndecided(db, listUndecided(sight, left, right, new Set()), limit);
}

/** The ids of what a merge has to decide about. */
export function nameUndecided(db: ReadableDb, { contested, bereft }: Undecided, limit: number): ContestedMemories {
  const numbers = new Set([...contested, ...bereft]);
  const memoryIds = [...numbers].map((number) => memoryIdOf(db, number)).toSorted(compareUtf8);
  return { memoryIds: memoryIds.slice(0, limit), total: numbers.size };
}

/**
 * The memories that both sides changed to different meanings, and those that would be left without anything in their place,
 * but for those that ops of the merge touch (`L23`, `L142`). Cost follows the side with fewer touches, what both changed,
 * and the marks of duplicates of both.
 * @param leftSeq and rightSeq: changeset numbers
 * @param touched memories that an op of the merge touches
 */
export function listUndecided(
  sight: Sight,
  leftSeq: number,
  rightSeq: number,
  touched: ReadonlySet<number>,
): Undecided {
  const left = sight.places.get(leftSeq);
  const right = sight.places.get(rightSeq);
  const accepted = openAccepted(sight.db);
  const contested = listContested(sight, leftSeq, rightSeq).filter(
    (memory) => !touched.has(memory) && differs(accepted, findContest(sight, left, right, memory)),
  );
  const bereft = [...listBereft(sight, leftSeq, rightSeq)].flatMap(([memory, standIns]) =>
    [...standIns].some((one) => touched.has(one)) ? [] : [memory],
  );
  return { contested, bereft };
}

/**
 * The memories with which a merge can say what becomes of what it has to decide about: those that both sides changed to
 * different meanings, and of those that would be gone unsaid they, their duplicates and what stands for them. Cost as that of
 * `listUndecided`.
 */
export function memoriesToDecide(sight: Sight, leftSeq: number, rightSeq: number): ReadonlySet<number> {
  const { contested } = listUndecided(sight, leftSeq, rightSeq, new Set());
  const bereft = [...listBereft(sight, leftSeq, rightSeq)].flatMap(([memory, standIns]) => [memory, ...standIns]);
  return new Set([...contested, ...bereft]);
}

/** Those that both sides touched, as numbers of memories, in the order in which the smaller side touched them first (`L87`). */
export function listContested(sight: Sight, leftSeq: number, rightSeq: number): readonly number[] {
  const left = sight.places.get(leftSeq);
  const right = sight.places.get(rightSeq);
  const leftRanges = rangesBeyond(sight, left, right);
  const rightRanges = rangesBeyond(sight, right, left);
  const isLeftSmaller = countTouchesOf(leftRanges) <= countTouchesOf(rightRanges);
  const [ranges, side, other] = isLeftSmaller ? [leftRanges, left, right] : [rightRanges, right, left];
  return [...memoriesIn(sight, ranges)].filter((memory) => {
    const touch = findNewestTouch(sight, [other], memory);
    if (touch === undefined || seesTouch(sight, [side], touch)) return false;
    return findContest(sight, left, right, memory) !== undefined;
  });
}

/** The two states of a memory that both sides changed since they parted. */
export interface Contest {
  readonly left: Touch;
  readonly right: Touch;
}

/** The newest states of a memory when neither side has seen the other's; undefined when one has (`L87`). */
export function findContest(sight: Sight, left: Place, right: Place, memory: number): Contest | undefined {
  const onRight = findNewestTouch(sight, [right], memory);
  if (onRight === undefined || seesTouch(sight, [left], onRight)) return undefined;
  const onLeft = findNewestTouch(sight, [left], memory);
  if (onLeft === undefined || seesTouch(sight, [right], onLeft)) return undefined;
  return { left: onLeft, right: onRight };
}

/** Whether the two states of a contested memory say something different. */
export function differs(accepted: AcceptedReader, contest: Contest | undefined): contest is Contest {
  return contest !== undefined && !meansSame(accepted.read(contest.left), accepted.read(contest.right));
}

/** The memories that runs of chains touch, each once, in the order of their first touch there. */
export function memoriesIn(sight: Sight, ranges: readonly ChainRange[]): ReadonlySet<number> {
  const memories = new Set<number>();
  for (const range of ranges) for (const touch of touchesOfRange(sight.db, range, 0)) memories.add(touch.memory);
  return memories;
}
