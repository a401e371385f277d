import type { Op } from '../../src-preload/contract/changeset.ts';
import type { CharonContext } from './context.ts';
import { listMissingPicks, type PickedOp } from './picks.ts';
import type { ProposalNow } from './proposal-now.ts';
import { numbered } from './rules/combine-plans.ts';
import { reviewedMergeMarker } from './rules/merge-shape.ts';
import { findMadeMemory, findTouchedMemory, listNeededMemories } from './rules/op-reach.ts';
import { isThreeWay } from './rules/resolution-plan.ts';
import type { PlannedOp } from './rules/resolution-writing.ts';

/** The ops of a merge's own changeset (`charon.md` §4): what marks it or what it picks, and what settles the conflicts. */
export async function writeOps(context: CharonContext, now: ProposalNow): Promise<readonly Op[]> {
  const { stored, found, targetHead } = now;
  if (stored.selected_ops === null) {
    const marker = reviewedMergeMarker(stored.proposal_id, stored.head_changeset_id);
    const settling = found.resolutions.flatMap(({ plan }) => (plan.kind === 'ops' ? plan.ops : []));
    return [marker, ...numbered(settling, 1)];
  }
  const picks = await listMissingPicks(context, stored, targetHead);
  const from = { cherrypicked_from: stored.head_changeset_id };
  const settling = (isState: boolean): readonly PlannedOp[] =>
    found.resolutions
      .filter(({ conflict }) => isThreeWay(conflict) === isState)
      .flatMap(({ plan }) => (plan.kind === 'ops' ? plan.ops : []))
      .map((op) => ({ ...op, payload: { ...op.payload, ...from } }));
  const replaced = found.resolutions.flatMap(({ plan }) => (plan.kind === 'ops' ? plan.replaced : []));
  return numbered([...settling(true), ...copyPicks(picks, new Set(replaced)), ...settling(false)], 0);
}

/**
 * Picked ops as they are copied: a memory that one makes keeps its id, and every one says where it is from. Those on
 * memories that a resolution stands for are left out, with those that build on what they would have made.
 */
export function copyPicks(picks: readonly PickedOp[], replaced: ReadonlySet<string>): readonly PlannedOp[] {
  const absent = new Set<string>();
  const copies: PlannedOp[] = [];
  for (const { changeset, op } of picks) {
    const made = findMadeMemory(changeset.changeset_id, op);
    const touched = findTouchedMemory(op) ?? made;
    if (replaced.has(touched ?? '') || listNeededMemories(op).some((id) => absent.has(id))) {
      if (made !== undefined) absent.add(made);
      continue;
    }
    const { ordinal: _ordinal, ...rest } = op;
    copies.push({
      ...rest,
      ...(made === undefined ? {} : { resulting_event_id: made }),
      payload: { ...op.payload, cherrypicked_from: changeset.changeset_id },
    });
  }
  return copies;
}
