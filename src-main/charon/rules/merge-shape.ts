import type { Op } from '../../../src-preload/contract/changeset.ts';
import type { Conflict } from '../../../src-preload/contract/conflict.ts';
import type { ChangesetId, ProposalId } from '../../../src-preload/contract/ids.ts';
import type { MergePreview } from '../../../src-preload/contract/proposal.ts';
import { Fault } from '../../base/fault.ts';

/** Conflicts that a refusal names at most. */
const namedConflictsMax = 10;

/** How the target moves (`charon.md` §4): to the head itself, to a changeset of both, or to one that takes some of its ops. */
export type MergeShape =
  | { readonly strategy: 'fast_forward'; readonly newHead: ChangesetId }
  | { readonly strategy: 'merge_commit'; readonly parentIds: readonly [ChangesetId, ChangesetId] }
  | { readonly strategy: 'cherry_pick'; readonly parentIds: readonly [ChangesetId] };

/**
 * The shape of a merge of `head` into a target at `preview.target_head`. Throws `NOTHING_TO_MERGE` for what the target already
 * contains. What needs resolving needs a changeset of its own, so nothing is fast-forwarded then.
 * @param of.isPick and of.isResolving: whether some ops only are taken, and whether anything is written for conflicts
 */
export function decideMergeShape(
  preview: MergePreview,
  head: ChangesetId,
  of: { readonly isPick: boolean; readonly isResolving: boolean },
): MergeShape {
  if (preview.strategy === 'nothing_to_merge') throw nothingToMerge();
  if (of.isPick) return { strategy: 'cherry_pick', parentIds: [preview.target_head] };
  if (preview.strategy === 'fast_forward' && !of.isResolving) return { strategy: 'fast_forward', newHead: head };
  return { strategy: 'merge_commit', parentIds: [preview.target_head, head] };
}

/** The refusal of a merge while blocking conflicts are open, naming the first of them (`charon.md` §4). */
export function openConflicts(open: readonly Conflict[]): Fault {
  const named = open.slice(0, namedConflictsMax);
  return new Fault(
    'OPEN_CONFLICT',
    `${open.length} blocking ${open.length === 1 ? 'conflict has' : 'conflicts have'} no resolution that can be carried out: ${named.map(({ conflict_id: id }) => id).join(', ')}. The owner drafts one for each, and the proposal is reviewed as it is then.`,
    {
      conflict_ids: named.map(({ conflict_id: id }) => id),
      conflict_keys: named.map(({ conflict_key: key }) => key),
      memory_ids: [...new Set(named.flatMap(memoryIdsOf))],
      total: open.length,
    },
  );
}

/** The target already contains the head. */
export function nothingToMerge(): Fault {
  return new Fault('NOTHING_TO_MERGE', 'The target already contains that head: there is nothing to merge.');
}

/** The memories that a conflict names. */
export function memoryIdsOf({ details }: Conflict): readonly string[] {
  const ids = details?.memory_ids;
  return Array.isArray(ids) ? ids.filter((id): id is string => typeof id === 'string') : [];
}

/** What a conflict is about, whatever its sides say: equal for what is found between two heads and between one and copies. */
export function aboutOf(conflict: Conflict): string {
  return JSON.stringify([conflict.conflict_type, memoryIdsOf(conflict).toSorted()]);
}

/** The op that marks a merge changeset as reviewed (`charon.md` §4). */
export function reviewedMergeMarker(proposalId: ProposalId, head: ChangesetId): Op {
  return {
    ordinal: 0,
    op_type: 'attach_verification',
    payload: {
      kind: 'reviewed_merge',
      summary: 'Merged after review.',
      proposal_id: proposalId,
      source_changeset_id: head,
    },
  };
}

/** The key under which one attempt writes its merge changeset (`charon.md` §3). */
export function mergeKey(proposalId: ProposalId, nonce: string): string {
  return `merge:${proposalId}:${nonce}`;
}
