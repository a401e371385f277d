import type { CharonContext } from './context.ts';
import { keptPicks } from './merge-ops.ts';
import { listMissingPicks, type PickedOp } from './picks.ts';
import type { ProposalNow } from './proposal-now.ts';
import { findMadeMemory, findTouchedMemory, listNeededMemories } from './rules/op-reach.ts';
import { isLive } from './rules/resolution-writing.ts';

/**
 * The first op of a cherry-pick that leads to a memory which the target has retired since it was filed: no conflict tells of it,
 * as nothing is changed there, and the copy cannot be written (`C180`). Undefined where there is none, of a proposal of a
 * whole head, and while the target stands where it stood. Cost follows the ops.
 */
export async function findLostEnd(context: CharonContext, now: ProposalNow): Promise<PickedOp | undefined> {
  const { stored, targetHead, found } = now;
  if (stored.selected_ops === null || targetHead === stored.target_head) return undefined;
  const replaced = new Set(found.resolutions.flatMap(({ plan }) => (plan.kind === 'ops' ? plan.replaced : [])));
  const picks = keptPicks(await listMissingPicks(context, stored, targetHead), replaced);
  // A memory that a pick changes or makes is the business of conflicts.
  const known = new Set<string | undefined>();
  for (const { changeset, op } of picks)
    known.add(findTouchedMemory(op)).add(findMadeMemory(changeset.changeset_id, op));
  for (const pick of picks) {
    for (const memoryId of listNeededMemories(pick.op)) {
      if (known.has(memoryId)) continue;
      if (!isLive((await context.store.findMemory(stored.project_id, memoryId, targetHead)) ?? null)) return pick;
    }
  }
  return undefined;
}
