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
  return numbered([...settling(true), ...keptPicks(picks, new Set(replaced)).map(copyOf), ...settling(false)], 0);
}

/**
 * The picked ops that are copied: those on memories that a resolution stands for are left out, with those that build on what
 * they would have made.
 */
export function keptPicks(picks: readonly PickedOp[], replaced: ReadonlySet<string>): readonly PickedOp[] {
  const absent = new Set<string>();
  return picks.filter(({ changeset, op }) => {
    const made = findMadeMemory(changeset.changeset_id, op);
    const touched = findTouchedMemory(op) ?? made;
    const isLeftOut = replaced.has(touched ?? '') || listNeededMemories(op).some((id) => absent.has(id));
    if (isLeftOut && made !== undefined) absent.add(made);
    return !isLeftOut;
  });
}

/** A picked op as it is copied: a memory that it makes keeps its id, and it says where it is from. */
function copyOf({ changeset, op }: PickedOp): PlannedOp {
  const made = findMadeMemory(changeset.changeset_id, op);
  const { ordinal: _ordinal, ...rest } = op;
  return {
    ...rest,
    ...(made === undefined ? {} : { resulting_event_id: made }),
    payload: { ...op.payload, cherrypicked_from: changeset.changeset_id },
  };
}
