import { type DiffCategory, diffCategories, type SemanticDiff } from '../../src-preload/contract/diff.ts';
import { changePreviewMax, listLimitMax } from '../../src-preload/contract/limits.ts';
import type { MergePreview, ProposalPreview } from '../../src-preload/contract/proposal.ts';
import type { CharonContext } from './context.ts';
import type { ProposalNow } from './proposal-now.ts';

/** What a merge of an open proposal would do to its target as it stands (`charon.md` §4); writes nothing. */
export async function previewProposal(context: CharonContext, now: ProposalNow): Promise<ProposalPreview> {
  const { stored, targetHead } = now;
  const head = stored.head_changeset_id;
  const preview: MergePreview = await context.store.mergePreview({ projectId: stored.project_id, targetHead, head });
  return {
    ...preview,
    ...(await countChanges(context, now)),
    blocking_by_type: {},
    target_moved: targetHead !== stored.target_head,
    new_conflicts: 0,
  };
}

/** How many changes there are of each category, counted page by page up to the bound. */
async function countChanges(
  context: CharonContext,
  { stored, targetHead }: ProposalNow,
): Promise<Pick<ProposalPreview, 'changes' | 'changes_complete'>> {
  const changes = noChanges();
  let counted = 0;
  let cursor: string | undefined;
  do {
    const page: SemanticDiff = await context.store.proposalDiff({
      base: targetHead,
      head: stored.head_changeset_id,
      limit: listLimitMax,
      cursor,
    });
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
