import type { ProposalId } from '../../src-preload/contract/ids.ts';
import { assertNever } from '../base/assert.ts';
import { toTimestamp } from '../base/clock.ts';
import { detect, sidesOf } from './conflicts-now.ts';
import { type CharonContext, write } from './context.ts';
import { getStoredProposal, type ProposalNow } from './proposal-now.ts';
import { isOpen } from './rules/proposal-state.ts';
import type { StoredProposal } from './tables/proposals.ts';
import { deleteChore, listChoresOf, listProposalsWithChores, type StoreChore } from './tables/store-chores.ts';

/** Proposals of one sweep. */
const proposalsPerSweep = 1_000;

/**
 * Tells the store what is due for one proposal, in order: what it is in conflict with and what it brings, or that its
 * conflicts ended (`charon.md` §4). Each is the same when it is told twice. Never throws: what cannot be told now waits; what
 * comes up while another call is about the proposal is told by that one.
 */
export async function doChores(context: CharonContext, proposalId: ProposalId): Promise<void> {
  if (context.readOnly || context.choresInFlight.has(proposalId)) return;
  await alone(context, proposalId, () => tellAll(context, proposalId));
}

/**
 * Runs work on a proposal that the store is told nothing else about meanwhile, after what was due: what is kept late, of a
 * merge that has landed, would open its conflicts again.
 */
export async function afterChores<Result>(
  context: CharonContext,
  proposalId: ProposalId,
  work: () => Promise<Result>,
): Promise<Result> {
  const { choresInFlight } = context;
  for (let running = choresInFlight.get(proposalId); running !== undefined; running = choresInFlight.get(proposalId))
    await running;
  return alone(context, proposalId, async () => {
    await tellAll(context, proposalId);
    try {
      return await work();
    } finally {
      await tellAll(context, proposalId);
    }
  });
}

async function alone<Result>(
  { choresInFlight }: CharonContext,
  proposalId: ProposalId,
  work: () => Promise<Result>,
): Promise<Result> {
  const own = work();
  const ended = own.then(
    () => undefined,
    () => undefined,
  );
  choresInFlight.set(proposalId, ended);
  try {
    return await own;
  } finally {
    choresInFlight.delete(proposalId);
  }
}

async function tellAll(context: CharonContext, proposalId: ProposalId): Promise<void> {
  try {
    for (
      let [chore] = listChoresOf(context.db, proposalId);
      chore !== undefined;
      [chore] = listChoresOf(context.db, proposalId)
    ) {
      const { seq } = chore;
      await doChore(context, getStoredProposal(context.db, proposalId), chore);
      await write(context, (db) => deleteChore(db, seq));
    }
  } catch (thrown) {
    context.log.warn({ err: thrown, proposal: proposalId }, 'what the store is to keep of a proposal is told it later');
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
  const found = (await isWaiting(context, stored)) ? await detect(context, stored, chore.target_head) : [];
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

/** False once nothing can come of a proposal any more, or its target holds what it brings: its conflicts are past then. */
async function isWaiting({ store }: CharonContext, stored: StoredProposal): Promise<boolean> {
  if (!isOpen(stored.status)) return false;
  const target = await store.findRef(stored.project_id, stored.target_ref);
  return target === undefined || !(await store.isAncestor(stored.head_changeset_id, target.head_changeset_id));
}
