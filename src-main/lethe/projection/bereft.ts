import type { Op } from '../../../src-preload/contract/changeset.ts';
import { assert } from '../../base/assert.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { lastOpOf, seqOf } from '../rules/numbers.ts';
import { findSecondEnd } from '../rules/op-ends.ts';
import { restoredAt } from '../rules/op-fields.ts';
import type { Place } from '../tables/chains.ts';
import { findChangesetRowBySeq } from '../tables/changesets.ts';
import { findChangesetSeq } from '../tables/memory-ids.ts';
import { decodeOp, findOpRow } from '../tables/ops.ts';
import { listDuplicatesOfChain, type Touch } from '../tables/touches.ts';
import { findMemoryNumber } from './identity.ts';
import { type ChainRange, openSight, rangesBeyond, type Sight } from './sight.ts';
import { findNewestTouch, isLive } from './state.ts';

const marksPerRead = 256;
/** Memories that are followed from one that stays to what became of it. */
const followedMax = 1_000;

/**
 * The memories that were to stay for a duplicate of one side, and that the other side retired with nothing in their place:
 * merged, both texts would be gone without anybody having said so (`L142`). Each once, in the order of the marks, with the
 * memories of which one has to be decided about: itself, its duplicates, and what stands for it on either side. Cost
 * follows the marks that only one side has.
 * @param leftSeq and rightSeq: changeset numbers
 */
export function listBereft(sight: Sight, leftSeq: number, rightSeq: number): ReadonlyMap<number, ReadonlySet<number>> {
  const left = sight.places.get(leftSeq);
  const right = sight.places.get(rightSeq);
  const bereft = new Map<number, Set<number>>();
  for (const [own, other] of [
    [left, right],
    [right, left],
  ] as const) {
    for (const mark of marksOf(sight.db, rangesBeyond(sight, own, other))) {
      // An id can be given again after its memory was retired: then the mark says nothing any more.
      if (findNewestTouch(sight, [own], mark.memory)?.key !== mark.key) continue;
      const stays = stayingOf(sight.db, mark);
      if (stays === undefined) continue;
      const [onOwn, onBoth] = [standInsOf(sight, [own], stays), standInsOf(sight, [own, other], stays)];
      if (!onOwn.isLive || onBoth.isLive) continue;
      const known = bereft.get(stays) ?? new Set();
      const onOther = standInsOf(sight, [other], stays);
      bereft.set(stays, new Set([...known, mark.memory, ...onOwn.followed, ...onOther.followed, ...onBoth.followed]));
    }
  }
  return bereft;
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

/** A memory and what it was corrected to, superseded by, or marked a duplicate of, up to the first one that is live at the heads. */
function standInsOf(
  sight: Sight,
  heads: readonly Place[],
  memory: number,
): { readonly isLive: boolean; readonly followed: ReadonlySet<number> } {
  const followed = new Set<number>();
  for (let one: number | undefined = memory; one !== undefined && !followed.has(one); ) {
    if (followed.size === followedMax) break;
    followed.add(one);
    const touch = findNewestTouch(sight, heads, one);
    if (isLive(touch)) return { isLive: true, followed };
    one = touch === undefined ? undefined : successorOf(sight.db, touch);
  }
  return { isLive: false, followed };
}

/** What a retired memory was corrected to, superseded by or marked a duplicate of; undefined when nothing came in its place. */
export function successorOf(db: ReadableDb, touch: Touch): number | undefined {
  if (touch.status === 'duplicate') return stayingOf(db, touch);
  return touch.status === 'corrected' || touch.status === 'superseded' ? touch.linked : undefined;
}

/** The memory that stays for one that was marked a duplicate; undefined when the project has never known it. */
function stayingOf(db: ReadableDb, touch: Touch): number | undefined {
  const sight = openSight(db);
  let mark: Touch | undefined = touch;
  for (let followed = 0; mark?.status === 'duplicate' && followed < followedMax; followed += 1) {
    const row = findOpRow(db, mark.key);
    const op = row === undefined ? undefined : decodeOp(row);
    const changeset = findChangesetRowBySeq(db, seqOf(mark.key));
    assert(changeset !== undefined, 'a touch is made by a stored changeset');
    if (op !== undefined && restoredAt(op) === undefined) {
      const stays = findSecondEnd(op);
      return stays === undefined ? undefined : findMemoryNumber(db, changeset.project_id, stays);
    }
    mark = findMarkBehind(sight, changeset.project_id, mark, op);
  }
  return undefined;
}

/** The touch whose state a restoring op, or a merge without one, brought back. */
function findMarkBehind(sight: Sight, projectId: string, mark: Touch, op: Op | undefined): Touch | undefined {
  const place = sight.places.get(seqOf(mark.key));
  const restored = op === undefined ? undefined : findChangesetSeq(sight.db, projectId, restoredAt(op) ?? '');
  const seqs = op === undefined ? [place.secondParent, place.firstParent] : [restored ?? 0];
  return seqs
    .flatMap((seq) => (seq === 0 ? [] : (findNewestTouch(sight, [sight.places.get(seq)], mark.memory) ?? [])))
    .find(({ status }) => status === 'duplicate');
}
