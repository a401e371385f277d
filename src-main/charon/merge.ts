import type { Ref } from '../../src-preload/contract/changeset.ts';
import type { ChangesetId, ProposalId } from '../../src-preload/contract/ids.ts';
import type { Advance } from '../../src-preload/contract/proposal.ts';
import { assert } from '../base/assert.ts';
import { toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { Caller, MergeResult } from './api.ts';
import { afterChores } from './chores.ts';
import { listUnresolved, toResolution } from './conflicts-now.ts';
import { type CharonContext, requireWritable, write } from './context.ts';
import { findLostEnd } from './lost-ends.ts';
import { releaseContained, settleConflicts } from './merge-conflicts.ts';
import { writeOps } from './merge-ops.ts';
import { completeMerge, settleMerge } from './merge-settle.ts';
import { listAuthors, retiredEnd } from './picks.ts';
import { readMergePreview } from './preview.ts';
import { deriveNow, getStoredProposal, lookAt, type ProposalNow } from './proposal-now.ts';
import { findReplay, type KeyedRequest } from './replays.ts';
import { nonceBytes, signAuthorization } from './rules/envelope.ts';
import { decideMergeShape, type MergeShape, mergeKey, openConflicts } from './rules/merge-shape.ts';
import { requireTransition } from './rules/proposal-state.ts';
import { decideMergeAuthority, type ProposalAuthors, requireMerger } from './rules/separation.ts';
import { ownerSelfMerge } from './settings.ts';
import { insertAttemptResolutions } from './tables/attempt-resolutions.ts';
import { insertMergeAttempt, type MergeAttempt } from './tables/merge-attempts.ts';
import { moveProposal, type StoredProposal } from './tables/proposals.ts';

/**
 * Merges an approved proposal into its protected ref (`charon.md` §4, §5). Checked in this order: replay, recovery, separation of
 * duties, state, verdicts, what a merge would do now, conflicts without a resolution. Then: `merging`, the merge changeset when
 * one is needed, conflicts kept and resolved, a fresh signed envelope, the store's own checks and move, `completed`. Whatever
 * refuses, the proposal is pending again and nothing is lost. Throws as `Charon.merge` says.
 */
export async function mergeProposal(
  context: CharonContext,
  caller: Caller,
  proposalId: ProposalId,
  request: KeyedRequest,
): Promise<MergeResult> {
  const stored = getStoredProposal(context.db, proposalId);
  if (findReplay(context.db, request) !== undefined) return rebuildResult(context, stored);
  requireWritable(context);
  return afterChores(context, proposalId, () => decideAndMerge(context, caller, proposalId, request));
}

async function decideAndMerge(
  context: CharonContext,
  caller: Caller,
  proposalId: ProposalId,
  request: KeyedRequest,
): Promise<MergeResult> {
  const stored = getStoredProposal(context.db, proposalId);
  if (findReplay(context.db, request) !== undefined) return rebuildResult(context, stored);
  const now = await lookAt(context, stored);
  const authors: ProposalAuthors = {
    originator: stored.originator,
    authors: await listAuthors(context, stored, now.targetHead),
  };
  const selfMerge = requireMerger(caller, authors, ownerSelfMerge(context));
  requireTransition(now.status, 'begin_merge');
  const merger = caller.principal.principal_id;
  decideMergeAuthority(merger, selfMerge, authors, now.standing);
  const shape = decideMergeShape(await readMergePreview(context, now), stored.head_changeset_id, {
    isPick: stored.selected_ops !== null,
    isResolving: now.found.resolutions.length > 0,
  });
  const unresolved = listUnresolved(now.found);
  if (unresolved.length > 0) throw openConflicts(unresolved);
  const lost = await findLostEnd(context, now);
  if (lost !== undefined) throw retiredEnd(lost);
  return runAttempt(context, { caller, now, authors, selfMerge, shape, request });
}

/** A merge that was allowed, with everything that it was allowed upon. */
interface Attempting {
  readonly caller: Caller;
  readonly now: ProposalNow;
  readonly authors: ProposalAuthors;
  readonly selfMerge: boolean;
  readonly shape: MergeShape;
  readonly request: KeyedRequest;
}

async function runAttempt(context: CharonContext, attempting: Attempting): Promise<MergeResult> {
  const { stored } = attempting.now;
  const attempt = await beginAttempt(context, attempting);
  context.mergesInFlight.add(stored.proposal_id);
  try {
    const newHead = await prepareHead(context, attempting, attempt);
    await settleConflicts(context, { now: attempting.now, merger: attempt.merger }, newHead);
    const moved = await advance(context, stored, attempt, newHead);
    await completeMerge(context, attempt, moved.advance);
    return toResult(stored, moved.advance, moved.ref);
  } catch (thrown) {
    const settled = await settleMerge(context, stored.proposal_id);
    if (settled === 'completed') return rebuildResult(context, getStoredProposal(context.db, stored.proposal_id));
    await releaseContained(context, stored);
    throw thrown;
  } finally {
    context.mergesInFlight.delete(stored.proposal_id);
  }
}

/** pending → merging, with the verdicts of that very moment and a record of what will be signed. */
function beginAttempt(context: CharonContext, attempting: Attempting): Promise<MergeAttempt> {
  const { caller, now, authors, selfMerge, shape, request } = attempting;
  const proposalId = now.stored.proposal_id;
  return write(context, (db, emit) => {
    const latest = deriveNow(context, getStoredProposal(db, proposalId), now.targetHead, now.found);
    requireTransition(latest.status, 'begin_merge');
    const merger = caller.principal.principal_id;
    const authority = decideMergeAuthority(merger, selfMerge, authors, latest.standing);
    const attempt: MergeAttempt = {
      nonce: context.ids.randomBytes(nonceBytes).toString('hex'),
      proposal_id: proposalId,
      merger,
      reviewer: authority.reviewer,
      strategy: shape.strategy,
      expected_head: now.targetHead,
      proposal_digest: latest.proposalDigest,
      self_merge: authority.kind === 'self_merge' ? 1 : 0,
      replay_command: request.key.command,
      replay_key: request.key.key,
      request_digest: request.requestDigest,
      started_at: toTimestamp(context.clock.nowMs()),
    };
    assert(moveProposal(db, proposalId, 'pending', 'merging'), 'a pending proposal can begin its merge');
    insertMergeAttempt(db, attempt);
    insertAttemptResolutions(db, attempt.nonce, now.found.resolutions.map(toResolution));
    emit({ kind: 'proposal_changed', project_id: now.stored.project_id, proposal_id: proposalId, status: 'merging' });
    return attempt;
  });
}

/** The head to move to: the proposal's own, or a changeset of the merge's own with what marks or picks and what settles. */
async function prepareHead(
  context: CharonContext,
  attempting: Attempting,
  attempt: MergeAttempt,
): Promise<ChangesetId> {
  const { shape, caller, now } = attempting;
  if (shape.strategy === 'fast_forward') return shape.newHead;
  const { stored } = now;
  const merged = await context.store.commitDetached({
    projectId: stored.project_id,
    refName: stored.target_ref,
    parentIds: shape.parentIds,
    authorPrincipal: caller.principal.principal_id,
    actorId: caller.principal.actor_id,
    message: stored.message,
    idempotencyKey: mergeKey(stored.proposal_id, attempt.nonce),
    ops: await writeOps(context, now),
  });
  return merged.changeset_id;
}

function advance(
  context: CharonContext,
  stored: StoredProposal,
  attempt: MergeAttempt,
  newHead: ChangesetId,
): Promise<{ readonly ref: Ref; readonly advance: Advance }> {
  const move = {
    projectId: stored.project_id,
    refName: stored.target_ref,
    expectedHead: attempt.expected_head,
    newHead,
  };
  const mergeAuthorization = signAuthorization(
    {
      ...move,
      proposalId: stored.proposal_id,
      proposalDigest: attempt.proposal_digest,
      reviewer: attempt.reviewer,
      merger: attempt.merger,
      strategy: attempt.strategy,
      nonce: attempt.nonce,
    },
    context.keys.mergeSigning,
    context.clock.nowMs(),
  );
  return context.store.advance({
    ...move,
    mergeProposalId: stored.proposal_id,
    reviewerPrincipal: attempt.reviewer,
    mergeAuthorization,
  });
}

/** The first answer again: the ref as it was right after this merge, wherever it stands by now. */
async function rebuildResult(context: CharonContext, stored: StoredProposal): Promise<MergeResult> {
  const ref = await context.store.findRef(stored.project_id, stored.target_ref);
  const moved = await context.store.findAdvance({ projectId: stored.project_id, proposalId: stored.proposal_id });
  if (ref === undefined || moved === undefined) {
    throw new Fault(
      'INTEGRITY_MISMATCH',
      'The store has no record of a merge that was completed. Run `charon reconcile`.',
      { proposal_id: stored.proposal_id },
    );
  }
  return toResult(stored, moved, { ...ref, head_changeset_id: moved.new_head, updated_at: moved.created_at });
}

function toResult(stored: StoredProposal, moved: Advance, ref: Ref): MergeResult {
  return {
    proposalId: stored.proposal_id,
    status: 'completed',
    strategy: moved.strategy,
    resultingChangesetId: moved.new_head,
    ref,
  };
}
