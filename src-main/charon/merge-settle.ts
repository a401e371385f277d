import { type ProposalId, principalIdSchema } from '../../src-preload/contract/ids.ts';
import type { Advance } from '../../src-preload/contract/proposal.ts';
import { assert } from '../base/assert.ts';
import { toTimestamp } from '../base/clock.ts';
import { type CharonContext, write } from './context.ts';
import { getStoredProposal } from './proposal-now.ts';
import type { AuditRecord } from './rules/audit-entry.ts';
import { findLastAttempt, type MergeAttempt } from './tables/merge-attempts.ts';
import { decideProposal, listMerging, moveProposal, type StoredProposal } from './tables/proposals.ts';
import { findStoredReplay, insertReplay } from './tables/replays.ts';

/** What the store's record says of a proposal that is in its merge; `unknown` when the store cannot be asked now. */
export type MergeSettlement = 'completed' | 'pending' | 'unknown';

/** merging → completed, with the answer remembered for the request that asked for it. */
export function completeMerge(context: CharonContext, attempt: MergeAttempt, advance: Advance): Promise<void> {
  return write(context, (db, emit) => {
    const stored = getStoredProposal(db, attempt.proposal_id);
    const nowMs = context.clock.nowMs();
    const decided = decideProposal(db, attempt.proposal_id, 'merging', {
      status: 'completed',
      decidedAt: toTimestamp(nowMs),
      decidedBy: principalIdSchema.parse(advance.merger_principal),
      targetHead: advance.expected_head,
      resultingChangesetId: advance.new_head,
      strategy: advance.strategy,
      selfMerge: attempt.self_merge === 1,
      proposalDigest: attempt.proposal_digest,
    });
    assert(decided, 'a proposal in its merge can be completed');
    const key = {
      principalId: attempt.merger,
      command: attempt.replay_command,
      projectId: stored.project_id,
      key: attempt.replay_key,
    };
    const replay = { requestDigest: attempt.request_digest, answerIds: [attempt.proposal_id, advance.new_head] };
    // The ref has moved: a key that another request took in the meantime must not keep the proposal from completing.
    if (findStoredReplay(db, key) === undefined) insertReplay(db, key, replay, toTimestamp(nowMs));
    if (attempt.self_merge === 1) context.audit.append(db, selfMergeRecord(context, attempt, stored, advance));
    emit({
      kind: 'proposal_changed',
      project_id: stored.project_id,
      proposal_id: attempt.proposal_id,
      status: 'completed',
    });
  });
}

/** A self-merge is on record in the ledger, whatever becomes of the request's own entries (`charon.md` §4). */
function selfMergeRecord(
  context: CharonContext,
  attempt: MergeAttempt,
  stored: StoredProposal,
  advance: Advance,
): AuditRecord {
  return {
    at: toTimestamp(context.clock.nowMs()),
    phase: 'outcome',
    outcome: 'self_merge',
    subject: {
      principal: attempt.merger,
      credentialKind: 'system',
      credentialId: '',
      door: 'system',
      command: attempt.replay_command,
      project: stored.project_id,
      objectIds: [attempt.proposal_id, stored.target_ref, advance.new_head],
      requestDigest: attempt.request_digest,
      correlationId: '',
    },
  };
}

/**
 * Settles a proposal that is in its merge from the store's record (`charon.md` §6): an advance of this proposal means completed,
 * none means that nothing moved and it is pending again. Never throws: what cannot be asked stays as it is.
 */
export async function settleMerge(context: CharonContext, proposalId: ProposalId): Promise<MergeSettlement> {
  try {
    const stored = getStoredProposal(context.db, proposalId);
    if (stored.status === 'completed') return 'completed';
    if (stored.status !== 'merging') return 'pending';
    const attempt = findLastAttempt(context.db, proposalId);
    assert(attempt !== undefined, 'a proposal in its merge has an attempt');
    const advance = await context.store.findAdvance({ projectId: stored.project_id, proposalId });
    if (advance !== undefined) {
      await completeMerge(context, attempt, advance);
      return 'completed';
    }
    await write(context, (db, emit) => {
      assert(moveProposal(db, proposalId, 'merging', 'pending'), 'a proposal in its merge can be pending again');
      emit({ kind: 'proposal_changed', project_id: stored.project_id, proposal_id: proposalId, status: 'pending' });
    });
    return 'pending';
  } catch (thrown) {
    context.log.error({ err: thrown, proposal: proposalId }, 'a merge could not be settled and is tried again later');
    return 'unknown';
  }
}

/** Settles every merge that no call of this process is about; how many. */
export async function settleMerges(context: CharonContext): Promise<number> {
  if (context.readOnly) return 0;
  let settled = 0;
  for (const stored of listMerging(context.db)) {
    if (context.mergesInFlight.has(stored.proposal_id)) continue;
    if ((await settleMerge(context, stored.proposal_id)) !== 'unknown') settled += 1;
  }
  return settled;
}
