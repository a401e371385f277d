import type { ProposalId } from '../../src-preload/contract/ids.ts';
import { assertNever } from '../base/assert.ts';
import { toTimestamp } from '../base/clock.ts';
import { detect, sidesOf } from './conflicts-now.ts';
import { type CharonContext, write } from './context.ts';
import { getStoredProposal, type ProposalNow } from './proposal-now.ts';
import type { StoredProposal } from './tables/proposals.ts';
import { deleteChore, listChoresOf, listProposalsWithChores, type StoreChore } from './tables/store-chores.ts';

/** Proposals of one sweep. */
const proposalsPerSweep = 1_000;

/**
 * Tells the store what is due for one proposal, in order: what it is in conflict with and what it brings, or that its
 * conflicts ended (`charon.md` §4). Each is the same when it is told twice. Never throws: what cannot be told now waits.
 */
export async function doChores(context: CharonContext, proposalId: ProposalId): Promise<void> {
  if (context.readOnly || context.choresInFlight.has(proposalId)) return;
  context.choresInFlight.add(proposalId);
  try {
    for (const chore of listChoresOf(context.db, proposalId)) {
      await doChore(context, getStoredProposal(context.db, proposalId), chore);
      await write(context, (db) => deleteChore(db, chore.seq));
    }
  } catch (thrown) {
    context.log.warn({ err: thrown, proposal: proposalId }, 'what the store is to keep of a proposal is told it later');
  } finally {
    context.choresInFlight.delete(proposalId);
  }
}

/** A chore that a decision about a proposal makes due, to be noted in the same transaction. */
export function choreOf(
  context: CharonContext,
  { stored, targetHead }: ProposalNow,
  chore: StoreChore['chore'],
): Omit<StoreChore, 'seq'> {
  return {
    proposal_id: stored.proposal_id,
    chore,
    target_head: targetHead,
    since: toTimestamp(context.clock.nowMs()),
  };
}

/** Tells the store what a crash or a store that could not be asked left. */
export async function doAllChores(context: CharonContext): Promise<void> {
  for (const proposalId of listProposalsWithChores(context.db, proposalsPerSweep)) await doChores(context, proposalId);
}

async function doChore(context: CharonContext, stored: StoredProposal, chore: StoreChore): Promise<void> {
  const { project_id: projectId, proposal_id: proposalId } = stored;
  switch (chore.chore) {
    case 'keep':
      return keep(context, stored, chore);
    case 'reject':
      await context.store.retireConflicts({ projectId, proposalId, status: 'rejected' });
      return;
    case 'cancel':
      await context.store.retireConflicts({ projectId, proposalId, status: 'canceled' });
      return;
    default:
      return assertNever(chore.chore, 'every chore is done');
  }
}

/** Conflicts and the output manifest of a proposal, as of the head of its target when it was filed. */
async function keep(context: CharonContext, stored: StoredProposal, chore: StoreChore): Promise<void> {
  const { store } = context;
  const found = await detect(context, stored, chore.target_head);
  const kept =
    found.length === 0
      ? []
      : await store.persistConflicts({
          sides: sidesOf(stored, chore.target_head),
          proposalId: stored.proposal_id,
          conflictIds: found.map(({ conflict_id: id }) => id),
          principal: stored.originator,
        });
  const head = await store.findChangeset(stored.head_changeset_id);
  await store.recordOutput({
    projectId: stored.project_id,
    refName: head?.ref_name ?? stored.target_ref,
    headChangesetId: stored.head_changeset_id,
    baseChangesetId: stored.base_changeset_id,
    proposedTargetRef: stored.target_ref,
    mergeProposalId: stored.proposal_id,
    unresolvedConflicts: kept
      .filter(({ severity, status }) => severity === 'blocking' && status === 'open')
      .map(({ conflict_id: id }) => id),
    sessionId: head?.session_id,
    actorId: head?.actor_id,
  });
}
