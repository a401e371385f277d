import type { Place } from '../tables/chains.ts';
import type { Touch } from '../tables/touches.ts';
import { openAccepted } from './accepted.ts';
import { differs, findContest } from './contested.ts';
import type { Found } from './draft.ts';
import { foundAt, mixedStates } from './mixed.ts';
import type { Sight } from './sight.ts';
import { findNewestTouch, isLive } from './state.ts';

/** The states that a new changeset begins with: those of all its parents together (`lethe.md` D8). */
export interface ParentsState {
  /**
   * A memory as the changeset's ops find it (`L90`): in its newest state that the parents see. One that both sides changed
   * to different meanings is found with the ops of the second side applied over the state of the first (`L144`).
   */
  find(memory: number): Found | undefined;
  /** Whether the newest touch that the parents see leaves the memory live: what the number of active memories counts. */
  isLiveBefore(memory: number): boolean;
}

/** Opens the states of none, one or two parents. Each memory costs its newest touch; a contested one what both sides did to it. */
export function openParents(sight: Sight, projectId: string, parents: readonly Place[]): ParentsState {
  const newest = new Map<number, Touch | undefined>();
  const findNewest = (memory: number): Touch | undefined => {
    if (!newest.has(memory))
      newest.set(memory, parents.length === 0 ? undefined : findNewestTouch(sight, parents, memory));
    return newest.get(memory);
  };
  const [left, right] = parents;
  const accepted = openAccepted(sight.db);
  return {
    isLiveBefore: (memory) => isLive(findNewest(memory)),
    find: (memory) => {
      const touch = findNewest(memory);
      const isMixed =
        left !== undefined && right !== undefined && differs(accepted, findContest(sight, left, right, memory));
      if (!isMixed || touch === undefined) return foundAt(sight, touch);
      const mixed = mixedStates(sight, { projectId, left, right }, [memory]).get(memory);
      // A state that was never stored: what an op retires keeps that of the side that touched it last.
      return mixed === undefined ? undefined : { ...mixed, kept: touch.version };
    },
  };
}
