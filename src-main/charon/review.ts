import type { Severity } from '../../src-preload/contract/conflict.ts';
import { type ChangesetId, findingIdSchema, type ProposalId } from '../../src-preload/contract/ids.ts';
import type { Verdict } from '../../src-preload/contract/proposal.ts';
import { assert } from '../base/assert.ts';
import { toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { Caller } from './api.ts';
import { choreOf, doChores } from './chores.ts';
import { type CharonContext, requireWritable, write } from './context.ts';
import { listAuthors } from './picks.ts';
import { deriveNow, getStoredProposal, lookAt, type ProposalNow } from './proposal-now.ts';
import { requireTransition } from './rules/proposal-state.ts';
import type { ReviewedState } from './rules/review-state.ts';
import { isOwner } from './rules/rights.ts';
import { requireReviewer } from './rules/separation.ts';
import { decideProposal } from './tables/proposals.ts';
import { findServed } from './tables/served-snapshots.ts';
import { insertChore } from './tables/store-chores.ts';
import { insertVerdict } from './tables/verdicts.ts';

/** A verdict as a reviewer gives it. */
export interface ReviewInput {
  readonly proposalId: ProposalId;
  readonly verdict: Verdict;
  readonly comment: string;
  readonly severity: Severity;
  readonly proposalDigest?: string | undefined;
  readonly targetHead?: ChangesetId | undefined;
}

/** The verdict as recorded. */
export interface ReviewResult {
  readonly findingId: string;
  readonly proposalDigest: string;
  readonly outcome: 'approved' | 'changes_requested' | 'rejected';
}

const outcomes = {
  approve: 'approved',
  request_changes: 'changes_requested',
  reject: 'rejected',
} as const satisfies Record<Verdict, ReviewResult['outcome']>;

/**
 * Records a verdict bound to the exact state that the reviewer looked at (`charon.md` §4): the one it names, else the one it
 * was last shown, else the one of now. A state that is no longer so is refused. A rejection ends the proposal.
 * Throws `PROPOSAL_NOT_FOUND`, `SELF_REVIEW`, `PROPOSAL_STATE`, `INPUT_INVALID` (the owner must name the state), `PROPOSAL_STALE`.
 */
export async function review(context: CharonContext, caller: Caller, input: ReviewInput): Promise<ReviewResult> {
  requireWritable(context);
  const { proposalId, verdict } = input;
  const now = await lookAt(context, getStoredProposal(context.db, proposalId));
  const { stored, targetHead } = now;
  const authors = await listAuthors(context, stored, targetHead);
  requireReviewer(caller, { originator: stored.originator, authors });
  requireTransition(now.status, verdict);
  requireUnchanged(reviewedState(context, caller, input, now), now);
  const findingId = findingIdSchema.parse(context.ids.uuidv7());
  await write(context, (db, emit) => {
    const createdAt = toTimestamp(context.clock.nowMs());
    const status = requireTransition(
      deriveNow(context, getStoredProposal(db, proposalId), targetHead, now.found).status,
      verdict,
    );
    const reviewer = caller.principal.principal_id;
    insertVerdict(db, proposalId, {
      finding_id: findingId,
      reviewer,
      verdict,
      comment: input.comment,
      severity: input.severity,
      proposal_digest: now.proposalDigest,
      target_head: targetHead,
      created_at: createdAt,
    });
    if (verdict === 'reject') {
      const end = {
        status: 'rejected',
        decidedAt: createdAt,
        decidedBy: reviewer,
        targetHead,
        resultingChangesetId: null,
        strategy: null,
        selfMerge: false,
        proposalDigest: now.proposalDigest,
      } as const;
      assert(decideProposal(db, proposalId, 'pending', end), 'a pending proposal can be rejected');
      insertChore(db, choreOf(context, now, 'reject'));
    }
    emit({ kind: 'proposal_changed', project_id: stored.project_id, proposal_id: proposalId, status });
  });
  if (verdict === 'reject') await doChores(context, proposalId);
  return { findingId, proposalDigest: now.proposalDigest, outcome: outcomes[verdict] };
}

function reviewedState(
  context: CharonContext,
  caller: Caller,
  input: ReviewInput,
  now: ProposalNow,
): { readonly [Field in keyof ReviewedState]: string } {
  if (isOwner(caller) && (input.proposalDigest === undefined || input.targetHead === undefined)) {
    throw new Fault(
      'INPUT_INVALID',
      'proposal_digest and target_head are required here: name the state that you looked at.',
      {
        field: input.proposalDigest === undefined ? 'proposal_digest' : 'target_head',
      },
    );
  }
  const served = findServed(context.db, caller.principal.principal_id, input.proposalId) ?? now;
  return {
    proposalDigest: input.proposalDigest ?? served.proposalDigest,
    targetHead: input.targetHead ?? served.targetHead,
  };
}

function requireUnchanged(reviewed: { readonly [Field in keyof ReviewedState]: string }, now: ProposalNow): void {
  if (reviewed.proposalDigest === now.proposalDigest && reviewed.targetHead === now.targetHead) return;
  throw new Fault(
    'PROPOSAL_STALE',
    'stale: the proposal or its target changed since it was shown. Show it again, then review what it is now.',
    {
      reviewed: { proposal_digest: reviewed.proposalDigest, target_head: reviewed.targetHead },
      now: { proposal_digest: now.proposalDigest, target_head: now.targetHead },
    },
  );
}
