import type { ChangesetId, Digest, PrincipalId } from '../../../src-preload/contract/ids.ts';
import type { Proposal, VerdictRecord } from '../../../src-preload/contract/proposal.ts';

/** A verdict as stored: whether it is current depends on what the proposal and its target are now. */
export type StoredVerdict = Omit<VerdictRecord, 'current'>;

/** What a verdict is bound to (`charon.md` §4). */
export interface ReviewedState {
  readonly proposalDigest: Digest;
  readonly targetHead: ChangesetId;
}

/** Where a review stands. */
export interface ReviewStanding {
  readonly reviewState: Proposal['review_state'];
  readonly verdicts: readonly VerdictRecord[];
  /** Reviewers whose approval is their latest word and of exactly this state, latest first. */
  readonly approvers: readonly PrincipalId[];
  /** Reviewers whose latest word is against it. */
  readonly objectors: readonly PrincipalId[];
}

/**
 * Where the review stands now, derived and never stored (`charon.md` §4). `verdicts` are oldest first; only a reviewer's
 * latest counts. `mayApprove` says whether an approval of that reviewer still has weight: one who was disabled or
 * lost the right to review has none, while an objection stands until it is withdrawn.
 */
export function decideReview(
  verdicts: readonly StoredVerdict[],
  now: ReviewedState,
  mayApprove: (reviewer: PrincipalId) => boolean,
): ReviewStanding {
  const latest = new Map<PrincipalId, StoredVerdict>();
  for (const verdict of verdicts) {
    latest.delete(verdict.reviewer);
    latest.set(verdict.reviewer, verdict);
  }
  const isCurrent = (verdict: StoredVerdict): boolean =>
    latest.get(verdict.reviewer) === verdict && isBoundTo(verdict, now);
  const last = [...latest.values()];
  const approvals = last.filter((verdict) => verdict.verdict === 'approve' && mayApprove(verdict.reviewer));
  const approvers = approvals.filter(isCurrent).map((verdict) => verdict.reviewer);
  const objectors = last.filter((verdict) => verdict.verdict !== 'approve').map((verdict) => verdict.reviewer);
  return {
    reviewState: decideState(objectors.length, approvers.length, approvals.length),
    verdicts: verdicts.map((verdict) => ({ ...verdict, current: isCurrent(verdict) })),
    approvers: approvers.toReversed(),
    objectors,
  };
}

/** True when the verdict was given on exactly that state. */
export function isBoundTo(
  verdict: { readonly proposal_digest: string; readonly target_head: string },
  now: ReviewedState,
): boolean {
  return verdict.proposal_digest === now.proposalDigest && verdict.target_head === now.targetHead;
}

function decideState(objections: number, current: number, approvals: number): Proposal['review_state'] {
  if (objections > 0) return 'changes_requested';
  if (current > 0) return 'approved';
  return approvals > 0 ? 'stale' : 'none';
}
