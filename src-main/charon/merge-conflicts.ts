import type { Conflict } from '../../src-preload/contract/conflict.ts';
import type { ChangesetId } from '../../src-preload/contract/ids.ts';
import { type PlannedResolution, sidesOf } from './conflicts-now.ts';
import type { CharonContext } from './context.ts';
import type { ProposalNow } from './proposal-now.ts';
import { aboutOf, openConflicts } from './rules/merge-shape.ts';
import { resolutionNote } from './rules/resolution-note.ts';
import type { DetectionSides } from './store-port.ts';
import type { StoredProposal } from './tables/proposals.ts';

/**
 * Keeps what stands between the two sides at the moment of a merge, bound to its proposal, and resolves what the merge's own
 * changeset settles (`charon.md` §4). A cherry-pick has no second side in its history: there it is what stands between
 * the target and the new head. Throws `OPEN_CONFLICT` for a blocking one that nothing was drafted for.
 */
export async function settleConflicts(
  context: CharonContext,
  { now, merger }: { readonly now: ProposalNow; readonly merger: string },
  newHead: ChangesetId,
): Promise<void> {
  const { store } = context;
  const { stored, targetHead, found } = now;
  const isPick = stored.selected_ops !== null;
  const sides: DetectionSides = {
    ...sidesOf(stored, targetHead),
    ...(isPick ? { rightChangesetId: newHead } : {}),
  };
  const conflicts = isPick ? await store.detectConflicts(sides) : found.conflicts;
  if (conflicts.length === 0) return;
  const kept = await store.persistConflicts({
    sides,
    proposalId: stored.proposal_id,
    conflictIds: conflicts.map(({ conflict_id: id }) => id),
    principal: merger,
  });
  const open = kept.filter(({ severity, status }) => severity === 'blocking' && status === 'open');
  const settled = open.map((conflict) => ({ conflict, by: findSettling(conflict, found.resolutions, isPick) }));
  const unsettled = settled.filter(({ by }) => by === undefined).map(({ conflict }) => conflict);
  if (unsettled.length > 0) throw openConflicts(unsettled);
  for (const { conflict, by } of settled) {
    if (by === undefined) continue;
    await store.resolveConflict({
      projectId: stored.project_id,
      conflictId: conflict.conflict_id,
      note: resolutionNote(stored.proposal_id, by.chosen.choice, by.chosen.note),
      principal: merger,
    });
  }
}

/**
 * After a refused merge: when the target holds the proposal's side by now, by the merge of another proposal, what this one
 * kept is past, and must not withhold anything. Never throws.
 */
export async function releaseContained(context: CharonContext, stored: StoredProposal): Promise<void> {
  const { store } = context;
  const { project_id: projectId, proposal_id: proposalId } = stored;
  try {
    const target = await store.findRef(projectId, stored.target_ref);
    if (target === undefined || !(await store.isAncestor(stored.head_changeset_id, target.head_changeset_id))) return;
    await store.retireConflicts({ projectId, proposalId, status: 'canceled' });
  } catch (thrown) {
    context.log.warn({ err: thrown, proposal: proposalId }, 'what a refused merge kept ends with its proposal');
  }
}

/**
 * The resolution that a conflict was settled by: of the same key. Between a target and what was picked onto it, what the
 * resolutions wrote is said as well and may make it another key; there it is the one about the same memories.
 */
function findSettling(
  conflict: Conflict,
  resolutions: readonly PlannedResolution[],
  isPick: boolean,
): PlannedResolution | undefined {
  const exact = resolutions.find(({ conflict: one }) => one.conflict_key === conflict.conflict_key);
  if (exact !== undefined || !isPick) return exact;
  return resolutions.find(({ conflict: one }) => aboutOf(one) === aboutOf(conflict));
}
