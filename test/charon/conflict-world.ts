import type { Changeset } from '../../src-preload/contract/changeset.ts';
import type { Conflict, ResolutionInput } from '../../src-preload/contract/conflict.ts';
import { type ChangesetId, mainRefName, memoryIdSchema, type ProposalId } from '../../src-preload/contract/ids.ts';
import type { AcceptedMemory } from '../../src-preload/contract/memory.ts';
import type { Proposal, ProposalDetail } from '../../src-preload/contract/proposal.ts';
import type { OpDraft } from '../support/history-builder.ts';
import { branchWith, demo, judge, type MergeWorld, mergeBy, proposeHead } from './merge-world.ts';

/** Lands a branch with these ops in main. */
export async function land(world: MergeWorld, ops: readonly OpDraft[]): Promise<Changeset> {
  const head = await branchWith(world, ops);
  await approveAndMerge(world, await proposeHead(world, head));
  return head;
}

/** Has the reviewer approve what the proposal is now, and merge it. */
export async function approveAndMerge(world: MergeWorld, filed: Pick<Proposal, 'proposal_id'>) {
  await judge(world, world.reviewer, filed.proposal_id, 'approve');
  return mergeBy(world, world.reviewer, filed.proposal_id);
}

/** Two branches of one main, the first landed, the second proposed: what both changed is in conflict. */
export async function contest(
  world: MergeWorld,
  ours: readonly OpDraft[],
  theirs: readonly OpDraft[],
): Promise<{ readonly ours: Changeset; readonly theirs: Changeset; readonly filed: Proposal }> {
  const right = await branchWith(world, theirs);
  const left = await land(world, ours);
  return { ours: left, theirs: right, filed: await proposeHead(world, right) };
}

/** The whole of a proposal, as the owner sees it. */
export function show(world: MergeWorld, { proposal_id: id }: Pick<Proposal, 'proposal_id'>): Promise<ProposalDetail> {
  return world.charon.charon.showProposal(world.owner, id, { limit: 100 });
}

/** The conflict of that type that the proposal has now. */
export async function conflictOf(
  world: MergeWorld,
  filed: Pick<Proposal, 'proposal_id'>,
  type: Conflict['conflict_type'],
): Promise<Conflict> {
  const found = (await show(world, filed)).conflicts.find((conflict) => conflict.conflict_type === type);
  if (found === undefined) throw new Error(`there is no ${type}`);
  return found;
}

/** Drafts a resolution of the conflict of that type. */
export async function draft(
  world: MergeWorld,
  filed: Pick<Proposal, 'proposal_id'>,
  type: Conflict['conflict_type'],
  chosen: Omit<ResolutionInput, 'conflict_key'>,
): Promise<void> {
  const { conflict_key: key } = await conflictOf(world, filed, type);
  await world.charon.charon.draftResolution(world.owner, filed.proposal_id, { conflict_key: key, ...chosen });
}

/** Where main stands. */
export function mainHead(world: MergeWorld): ChangesetId {
  const ref = world.temp.lethe.findRef(demo, mainRefName);
  if (ref === undefined) throw new Error('there is no main');
  return ref.head_changeset_id;
}

/** What a memory is in main. */
export function inMain(world: MergeWorld, memoryId: string): AcceptedMemory {
  const asked = {
    projectId: demo,
    memoryId: memoryIdSchema.parse(memoryId),
    headChangesetId: mainHead(world),
    limit: 1,
  };
  return world.temp.lethe.getMemory(asked).memory;
}

/** Texts of the memories that are accepted in main, in the order of their ids. */
export function acceptedInMain(world: MergeWorld): Readonly<Record<string, string>> {
  const { memories } = world.temp.lethe.context({ projectId: demo, refName: mainRefName, limit: 100 });
  return Object.fromEntries(memories.map((memory) => [memory.memory_id, memory.content] as const).toSorted());
}

/** The conflicts that the store keeps for a proposal. */
export function keptFor(world: MergeWorld, proposalId: ProposalId): readonly Conflict[] {
  return world.temp.lethe.listConflicts({ projectId: demo, proposalId, limit: 100 }).conflicts;
}
