import type { ChangesetId, ProjectId } from '../../src-preload/contract/ids.ts';
import type { MergePreview } from '../../src-preload/contract/proposal.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import { changesetNotFound, getChangesetRow } from './changeset-rows.ts';
import { contestedMemories } from './projection/contested.ts';
import { countChangesetsOf, openSight, rangesBeyond } from './projection/sight.ts';

/** Most contested memories that a preview names. */
const contestedNamedMax = 100;

/**
 * What a merge of `head` into a ref at `targetHead` would be (`L117`): how, how much each side has that the other has not,
 * and the memories that the merge has to decide about (`L23`, `L142`). Counts come from runs of chains, never from a walk; the
 * memories from the smaller side. Throws CHANGESET_NOT_FOUND.
 */
export function previewMerge(
  db: ReadableDb,
  input: { readonly projectId: ProjectId; readonly targetHead: ChangesetId; readonly head: ChangesetId },
): MergePreview {
  const sight = openSight(db);
  const target = sight.places.get(seqIn(db, input.projectId, input.targetHead, 'target_head'));
  const head = sight.places.get(seqIn(db, input.projectId, input.head, 'head'));
  const targetAhead = countChangesetsOf(rangesBeyond(sight, target, head));
  const proposalAhead = countChangesetsOf(rangesBeyond(sight, head, target));
  const contested = contestedMemories(db, target.seq, head.seq, contestedNamedMax);
  return {
    target_head: input.targetHead,
    strategy: proposalAhead === 0 ? 'nothing_to_merge' : targetAhead === 0 ? 'fast_forward' : 'merge_commit',
    target_ahead: targetAhead,
    proposal_ahead: proposalAhead,
    contested_memory_ids: [...contested.memoryIds],
    contested_total: contested.total,
  };
}

/** The number of a changeset of a project. Throws CHANGESET_NOT_FOUND, also for one of another project. */
function seqIn(db: ReadableDb, projectId: ProjectId, changesetId: ChangesetId, field: string): number {
  const row = getChangesetRow(db, changesetId, field);
  if (row.project_id !== projectId) throw changesetNotFound(changesetId, field);
  return row.seq;
}
