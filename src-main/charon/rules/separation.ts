import type { PrincipalId } from '../../../src-preload/contract/ids.ts';
import { Fault } from '../../base/fault.ts';
import type { ProvenCaller } from './caller.ts';
import type { ReviewStanding } from './review-state.ts';
import { isOwner } from './rights.ts';

/** Whose word a proposal is: who filed it, and who wrote what it would bring in (`charon.md` §4, `lethe.md` §0.1). */
export interface ProposalAuthors {
  readonly originator: PrincipalId;
  readonly authors: readonly string[];
}

/** In whose name a merge goes ahead. */
export interface MergeAuthority {
  readonly kind: 'reviewed' | 'self_merge';
  readonly reviewer: PrincipalId;
}

/** Nobody reviews what they filed or wrote, the owner included. Throws `SELF_REVIEW`. */
export function requireReviewer(caller: ProvenCaller, proposal: ProposalAuthors): void {
  if (!isParty(caller.principal.principal_id, proposal)) return;
  throw new Fault('SELF_REVIEW', 'self review: this proposal is your own work, so someone else must review it.');
}

/**
 * Nobody merges what they filed or wrote. The one exception is the owner, at the owner's doors, while `selfMergeAllowed`:
 * then true comes back and the merge is a self-merge. Throws `SELF_APPROVAL`.
 */
export function requireMerger(caller: ProvenCaller, proposal: ProposalAuthors, selfMergeAllowed: boolean): boolean {
  const own = isParty(caller.principal.principal_id, proposal);
  if (!own || (isOwner(caller) && selfMergeAllowed)) return own;
  throw new Fault('SELF_APPROVAL', 'self approval: this proposal is your own work, so someone else must merge it.');
}

/**
 * On whose review a merge goes ahead: nobody's latest word is against it (`CHANGES_REQUESTED`), and somebody who is no party
 * to it approved exactly this state (`PROPOSAL_STALE`, `NOT_APPROVED`); a self-merge needs no approval.
 */
export function decideMergeAuthority(
  merger: PrincipalId,
  selfMerge: boolean,
  proposal: ProposalAuthors,
  standing: ReviewStanding,
): MergeAuthority {
  if (standing.objectors.length > 0) {
    throw new Fault(
      'CHANGES_REQUESTED',
      'A reviewer asked for changes. It must approve first, or the author cancels and files anew.',
      { reviewers: standing.objectors },
    );
  }
  if (selfMerge) return { kind: 'self_merge', reviewer: merger };
  const reviewer = standing.approvers.find((approver) => !isParty(approver, proposal));
  if (reviewer !== undefined) return { kind: 'reviewed', reviewer };
  if (standing.reviewState === 'stale') {
    throw new Fault(
      'PROPOSAL_STALE',
      'stale: the proposal or its target changed since the approval. Show it and review it again.',
    );
  }
  throw new Fault('NOT_APPROVED', 'The proposal has no current approval. It must be reviewed first.');
}

/** Only who filed it takes it back. Throws `NOT_ORIGINATOR`. */
export function requireOriginator(caller: ProvenCaller, originator: PrincipalId): void {
  if (caller.principal.principal_id === originator) return;
  throw new Fault('NOT_ORIGINATOR', 'Only the originator can cancel a proposal. A reviewer can reject it.');
}

function isParty(principal: PrincipalId, proposal: ProposalAuthors): boolean {
  return proposal.originator === principal || proposal.authors.includes(principal);
}
