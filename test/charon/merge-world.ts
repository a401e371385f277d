import type { Caller, ProposeInput, ReplayKey } from '../../src-main/charon/api.ts';
import type { MemoryStorePort } from '../../src-main/charon/store-port.ts';
import { letheAdapter } from '../../src-main/commands/lethe-adapter.ts';
import type { MemoryStore } from '../../src-main/commands/memory-store.ts';
import type { Changeset } from '../../src-preload/contract/changeset.ts';
import { mainRefName, type ProposalId } from '../../src-preload/contract/ids.ts';
import type { Proposal, Verdict } from '../../src-preload/contract/proposal.ts';
import {
  add,
  type HistoryBuilder,
  historyBuilder,
  type OpDraft,
  openTempLethe,
  projectId,
  type TempLethe,
} from '../support/history-builder.ts';
import { agent, type CharonWorld, openWorld } from './charon-world.ts';
import { storeUnderTest } from './store-under-test.ts';

export const demo = projectId('demo');

/** A policy engine over a real store, with the people of a review. */
export interface MergeWorld {
  charon: CharonWorld;
  readonly temp: TempLethe;
  /** The store as the policy engine of this world reaches it. */
  readonly store: MemoryStore;
  readonly history: HistoryBuilder;
  readonly root: Changeset;
  readonly author: Caller;
  readonly reviewer: Caller;
  readonly second: Caller;
  readonly owner: Caller;
  remove(): Promise<void>;
}

/** Counts keys and refs, so that no two requests of a test share one by accident. */
let counted = 0;
export function fresh(stem: string): string {
  counted += 1;
  return `${stem}-${counted}`;
}

/** A project `demo` with its root. `wrap` puts something between the engine and the store, to make it fail. */
export async function openMergeWorld(
  wrap: (store: MemoryStorePort) => MemoryStorePort = (store) => store,
): Promise<MergeWorld> {
  const store = wrap(letheAdapter(() => reached.store));
  const charon = await openWorld({ store });
  const temp: TempLethe = openTempLethe({ clock: charon.clock, ownerPrincipal: charon.charon.owner().principal_id });
  const reached = await storeUnderTest(temp);
  const author = await agent(charon, 'author', 'propose');
  const reviewer = await agent(charon, 'reviewer', 'review');
  const second = await agent(charon, 'second', 'review');
  const history = historyBuilder(temp, 'demo', author.principal.principal_id);
  const root = await history.init();
  const world: MergeWorld = {
    charon,
    temp,
    store: reached.store,
    history,
    root,
    author,
    reviewer,
    second,
    owner: charon.charon.ownerCaller('window'),
    remove: async () => {
      await world.charon.remove();
      await reached.close();
      temp.remove();
    },
  };
  return world;
}

/** A keyed request, as a door makes one. */
export function keyed(
  caller: Caller,
  command: string,
  key: string = fresh('key'),
): { key: ReplayKey; requestDigest: string } {
  return {
    key: { principalId: caller.principal.principal_id, command, projectId: 'demo', key },
    requestDigest: 'cd'.repeat(32),
  };
}

/** A branch off main with one commit, by the history's author or another. */
export async function branchWith(
  world: MergeWorld,
  ops: readonly OpDraft[] = [add(fresh('memory'))],
  authorPrincipal: string = world.author.principal.principal_id,
  from: string | Changeset = 'refs/shared/main',
): Promise<Changeset> {
  const ref = `refs/topics/${fresh('t')}`;
  await world.history.branch(ref, from);
  return world.history.commit(ref, ops, { authorPrincipal });
}

/** The request to merge a changeset that was branched off some base. */
export function request(world: MergeWorld, head: Changeset, more: Partial<ProposeInput> = {}): ProposeInput {
  return {
    projectId: demo,
    targetRef: mainRefName,
    headChangesetId: head.changeset_id,
    baseChangesetId: world.root.changeset_id,
    message: 'please',
    ...more,
  };
}

/** Proposes a changeset to main. */
export function proposeHead(world: MergeWorld, head: Changeset, by: Caller = world.author): Promise<Proposal> {
  return world.charon.charon.propose(by, request(world, head), keyed(by, 'memory.merge_propose'));
}

/** A pending proposal of one new memory. */
export async function proposal(world: MergeWorld): Promise<Proposal> {
  return proposeHead(world, await branchWith(world));
}

/** A verdict on the proposal as it is now. */
export async function judge(world: MergeWorld, by: Caller, proposalId: ProposalId, verdict: Verdict) {
  const now = await world.charon.charon.findProposal(proposalId);
  return world.charon.charon.review(by, {
    proposalId,
    verdict,
    comment: '',
    severity: 'info',
    proposalDigest: now?.proposal_digest,
    targetHead: now?.target_head,
  });
}

/** Merges with a key of its own. */
export function mergeBy(world: MergeWorld, by: Caller, proposalId: ProposalId) {
  return world.charon.charon.merge(by, proposalId, keyed(by, 'memory.merge'));
}

/** The proposal as it is now. */
export async function now(world: MergeWorld, proposalId: ProposalId): Promise<Proposal> {
  const found = await world.charon.charon.findProposal(proposalId);
  if (found === undefined) throw new Error('the proposal is gone');
  return found;
}
