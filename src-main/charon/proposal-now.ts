import type { Conflict } from '../../src-preload/contract/conflict.ts';
import {
  type ChangesetId,
  type Digest,
  digestSchema,
  type PrincipalId,
  type ProposalId,
} from '../../src-preload/contract/ids.ts';
import type { JsonObject, JsonValue } from '../../src-preload/contract/json.ts';
import { conflictsListedMax } from '../../src-preload/contract/limits.ts';
import type { Proposal, ProposalStatus } from '../../src-preload/contract/proposal.ts';
import { Fault } from '../base/fault.ts';
import { type DigestedProposal, proposalStateDigest } from '../canonical/policy-digest.ts';
import { utf8Length } from '../canonical/text.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import {
  type ConflictsNow,
  countConflicts,
  lookForConflicts,
  type PlannedResolution,
  recallConflicts,
  sameDrafts,
} from './conflicts-now.ts';
import type { CharonContext } from './context.ts';
import { memoryIdsOf } from './rules/merge-shape.ts';
import { scopesOf } from './rules/profiles.ts';
import { isOpen, statusAt } from './rules/proposal-state.ts';
import type { PlannedOp } from './rules/resolution-writing.ts';
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
  readonly found: ConflictsNow;
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

/**
 * Derives what follows from the proposal, its verdicts, a head of its target and what stands between them: nothing of it is
 * stored. Throws `PROPOSAL_STALE` when a resolution was drafted or dropped since `found` was looked for.
 */
export function deriveNow(
  context: CharonContext,
  stored: StoredProposal,
  targetHead: ChangesetId,
  found: ConflictsNow,
): ProposalNow {
  const { db } = context;
  if (isOpen(stored.status) && !sameDrafts(db, stored.proposal_id, found)) throw draftedMeanwhile();
  const proposalDigest = digestOf(stored, found);
  const mayApprove = isOpen(stored.status) ? (reviewer: PrincipalId) => holdsReview(db, reviewer) : () => true;
  const standing = decideReview(listVerdicts(db, stored.proposal_id), { proposalDigest, targetHead }, mayApprove);
  return {
    stored,
    status: statusNow(context, stored),
    proposalDigest,
    targetHead,
    standing,
    found,
  };
}

/** What the proposal is at this moment: past its time it is expired, whether or not the sweep came by. */
export function statusNow(context: CharonContext, stored: StoredProposal): ProposalStatus {
  return statusAt({ status: stored.status, expiresMs: stored.expires_ms }, context.clock.nowMs());
}

/** The proposal against its target of this moment. */
export async function lookAt(context: CharonContext, stored: StoredProposal): Promise<ProposalNow> {
  return lookAgainst(context, stored, await findTargetHead(context, stored));
}

/** The proposal against a head of its target. */
export async function lookAgainst(
  context: CharonContext,
  stored: StoredProposal,
  targetHead: ChangesetId,
): Promise<ProposalNow> {
  const found = isOpen(stored.status)
    ? await lookForConflicts(context, stored, targetHead)
    : await recallConflicts(context, stored);
  return deriveNow(context, stored, targetHead, found);
}

function draftedMeanwhile(): Fault {
  return new Fault(
    'PROPOSAL_STALE',
    'stale: a resolution was drafted or dropped at this moment. Show the proposal again, then decide on what it is now.',
  );
}

/** The form that crosses a border; its conflicts are bounded and say no more than which memories they are about: showing it has the rest. */
export function toProposal(now: ProposalNow): Proposal {
  const { stored, found } = now;
  const conflicts = found.conflicts.slice(0, conflictsListedMax).map(listConflict);
  return {
    proposal_id: stored.proposal_id,
    kind: stored.kind,
    project_id: stored.project_id,
    originator: stored.originator,
    target_ref: stored.target_ref,
    base_changeset_id: stored.base_changeset_id,
    head_changeset_id: stored.head_changeset_id,
    selected_ops: stored.selected_ops,
    message: stored.message,
    status: now.status,
    review_state: now.standing.reviewState,
    proposal_digest: now.proposalDigest,
    target_head: now.targetHead,
    conflicts,
    conflict_ids: conflicts.map(({ conflict_id: id }) => id),
    conflict_counts: countConflicts(found, isOpen(now.status)),
    verdicts: [...now.standing.verdicts],
    review_findings: now.standing.verdicts.map(({ finding_id: id }) => id),
    created_at: stored.created_at,
    expires_at: stored.expires_at,
    ...(stored.decided_at === null ? {} : { decided_at: stored.decided_at }),
    ...(stored.decided_by === null ? {} : { decided_by: stored.decided_by }),
    ...(stored.resulting_changeset_id === null ? {} : { resulting_changeset_id: stored.resulting_changeset_id }),
    ...(stored.strategy === null ? {} : { strategy: stored.strategy }),
    self_merge: stored.self_merge === 1,
  };
}

/** Memories that a listed conflict names, and the longest id that it names one by, in bytes: twenty of them leave room for the rest. */
const namedMemoriesMax = 2;
const namedBytesMax = 128;

/** A conflict as it stands in a list: without what the sides say, with the memories that it is about. */
function listConflict(conflict: Conflict): Conflict {
  const { details, ...listed } = conflict;
  const ids = memoryIdsOf(conflict).filter((id) => utf8Length(id) <= namedBytesMax);
  return ids.length === 0 ? listed : { ...listed, details: { memory_ids: ids.slice(0, namedMemoriesMax) } };
}

/** The proposal-state digest (`charon.md` §4): of one that is decided, the one that it was decided on. */
export function digestOf(stored: StoredProposal, { conflicts, resolutions }: ConflictsNow): Digest {
  if (stored.decided_digest !== null) return stored.decided_digest;
  // What was decided before conflicts were part of proposals had none.
  const isOfNow = isOpen(stored.status);
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
      conflicts: isOfNow ? conflicts : [],
      resolutions: isOfNow ? resolutions.map(toDigested) : [],
      selected_ops: stored.selected_ops,
    }),
  );
}

function toDigested({ chosen, plan }: PlannedResolution): DigestedProposal['resolutions'][number] {
  const ops = plan.kind === 'ops' ? plan.ops : [];
  return { conflict_key: chosen.conflict_key, choice: chosen.choice, ops: ops.map((op) => definedOnly(op)) };
}

/** An op as JSON has it: keys without a value are absent. */
function definedOnly(op: PlannedOp): JsonObject {
  const object: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(op)) if (value !== undefined) object[key] = value;
  return object;
}

/** An approval has weight while its reviewer is enabled and may review. */
function holdsReview(db: ReadableDb, reviewer: PrincipalId): boolean {
  const principal = findPrincipal(db, reviewer);
  return principal?.enabled === true && scopesOf(principal.profile).includes('memory.review');
}
