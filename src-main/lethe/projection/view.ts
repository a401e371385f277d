import type { ReadableDb } from '../../sqlite/driver.ts';
import type { PastState } from '../rules/validate-ops.ts';
import type { TouchStatus } from '../tables/touches.ts';
import { memoriesToDecide } from './contested.ts';
import { findMemoryNumber, findSeen } from './identity.ts';
import { openParents } from './parents.ts';
import { openSight, sees } from './sight.ts';
import { findNewestTouch, isLive, isLiveStatus } from './state.ts';

/** The state that a new changeset is validated against: that of all its parents together (`lethe.md` D8). */
export interface ParentsView {
  /** Whether the memory is active, and so can be targeted. */
  isActive(memoryId: string): boolean;
  /** Whether a merge of these parents has to decide about the memory (`L23`, `L142`); never where there is one parent. */
  mustDecide(memoryId: string): boolean;
  /** What became of the memory; undefined when the parents have never known it. */
  findStatus(memoryId: string): TouchStatus | undefined;
  /** What the memory was at a changeset that the parents see (`L146`). */
  findPast(memoryId: string, changesetId: string): PastState;
}

/**
 * Opens the state of the parents (`L108`). Each id costs a lookup and the newest touch of its memory; one that both parents
 * changed differently, what they did to it (`L144`). Asking whether a merge must decide about one costs once what `listUndecided` costs.
 * @param parents changeset numbers; none means the empty state
 */
export function parentsView(db: ReadableDb, projectId: string, parents: readonly number[]): ParentsView {
  const sight = openSight(db);
  const heads = parents.map((parent) => sight.places.get(parent));
  const state = openParents(sight, projectId, heads);
  const findStatus = (memoryId: string): TouchStatus | undefined => {
    const number = heads.length === 0 ? undefined : findMemoryNumber(db, projectId, memoryId);
    return number === undefined ? undefined : state.find(number)?.status;
  };
  let undecided: ReadonlySet<number> | undefined;
  const mustDecide = (memoryId: string): boolean => {
    const [left, right] = heads;
    const number = findMemoryNumber(db, projectId, memoryId);
    if (left === undefined || right === undefined || number === undefined) return false;
    undecided ??= memoriesToDecide(sight, left.seq, right.seq);
    return undecided.has(number);
  };
  return {
    findStatus,
    mustDecide,
    isActive: (memoryId) => isLiveStatus(findStatus(memoryId)),
    findPast: (memoryId, changesetId) => {
      const past = findSeen(sight, projectId, heads, changesetId);
      if (past === undefined) return 'unseen';
      const number = findMemoryNumber(db, projectId, memoryId);
      const touch = number === undefined ? undefined : findNewestTouch(sight, [past], number);
      if (touch === undefined) return 'unknown';
      return isLive(touch) ? 'active' : 'retired';
    },
  };
}

/** Whether a changeset is another one or an ancestor of it (`L84`). Both are changeset numbers of the index. */
export function isAncestor(db: ReadableDb, ancestor: number, descendant: number): boolean {
  return sees(openSight(db), descendant, ancestor);
}
