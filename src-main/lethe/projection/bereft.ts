import { assert } from '../../base/assert.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { lastOpOf, seqOf } from '../rules/numbers.ts';
import { findSecondEnd } from '../rules/op-ends.ts';
import type { Place } from '../tables/chains.ts';
import { findChangesetRowBySeq } from '../tables/changesets.ts';
import { decodeOp, findOpRow } from '../tables/ops.ts';
import { listDuplicatesOfChain, type Touch } from '../tables/touches.ts';
import { findMemoryNumber } from './identity.ts';
import { type ChainRange, rangesBeyond, type Sight } from './sight.ts';
import { findNewestTouch, isLive } from './state.ts';

const marksPerRead = 256;
/** Memories that are followed from one that stays to what became of it. */
const followedMax = 1_000;

/**
 * The memories that were to stay for a duplicate of one side, and that the other side retired with nothing in their place:
 * merged, both texts would be gone without anybody having said so (`L142`). Each once, in the order of the marks. Cost
 * follows the marks that only one side has.
 * @param leftSeq and rightSeq: changeset numbers
 */
export function listBereft(sight: Sight, leftSeq: number, rightSeq: number): readonly number[] {
  const left = sight.places.get(leftSeq);
  const right = sight.places.get(rightSeq);
  const bereft = new Set<number>();
  for (const [own, other] of [
    [left, right],
    [right, left],
  ] as const) {
    for (const mark of marksOf(sight.db, rangesBeyond(sight, own, other))) {
      // An id can be given again after its memory was retired: then the mark says nothing any more.
      if (findNewestTouch(sight, [own], mark.memory)?.key !== mark.key) continue;
      const stays = stayingOf(sight.db, mark);
      if (stays === undefined) continue;
      if (isStoodFor(sight, [own], stays) && !isStoodFor(sight, [own, other], stays)) bereft.add(stays);
    }
  }
  return [...bereft];
}

function* marksOf(db: ReadableDb, ranges: readonly ChainRange[]): IterableIterator<Touch> {
  for (const { chain, after, upTo } of ranges) {
    let from = after === 0 ? 0 : lastOpOf(after);
    for (let full = true; full; ) {
      const marks = listDuplicatesOfChain(db, chain, from, lastOpOf(upTo), marksPerRead);
      yield* marks;
      full = marks.length === marksPerRead;
      from = marks.at(-1)?.key ?? from;
    }
  }
}

/** Whether a memory is live at the heads, or what it was corrected to, superseded by, or marked a duplicate of. */
function isStoodFor(sight: Sight, heads: readonly Place[], memory: number): boolean {
  const followed = new Set<number>();
  for (let one: number | undefined = memory; one !== undefined && !followed.has(one); ) {
    if (followed.size === followedMax) return false;
    followed.add(one);
    const touch = findNewestTouch(sight, heads, one);
    if (isLive(touch)) return true;
    one = touch === undefined ? undefined : successorOf(sight.db, touch);
  }
  return false;
}

/** What a retired memory was corrected to, superseded by or marked a duplicate of; undefined when nothing came in its place. */
export function successorOf(db: ReadableDb, touch: Touch): number | undefined {
  if (touch.status === 'duplicate') return stayingOf(db, touch);
  return touch.status === 'corrected' || touch.status === 'superseded' ? touch.linked : undefined;
}

/** The memory that stays for one that was marked a duplicate; undefined when the project has never known it. */
function stayingOf(db: ReadableDb, mark: Touch): number | undefined {
  const row = findOpRow(db, mark.key);
  const changeset = findChangesetRowBySeq(db, seqOf(mark.key));
  assert(row !== undefined && changeset !== undefined, 'a touch is made by a stored op');
  const stays = findSecondEnd(decodeOp(row));
  return stays === undefined ? undefined : findMemoryNumber(db, changeset.project_id, stays);
}
