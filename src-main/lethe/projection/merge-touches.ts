import { opsMax } from '../../../src-preload/contract/limits.ts';
import { Fault } from '../../base/fault.ts';
import { compareUtf8 } from '../../canonical/text.ts';
import { opNumber, opsPerChangeset } from '../rules/numbers.ts';
import type { Version } from '../rules/overlay.ts';
import type { Place } from '../tables/chains.ts';
import type { Touch } from '../tables/touches.ts';
import type { AppliedChangeset, AppliedOps } from './apply.ts';
import { memoryIdOf } from './identity.ts';
import { madeOf, mixedStates } from './mixed.ts';
import type { Sight } from './sight.ts';
import { findNewestTouch, isLive, isLiveStatus } from './state.ts';

/** Memories that one merge can decide about without an op: their touches have the numbers above those of its ops. */
const mergeTouchesMax = opsPerChangeset - opsMax;

/**
 * What a changeset does to the index with the touches of a merge that is silent about contested memories (`L151`): one for
 * each of them, and one for each memory that corrections of the second side made of them, in the order of their ids,
 * numbered behind the ops. Nothing where nothing is contested. Throws INPUT_INVALID when there are more than fit.
 */
export function withMergeTouches(
  sight: Sight,
  changeset: AppliedChangeset,
  parents: readonly Place[],
  chain: number,
  applied: AppliedOps,
  contested: readonly number[],
): AppliedOps {
  const [left, right] = parents;
  if (contested.length === 0 || left === undefined || right === undefined) return applied;
  const { projectId, seq } = changeset;
  const touched = new Set(applied.touches.map(({ memory }) => memory));
  const made = madeOf(sight, { projectId, left, right }, contested).filter((memory) => !touched.has(memory));
  const mixed = mixedStates(sight, { projectId, left, right }, [...contested, ...made]);
  const decided = [...mixed.values()].filter((found) => found !== undefined);
  if (decided.length > mergeTouchesMax) throw tooMany();
  const inOrder = decided
    .map((found) => ({ found, id: memoryIdOf(sight.db, found.memory) }))
    .toSorted((one, other) => compareUtf8(one.id, other.id));
  const touches: Touch[] = [];
  const versions: Version[] = [];
  let { activeChange } = applied;
  for (const [index, { found }] of inOrder.entries()) {
    const key = opNumber(seq, opsMax + index);
    const { memory, status, linked } = found;
    touches.push({ memory, key, chain, version: key, status, linked });
    versions.push({ ...found.state(), version: key });
    activeChange += Number(isLiveStatus(status)) - Number(isLive(findNewestTouch(sight, parents, memory)));
  }
  return {
    ...applied,
    touches: [...applied.touches, ...touches],
    versions: [...applied.versions, ...versions],
    activeChange,
  };
}

function tooMany(): Fault {
  return new Fault(
    'INPUT_INVALID',
    `parent_ids: a merge that both sides changed more than ${mergeTouchesMax} memories of cannot be taken in without ops that decide about them.`,
    { field: 'parent_ids' },
  );
}
