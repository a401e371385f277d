import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Fault } from '../../src-main/base/fault.ts';
import type { MemoryStorePort } from '../../src-main/charon/store-port.ts';
import { mainRefName } from '../../src-preload/contract/ids.ts';
import type { Proposal } from '../../src-preload/contract/proposal.ts';
import { agent, codeOf, ledgerEntries } from './charon-world.ts';
import {
  branchWith,
  demo,
  judge,
  keyed,
  type MergeWorld,
  mergeBy,
  now,
  openMergeWorld,
  proposal,
  proposeHead,
} from './merge-world.ts';

/** What the store was asked to advance, and a fault to answer the next time instead of moving or after it has moved. */
interface Wire {
  readonly asked: Parameters<MemoryStorePort['advance']>[0][];
  refuse: Fault | undefined;
  loseAnswer: boolean;
  findAdvanceDown: boolean;
  /** What others do while a merge looks at what it would do. */
  meanwhile: () => Promise<unknown>;
}

let wire: Wire;
let world: MergeWorld;
beforeEach(async () => {
  wire = { asked: [], refuse: undefined, loseAnswer: false, findAdvanceDown: false, meanwhile: async () => undefined };
  world = await openMergeWorld((store) => ({
    ...store,
    advance: async (input) => {
      wire.asked.push(input);
      if (wire.refuse !== undefined) throw wire.refuse;
      const moved = await store.advance(input);
      if (wire.loseAnswer) throw new Fault('STORE_UNAVAILABLE', 'the answer was lost');
      return moved;
    },
    mergePreview: async (input) => {
      await wire.meanwhile();
      return store.mergePreview(input);
    },
    findAdvance: (by) => {
      if (wire.findAdvanceDown) return Promise.reject(new Fault('STORE_UNAVAILABLE', 'no answer'));
      return store.findAdvance(by);
    },
  }));
});
afterEach(() => world.remove());

function mainHead() {
  return world.temp.lethe.findRef(demo, mainRefName)?.head_changeset_id;
}

async function approved() {
  const filed = await proposal(world);
  await judge(world, world.reviewer, filed.proposal_id, 'approve');
  return filed;
}

describe('merging', () => {
  test('C51 a proposal ahead of the target is fast-forwarded, and the store records who reviewed and merged', async () => {
    const filed = await approved();
    const merged = await mergeBy(world, world.second, filed.proposal_id);
    expect(merged).toMatchObject({
      proposalId: filed.proposal_id,
      status: 'completed',
      strategy: 'fast_forward',
      resultingChangesetId: filed.head_changeset_id,
      ref: { ref_name: 'refs/shared/main', head_changeset_id: filed.head_changeset_id },
    });
    expect(mainHead()).toBe(filed.head_changeset_id);
    expect(world.temp.lethe.findAdvance({ projectId: demo, proposalId: filed.proposal_id })).toMatchObject({
      proposal_digest: filed.proposal_digest,
      reviewer_principal: world.reviewer.principal.principal_id,
      merger_principal: world.second.principal.principal_id,
      strategy: 'fast_forward',
    });
    expect(await now(world, filed.proposal_id)).toMatchObject({
      status: 'completed',
      review_state: 'approved',
      decided_by: world.second.principal.principal_id,
      resulting_changeset_id: filed.head_changeset_id,
      strategy: 'fast_forward',
      self_merge: false,
    });
    expect(world.charon.events.slice(-2)).toMatchObject([{ status: 'merging' }, { status: 'completed' }]);
  });

  test('C51 when both sides moved, a changeset of both with the marker of a reviewed merge becomes the head', async () => {
    const [first, second] = [await approved(), await approved()];
    await mergeBy(world, world.reviewer, first.proposal_id);
    await judge(world, world.reviewer, second.proposal_id, 'approve');
    const merged = await mergeBy(world, world.reviewer, second.proposal_id);
    expect(merged.strategy).toBe('merge_commit');
    const changeset = world.temp.lethe.findChangeset(merged.resultingChangesetId);
    expect(changeset).toMatchObject({
      parent_ids: [first.head_changeset_id, second.head_changeset_id],
      author_principal: world.reviewer.principal.principal_id,
      actor_id: world.reviewer.principal.actor_id,
      message: 'please',
      ops: [
        {
          op_type: 'attach_verification',
          payload: {
            kind: 'reviewed_merge',
            proposal_id: second.proposal_id,
            source_changeset_id: second.head_changeset_id,
          },
        },
      ],
    });
    expect(changeset?.idempotency_key).toMatch(new RegExp(`^merge:${second.proposal_id}:[0-9a-f]{32}$`));
    expect(mainHead()).toBe(merged.resultingChangesetId);
  });

  test('C42 a head that arrived by another way meanwhile is refused at the merge', async () => {
    const first = await proposal(world);
    const head = world.temp.lethe.findChangeset(first.head_changeset_id);
    if (head === undefined) throw new Error('the head is there');
    const twin = await proposeHead(world, head);
    await judge(world, world.reviewer, first.proposal_id, 'approve');
    await mergeBy(world, world.reviewer, first.proposal_id);
    await judge(world, world.reviewer, twin.proposal_id, 'approve');
    expect(await codeOf(mergeBy(world, world.reviewer, twin.proposal_id))).toBe('NOTHING_TO_MERGE');
    expect((await now(world, twin.proposal_id)).status).toBe('pending');
  });

  test('C49 nothing is merged without a current approval of somebody who is no party to it', async () => {
    const filed = await proposal(world);
    expect(await codeOf(mergeBy(world, world.reviewer, filed.proposal_id))).toBe('NOT_APPROVED');
    expect(await codeOf(mergeBy(world, world.author, filed.proposal_id))).toBe('SELF_APPROVAL');
    await judge(world, world.reviewer, filed.proposal_id, 'approve');
    expect(await codeOf(mergeBy(world, world.author, filed.proposal_id))).toBe('SELF_APPROVAL');
    expect(wire.asked).toEqual([]);
    expect((await mergeBy(world, world.reviewer, filed.proposal_id)).status).toBe('completed');
  });
});

describe('envelopes and failures', () => {
  test('C47 an objection, a cancel or a disabling that comes while a merge is under way stops it', async () => {
    const { charon } = world.charon;
    const attempt = async (meanwhile: (id: Proposal['proposal_id']) => Promise<unknown>) => {
      const filed = await approved();
      wire.meanwhile = () => meanwhile(filed.proposal_id);
      return codeOf(mergeBy(world, world.second, filed.proposal_id));
    };
    expect(await attempt((id) => judge(world, world.reviewer, id, 'request_changes'))).toBe('CHANGES_REQUESTED');
    expect(await attempt((id) => charon.cancel(world.author, id))).toBe('PROPOSAL_STATE');
    const reviewer = world.reviewer.principal.principal_id;
    expect(await attempt(() => charon.setPrincipalEnabled(reviewer, false))).toBe('NOT_APPROVED');
    expect(wire.asked).toEqual([]);
    expect(mainHead()).toBe(world.root.changeset_id);
  });

  test('C52 every attempt carries a fresh nonce, and a captured envelope is worth nothing', async () => {
    const filed = await approved();
    wire.refuse = new Fault('STORE_BUSY', 'busy');
    for (let index = 0; index < 3; index += 1)
      expect(await codeOf(mergeBy(world, world.reviewer, filed.proposal_id))).toBe('STORE_BUSY');
    wire.refuse = undefined;
    await mergeBy(world, world.reviewer, filed.proposal_id);
    const nonces = wire.asked.map((input) => JSON.parse(input.mergeAuthorization).envelope.nonce);
    expect(new Set(nonces).size).toBe(4);
    const last = wire.asked.at(-1);
    if (last === undefined) throw new Error('something was asked');
    expect(await codeOf(world.temp.lethe.advance(last))).toBe('NONCE_CONSUMED');
    world.charon.clock.advance(180_000);
    const unused = wire.asked[0];
    if (unused === undefined) throw new Error('something was asked');
    expect(await codeOf(world.temp.lethe.advance(unused))).toMatch(/^MERGE_AUTHORIZATION/);
  });

  test('C53 a refused merge leaves the proposal pending with its verdicts, and the next one goes through', async () => {
    const filed = await approved();
    const before = await now(world, filed.proposal_id);
    wire.refuse = new Fault('REF_MOVED', 'moved');
    expect(await codeOf(mergeBy(world, world.reviewer, filed.proposal_id))).toBe('REF_MOVED');
    expect(await now(world, filed.proposal_id)).toEqual(before);
    expect(mainHead()).toBe(world.root.changeset_id);
    wire.refuse = undefined;
    expect((await mergeBy(world, world.reviewer, filed.proposal_id)).status).toBe('completed');
  });

  test('C53 a refused merge does not use up its key', async () => {
    const filed = await approved();
    const replay = keyed(world.reviewer, 'memory.merge');
    wire.refuse = new Fault('STORE_BUSY', 'busy');
    expect(await codeOf(world.charon.charon.merge(world.reviewer, filed.proposal_id, replay))).toBe('STORE_BUSY');
    wire.refuse = undefined;
    expect((await world.charon.charon.merge(world.reviewer, filed.proposal_id, replay)).status).toBe('completed');
  });

  test('C54 of many merges at the same moment exactly one moves the target', async () => {
    const filed = await approved();
    const codes = await Promise.all(
      Array.from({ length: 8 }, () => codeOf(mergeBy(world, world.reviewer, filed.proposal_id))),
    );
    expect(codes.filter((code) => code === 'nothing was refused')).toHaveLength(1);
    expect(new Set(codes)).toEqual(new Set(['nothing was refused', 'PROPOSAL_STATE']));
    expect(wire.asked).toHaveLength(1);
  });

  test('C54 of two proposals merged at the same moment one moves the target and the other is pending or lands after it', async () => {
    const both = [await approved(), await approved()];
    const codes = await Promise.all(both.map((filed) => codeOf(mergeBy(world, world.reviewer, filed.proposal_id))));
    expect(codes).toContain('nothing was refused');
    const states = await Promise.all(both.map(async (filed) => (await now(world, filed.proposal_id)).status));
    expect(states.filter((status) => status === 'completed')).toHaveLength(
      codes.filter((code) => code === 'nothing was refused').length,
    );
    expect(states).not.toContain('merging');
    expect(world.temp.lethe.listAdvances(demo, { limit: 10 })).toHaveLength(
      states.filter((status) => status === 'completed').length,
    );
  });

  test('C55 an answer that was lost after the target moved is found in the store’s record', async () => {
    const filed = await approved();
    wire.loseAnswer = true;
    const merged = await mergeBy(world, world.reviewer, filed.proposal_id);
    expect(merged).toMatchObject({ status: 'completed', resultingChangesetId: filed.head_changeset_id });
    expect((await now(world, filed.proposal_id)).status).toBe('completed');
  });

  test('C55 while the store cannot be asked the proposal stays in its merge, and the sweep settles it later', async () => {
    const [landed, refused] = [await approved(), await approved()];
    wire.findAdvanceDown = true;
    wire.loseAnswer = true;
    expect(await codeOf(mergeBy(world, world.reviewer, landed.proposal_id))).toBe('STORE_UNAVAILABLE');
    expect((await now(world, landed.proposal_id)).status).toBe('merging');
    await world.charon.charon.expireProposals();
    expect((await now(world, landed.proposal_id)).status).toBe('merging');
    wire.findAdvanceDown = false;
    await world.charon.charon.expireProposals();
    expect((await now(world, landed.proposal_id)).status).toBe('completed');
    expect((await now(world, refused.proposal_id)).status).toBe('pending');
  });

  test('C60 the same merge again gives the first answer, wherever the target stands by then', async () => {
    const filed = await approved();
    const replay = keyed(world.reviewer, 'memory.merge');
    const first = await world.charon.charon.merge(world.reviewer, filed.proposal_id, replay);
    world.charon.clock.advance(5_000);
    const next = await approved();
    await mergeBy(world, world.reviewer, next.proposal_id);
    expect(await world.charon.charon.merge(world.reviewer, filed.proposal_id, replay)).toEqual(first);
    const changed = { ...replay, requestDigest: 'ef'.repeat(32) };
    expect(await codeOf(world.charon.charon.merge(world.reviewer, filed.proposal_id, changed))).toBe(
      'IDEMPOTENCY_MISMATCH',
    );
    expect(await codeOf(mergeBy(world, world.reviewer, filed.proposal_id))).toBe('PROPOSAL_STATE');
  });
});

describe('the owner’s own', () => {
  const byOwner = async () =>
    proposeHead(world, await branchWith(world, undefined, world.owner.principal.principal_id), world.owner);

  test('C50 the owner merges the owner’s own proposal at the owner’s doors, without a review, and it is recorded', async () => {
    const filed = await byOwner();
    expect(await codeOf(judge(world, world.owner, filed.proposal_id, 'approve'))).toBe('SELF_REVIEW');
    const merged = await mergeBy(world, world.owner, filed.proposal_id);
    expect(merged.status).toBe('completed');
    expect(await now(world, filed.proposal_id)).toMatchObject({
      self_merge: true,
      decided_by: world.owner.principal.principal_id,
    });
    expect(world.temp.lethe.findAdvance({ projectId: demo, proposalId: filed.proposal_id })).toMatchObject({
      reviewer_principal: world.owner.principal.principal_id,
      merger_principal: world.owner.principal.principal_id,
    });
    expect(ledgerEntries(world.charon).filter((entry) => entry.outcome === 'self_merge')).toMatchObject([
      {
        principal: world.owner.principal.principal_id,
        command: 'memory.merge',
        object_ids: [filed.proposal_id, 'refs/shared/main', merged.resultingChangesetId],
      },
    ]);
    expect((await world.charon.charon.audit.verify()).findings).toEqual([]);
  });

  test('C50 not while the setting is off, not against an objection, and not without the owner’s door', async () => {
    const { charon } = world.charon;
    const filed = await byOwner();
    await charon.setOwnerSelfMerge(false);
    expect(await codeOf(mergeBy(world, world.owner, filed.proposal_id))).toBe('SELF_APPROVAL');
    await charon.setOwnerSelfMerge(true);
    const carried = { ...world.owner, credential: world.reviewer.credential, door: 'agent' as const };
    expect(await codeOf(mergeBy(world, carried, filed.proposal_id))).toBe('SELF_APPROVAL');
    await judge(world, world.reviewer, filed.proposal_id, 'request_changes');
    expect(await codeOf(mergeBy(world, world.owner, filed.proposal_id))).toBe('CHANGES_REQUESTED');
    expect((await now(world, filed.proposal_id)).status).toBe('pending');
  });

  test('C50 an agent has no such exception, whatever its profile', async () => {
    const writer = await agent(world.charon, 'writer', 'write');
    const head = await branchWith(world, undefined, writer.principal.principal_id);
    const filed = await proposeHead(world, head, writer);
    expect(await codeOf(mergeBy(world, writer, filed.proposal_id))).toBe('SELF_APPROVAL');
  });

  test('C50 what the owner wrote in somebody else’s proposal makes the owner’s merge a self-merge', async () => {
    const head = await branchWith(world, undefined, world.owner.principal.principal_id);
    const filed = await proposeHead(world, head, world.author);
    await judge(world, world.reviewer, filed.proposal_id, 'approve');
    expect((await mergeBy(world, world.owner, filed.proposal_id)).status).toBe('completed');
    expect((await now(world, filed.proposal_id)).self_merge).toBe(true);
  });
});
