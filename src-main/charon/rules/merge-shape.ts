import type { Op } from '../../../src-preload/contract/changeset.ts';
import type { ChangesetId, ProposalId } from '../../../src-preload/contract/ids.ts';
import type { MergePreview } from '../../../src-preload/contract/proposal.ts';
import { Fault } from '../../base/fault.ts';

/** How the target moves (`charon.md` §4): to the head itself, or to a changeset of both. */
export type MergeShape =
  | { readonly strategy: 'fast_forward'; readonly newHead: ChangesetId }
  | { readonly strategy: 'merge_commit'; readonly parentIds: readonly [ChangesetId, ChangesetId] };

/** Ids that a refusal names at most. */
const namedIdsMax = 100;

/**
 * The shape of a merge of `head` into a target at `preview.target_head`. Throws `NOTHING_TO_MERGE` for a head that the target
 * already contains, `BOTH_SIDES_TOUCHED` naming up to 100 memories that both sides changed.
 */
export function decideMergeShape(preview: MergePreview, head: ChangesetId): MergeShape {
  if (preview.strategy === 'nothing_to_merge') throw nothingToMerge();
  if (preview.contested_total > 0) {
    throw new Fault(
      'BOTH_SIDES_TOUCHED',
      `Both sides changed ${preview.contested_total} of the same memories since they parted, or one retired what the other keeps in place of a duplicate. Bring the branch up to date with the target and propose it anew.`,
      {
        memory_ids: preview.contested_memory_ids.slice(0, namedIdsMax),
        total: preview.contested_total,
      },
    );
  }
  if (preview.strategy === 'fast_forward') return { strategy: 'fast_forward', newHead: head };
  return { strategy: 'merge_commit', parentIds: [preview.target_head, head] };
}

/** The target already contains the head. */
export function nothingToMerge(): Fault {
  return new Fault('NOTHING_TO_MERGE', 'The target already contains that head: there is nothing to merge.');
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
