import type { Conflict } from '../../src-preload/contract/conflict.ts';
import { type DiffCategory, diffCategories, type SemanticDiff } from '../../src-preload/contract/diff.ts';
import { changePreviewMax, listLimitMax } from '../../src-preload/contract/limits.ts';
import type { MergePreview, ProposalPreview } from '../../src-preload/contract/proposal.ts';
import { detect } from './conflicts-now.ts';
import type { CharonContext } from './context.ts';
import { findLostEnd } from './lost-ends.ts';
import { listMissingPicks, selectedOf } from './picks.ts';
import { readChanges } from './proposal-detail.ts';
import type { ProposalNow } from './proposal-now.ts';

/** What a merge of an open proposal would do to its target as it stands (`charon.md` §4); writes nothing. */
export async function previewProposal(context: CharonContext, now: ProposalNow): Promise<ProposalPreview> {
  const { stored, targetHead, found } = now;
  const preview = await readMergePreview(context, now);
  const blocking = found.conflicts.filter(({ severity, status }) => severity === 'blocking' && status === 'open');
  const isMoved = targetHead !== stored.target_head;
  const before = new Set(
    isMoved ? (await detect(context, stored, stored.target_head)).map(({ conflict_key: key }) => key) : [],
  );
  const lost = await findLostEnd(context, now);
  return {
    ...preview,
    strategy: strategyOf(preview, now),
    ...(await countChanges(context, now)),
    blocking_by_type: countTypes(blocking),
    target_moved: isMoved,
    ...(lost === undefined ? {} : { lost_op: selectedOf(lost) }),
    new_conflicts: isMoved ? blocking.filter(({ conflict_key: key }) => !before.has(key)).length : 0,
  };
}

/**
 * What the store says of a merge of the two heads. Of a cherry-pick, what it takes from: there is nothing to merge when the
 * target contains every changeset of it.
 */
export async function readMergePreview(context: CharonContext, now: ProposalNow): Promise<MergePreview> {
  const { stored, targetHead } = now;
  const heads = { projectId: stored.project_id, targetHead, head: stored.head_changeset_id };
  const preview = await context.store.mergePreview(heads);
  if (stored.selected_ops === null || preview.strategy === 'nothing_to_merge') return preview;
  const picks = await listMissingPicks(context, stored, targetHead);
  return picks.length > 0 ? preview : { ...preview, strategy: 'nothing_to_merge' };
}

/** How the target would move, with what is drafted. */
function strategyOf(preview: MergePreview, { stored, found }: ProposalNow): MergePreview['strategy'] {
  if (preview.strategy === 'nothing_to_merge') return preview.strategy;
  if (stored.selected_ops !== null) return 'cherry_pick';
  return found.resolutions.length > 0 ? 'merge_commit' : preview.strategy;
}

function countTypes(conflicts: readonly Conflict[]): ProposalPreview['blocking_by_type'] {
  const counts: ProposalPreview['blocking_by_type'] = {};
  for (const { conflict_type: type } of conflicts) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
}

type ChangeCounts = Pick<ProposalPreview, 'changes' | 'changes_complete'>;

function countChanges(context: CharonContext, now: ProposalNow): Promise<ChangeCounts> {
  const key = `${now.stored.proposal_id} ${now.targetHead}`;
  return context.memos.changes.get(key, () => askChanges(context, now));
}

/** How many changes there are of each category, counted page by page up to the bound. */
async function askChanges(context: CharonContext, now: ProposalNow): Promise<ChangeCounts> {
  const changes = noChanges();
  let counted = 0;
  let cursor: string | undefined;
  do {
    const page: SemanticDiff = await readChanges(context, now, listLimitMax, cursor);
    for (const category of diffCategories) {
      changes[category] += page[category].length;
      counted += page[category].length;
    }
    cursor = page.next_cursor;
  } while (cursor !== undefined && counted < changePreviewMax);
  return { changes, changes_complete: cursor === undefined };
}

function noChanges(): Record<DiffCategory, number> {
  return {
    memories_added: 0,
    corrections_proposed: 0,
    records_superseded: 0,
    relationships_added: 0,
    decisions_changed: 0,
    tasks_or_flags_changed: 0,
    duplicates_detected: 0,
    permissions_or_visibility_affected: 0,
    evidence_added_or_removed: 0,
  };
}
