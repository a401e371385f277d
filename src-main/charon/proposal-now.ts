import {
  type ChangesetId,
  type Digest,
  digestSchema,
  type PrincipalId,
  type ProposalId,
} from '../../src-preload/contract/ids.ts';
import type { Proposal, ProposalStatus } from '../../src-preload/contract/proposal.ts';
import { Fault } from '../base/fault.ts';
import { proposalStateDigest } from '../canonical/policy-digest.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import type { CharonContext } from './context.ts';
import { scopesOf } from './rules/profiles.ts';
import { isOpen, statusAt } from './rules/proposal-state.ts';
import { decideReview, type ReviewStanding } from './rules/review-state.ts';
import { findPrincipal } from './tables/principals.ts';
import { findStoredProposal, type StoredProposal } from './tables/proposals.ts';
import { listVerdicts } from './tables/verdicts.ts';

/** A proposal with everything that follows from what it and its target are at this moment. */
export interface ProposalNow {
  readonly stored: StoredProposal;
  readonly status: ProposalStatus;
  readonly proposalDigest: Digest;
  /** Of an open proposal the target's head now, of a decided one the head that it was decided on. */
  readonly targetHead: ChangesetId;
  readonly standing: ReviewStanding;
}

/** Throws `PROPOSAL_NOT_FOUND`. */
export function getStoredProposal(db: ReadableDb, proposalId: ProposalId): StoredProposal {
  const found = findStoredProposal(db, proposalId);
  if (found !== undefined) return found;
  throw new Fault('PROPOSAL_NOT_FOUND', 'proposal_id names no proposal that you may see.', { field: 'proposal_id' });
}

/** Where the target of an open proposal stands now. */
export async function findTargetHead(context: CharonContext, stored: StoredProposal): Promise<ChangesetId> {
  if (!isOpen(stored.status)) return stored.target_head;
  const ref = await context.store.findRef(stored.project_id, stored.target_ref);
  return ref?.head_changeset_id ?? stored.target_head;
}

/** Derives what follows from the proposal, its verdicts and a head of its target: nothing of it is stored. */
export function deriveNow(context: CharonContext, stored: StoredProposal, targetHead: ChangesetId): ProposalNow {
  const { db } = context;
  const proposalDigest = digestOf(stored);
  const mayApprove = isOpen(stored.status) ? (reviewer: PrincipalId) => holdsReview(db, reviewer) : () => true;
  const standing = decideReview(listVerdicts(db, stored.proposal_id), { proposalDigest, targetHead }, mayApprove);
  return {
    stored,
    status: statusAt({ status: stored.status, expiresMs: stored.expires_ms }, context.clock.nowMs()),
    proposalDigest,
    targetHead,
    standing,
  };
}

/** The proposal against its target of this moment. */
export async function lookAt(context: CharonContext, stored: StoredProposal): Promise<ProposalNow> {
  return deriveNow(context, stored, await findTargetHead(context, stored));
}

/** The form that crosses a border. */
export function toProposal(now: ProposalNow): Proposal {
  const { stored } = now;
  return {
    proposal_id: stored.proposal_id,
    kind: stored.kind,
    project_id: stored.project_id,
    originator: stored.originator,
    target_ref: stored.target_ref,
    base_changeset_id: stored.base_changeset_id,
    head_changeset_id: stored.head_changeset_id,
    selected_ops: null,
    message: stored.message,
    status: now.status,
    review_state: now.standing.reviewState,
    proposal_digest: now.proposalDigest,
    target_head: now.targetHead,
    conflicts: [],
    conflict_counts: { blocking: 0, warning: 0, info: 0, unresolved: 0 },
    verdicts: [...now.standing.verdicts],
    created_at: stored.created_at,
    expires_at: stored.expires_at,
    ...(stored.decided_at === null ? {} : { decided_at: stored.decided_at }),
    ...(stored.decided_by === null ? {} : { decided_by: stored.decided_by }),
    ...(stored.resulting_changeset_id === null ? {} : { resulting_changeset_id: stored.resulting_changeset_id }),
    ...(stored.strategy === null ? {} : { strategy: stored.strategy }),
    self_merge: stored.self_merge === 1,
  };
}

/** The proposal-state digest (`charon.md` §4). No conflict can be open here: a merge that touches both sides is refused. */
export function digestOf(stored: StoredProposal): Digest {
  return digestSchema.parse(
    proposalStateDigest({
      proposal_id: stored.proposal_id,
      kind: stored.kind,
      project_id: stored.project_id,
      originator: stored.originator,
      target_ref: stored.target_ref,
      base_changeset_id: stored.base_changeset_id,
      head_changeset_id: stored.head_changeset_id,
      message: stored.message,
      conflicts: [],
      resolutions: [],
      selected_ops: null,
    }),
  );
}

/** An approval has weight while its reviewer is enabled and may review. */
function holdsReview(db: ReadableDb, reviewer: PrincipalId): boolean {
  const principal = findPrincipal(db, reviewer);
  return principal?.enabled === true && scopesOf(principal.profile).includes('memory.review');
}
