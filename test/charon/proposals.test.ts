import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ConflictsNow } from '../../src-main/charon/conflicts-now.ts';
import { digestOf, getStoredProposal } from '../../src-main/charon/proposal-now.ts';
import type { StoredProposal } from '../../src-main/charon/tables/proposals.ts';
import { conflictSchema } from '../../src-preload/contract/conflict.ts';
import { changesetIdSchema, proposalIdSchema } from '../../src-preload/contract/ids.ts';
import { openProposalsMax, proposalLifeMs } from '../../src-preload/contract/limits.ts';
import { proposalDetailSchema, proposalSchema } from '../../src-preload/contract/proposal.ts';
import { add, addAs, projectId, refName } from '../support/history-builder.ts';
import { codeOf } from './charon-world.ts';
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
  request,
} from './merge-world.ts';

let world: MergeWorld;
beforeEach(async () => {
  world = await openMergeWorld();
});
afterEach(() => world.remove());

const unknown = changesetIdSchema.parse('00000000-0000-7000-8000-00000000dead');

describe('proposing', () => {
  test('C41 a proposal is pinned to its head and says everything of itself', async () => {
    const head = await branchWith(world);
    const filed = await proposeHead(world, head);
    expect(proposalSchema.parse(filed)).toEqual({
      proposal_id: filed.proposal_id,
      kind: 'merge_request',
      project_id: 'demo',
      originator: world.author.principal.principal_id,
      target_ref: 'refs/shared/main',
      base_changeset_id: world.root.changeset_id,
      head_changeset_id: head.changeset_id,
      message: 'please',
      status: 'pending',
      review_state: 'none',
      proposal_digest: filed.proposal_digest,
      target_head: world.root.changeset_id,
      selected_ops: null,
      conflicts: [],
      conflict_ids: [],
      review_findings: [],
      conflict_counts: { blocking: 0, warning: 0, info: 0, unresolved: 0 },
      verdicts: [],
      created_at: '2026-11-30T12:00:00Z',
      expires_at: '2026-12-07T12:00:00Z',
      self_merge: false,
    });
    expect(await world.charon.charon.findProposal(filed.proposal_id)).toEqual(filed);
    expect(world.charon.charon.countPending(demo)).toBe(1);
    expect(world.charon.events.at(-1)).toEqual({
      kind: 'proposal_changed',
      project_id: 'demo',
      proposal_id: filed.proposal_id,
      status: 'pending',
    });
  });

  test('C41 what cannot be proposed is refused by its own code, and nothing is filed', async () => {
    const { charon } = world.charon;
    const head = await branchWith(world);
    const other = await branchWith(world);
    const propose = (more: Parameters<typeof request>[2]) =>
      codeOf(charon.propose(world.author, request(world, head, more), keyed(world.author, 'memory.merge_propose')));
    expect(await propose({ targetRef: refName(head.ref_name) })).toBe('INPUT_INVALID');
    expect(await propose({ targetRef: refName('refs/shared/other') })).toBe('REF_NOT_FOUND');
    expect(await propose({ projectId: projectId('nowhere') })).toBe('REF_NOT_FOUND');
    expect(await propose({ headChangesetId: unknown })).toBe('CHANGESET_NOT_FOUND');
    expect(await propose({ baseChangesetId: unknown })).toBe('CHANGESET_NOT_FOUND');
    expect(await propose({ baseChangesetId: other.changeset_id })).toBe('INPUT_INVALID');
    expect(await propose({ baseChangesetId: head.changeset_id })).toBe('INPUT_INVALID');
    expect(charon.countPending(demo)).toBe(0);
  });

  test('C41 changesets of another project are as unknown as those of none', async () => {
    const { charon } = world.charon;
    await world.temp.lethe.initProject({ projectId: projectId('other'), principal: 'x' });
    const foreign = world.temp.lethe.findRef(projectId('other'), refName('refs/shared/main'));
    const head = foreign?.head_changeset_id ?? unknown;
    const mine = await branchWith(world);
    for (const more of [{ headChangesetId: head }, { baseChangesetId: head }]) {
      const filed = charon.propose(
        world.author,
        request(world, mine, more),
        keyed(world.author, 'memory.merge_propose'),
      );
      expect(await codeOf(filed)).toBe('CHANGESET_NOT_FOUND');
    }
  });

  test('C42 a head that the target already contains is refused', async () => {
    expect(await codeOf(proposeHead(world, world.root))).toBe('NOTHING_TO_MERGE');
  });

  test('C43 a principal has at most 200 open proposals; others are not held up, and a decided one makes room', async () => {
    const head = await branchWith(world);
    const filed = await Promise.all(Array.from({ length: openProposalsMax }, () => proposeHead(world, head)));
    expect(await codeOf(proposeHead(world, head))).toBe('QUOTA');
    expect(world.charon.charon.countPending(demo)).toBe(openProposalsMax);
    await proposeHead(world, head, world.owner);
    await world.charon.charon.cancel(world.author, filed[0]?.proposal_id ?? proposalIdSchema.parse(''));
    await proposeHead(world, head);
    world.charon.clock.advance(proposalLifeMs);
    expect(await codeOf(proposeHead(world, head))).toBe('nothing was refused');
  });

  test('C40 the same request under its key answers the same proposal, also at once; another request is refused', async () => {
    const { charon } = world.charon;
    const head = await branchWith(world);
    const replay = keyed(world.author, 'memory.merge_propose');
    const answers = await Promise.all([1, 2, 3].map(() => charon.propose(world.author, request(world, head), replay)));
    answers.push(await charon.propose(world.author, request(world, head), replay));
    expect(new Set(answers.map((answer) => answer.proposal_id)).size).toBe(1);
    expect(charon.countPending(demo)).toBe(1);
    const changed = { ...replay, requestDigest: 'ef'.repeat(32) };
    expect(await codeOf(charon.propose(world.author, request(world, head), changed))).toBe('IDEMPOTENCY_MISMATCH');
    world.charon = await world.charon.reopen();
    expect((await world.charon.charon.propose(world.author, request(world, head), replay)).proposal_id).toBe(
      answers[0]?.proposal_id,
    );
  });

  test('C40 a remembered answer belongs to its principal, command, project and key, and cannot be changed', async () => {
    const { charon } = world.charon;
    const { key, requestDigest } = keyed(world.author, 'memory.repo_init', 'k');
    await charon.rememberReplay(key, requestDigest, ['a', 'b']);
    await charon.rememberReplay(key, requestDigest, ['a', 'b']);
    expect(charon.findReplay(key, requestDigest)).toEqual(['a', 'b']);
    expect(await codeOf(() => charon.findReplay(key, 'x'))).toBe('IDEMPOTENCY_MISMATCH');
    expect(await codeOf(charon.rememberReplay(key, 'x', []))).toBe('IDEMPOTENCY_MISMATCH');
    for (const more of [
      { principalId: world.reviewer.principal.principal_id },
      { command: 'c' },
      { projectId: 'p' },
      { key: 'K' },
    ]) {
      expect(charon.findReplay({ ...key, ...more }, requestDigest)).toBeUndefined();
    }
    expect(() => world.charon.withDb((db) => db.exec("UPDATE replays SET request_digest = 'x'"))).toThrow('immutable');
    expect(() => world.charon.withDb((db) => db.exec('DELETE FROM replays'))).toThrow('stays');
  });
});

describe('looking', () => {
  test('C59 showing gives what a merge would do now and the changes by meaning, and a decided one keeps its own', async () => {
    const { charon } = world.charon;
    const head = await branchWith(world, [addAs('m1', 'first'), add('second')]);
    const filed = await proposeHead(world, head);
    const shown = await charon.showProposal(world.reviewer, filed.proposal_id, { limit: 10 });
    expect(proposalDetailSchema.parse(shown)).toMatchObject({
      originator_name: 'author',
      preview: { strategy: 'fast_forward', target_head: world.root.changeset_id, proposal_ahead: 1, target_ahead: 0 },
    });
    expect(shown.diff.memories_added.map((item) => item.after?.content)).toEqual(['first', 'second']);
    const paged = await charon.showProposal(world.reviewer, filed.proposal_id, { limit: 1 });
    const rest = await charon.showProposal(world.reviewer, filed.proposal_id, {
      limit: 1,
      cursor: paged.next_cursor,
    });
    expect([paged, rest].flatMap((page) => page.diff.memories_added.map((item) => item.after?.content))).toEqual([
      'first',
      'second',
    ]);
    await judge(world, world.reviewer, filed.proposal_id, 'approve');
    await mergeBy(world, world.reviewer, filed.proposal_id);
    const after = await charon.showProposal(world.reviewer, filed.proposal_id, { limit: 10 });
    expect(after).toMatchObject({
      status: 'completed',
      preview: null,
      review_state: 'approved',
      target_head: world.root.changeset_id,
    });
    expect(after.diff.memories_added).toHaveLength(2);
    const missing = proposalIdSchema.parse(unknown);
    expect(await codeOf(charon.showProposal(world.reviewer, missing, { limit: 10 }))).toBe('PROPOSAL_NOT_FOUND');
    expect(await charon.findProposal(missing)).toBeUndefined();
  });

  test('C58 a list is newest first, in pages, of one project and optionally one status', async () => {
    const { charon } = world.charon;
    const filed: string[] = [];
    for (let index = 0; index < 5; index += 1) filed.unshift((await proposal(world)).proposal_id);
    const ids = (page: { readonly proposals: readonly { readonly proposal_id: string }[] }) =>
      page.proposals.map((each) => each.proposal_id);
    const first = await charon.listProposals({ projectId: demo, limit: 2 });
    const second = await charon.listProposals({ projectId: demo, limit: 2, cursor: first.nextCursor });
    await proposal(world);
    const third = await charon.listProposals({ projectId: demo, limit: 2, cursor: second.nextCursor });
    expect([...ids(first), ...ids(second), ...ids(third)]).toEqual(filed);
    expect(third.nextCursor).toBeUndefined();
    expect(
      await codeOf(charon.listProposals({ projectId: demo, status: 'pending', limit: 2, cursor: first.nextCursor })),
    ).toBe('CURSOR_INVALID');
    await charon.cancel(world.author, proposalIdSchema.parse(filed[0]));
    expect(ids(await charon.listProposals({ projectId: demo, status: 'canceled', limit: 9 }))).toEqual([filed[0]]);
    expect(ids(await charon.listProposals({ projectId: demo, status: 'pending', limit: 9 }))).toHaveLength(5);
    expect(ids(await charon.listProposals({ projectId: projectId('other'), limit: 9 }))).toEqual([]);
  });

  test('C45 the digest covers everything that is proposed, what stands between, and what is drafted for it', async () => {
    const filed = await proposal(world);
    const stored = world.charon.withDb((db) => getStoredProposal(db, filed.proposal_id));
    const found: ConflictsNow = { conflicts: [], drafts: [], resolutions: [] };
    expect(digestOf(stored, found)).toBe(filed.proposal_digest);
    const others: readonly Partial<StoredProposal>[] = [
      { proposal_id: proposalIdSchema.parse(unknown) },
      { kind: 'changeset' },
      { project_id: projectId('x') },
      { originator: world.reviewer.principal.principal_id },
      { target_ref: refName('refs/shared/x') },
      { base_changeset_id: unknown },
      { head_changeset_id: unknown },
      { message: 'x' },
      { selected_ops: [{ changeset_id: unknown, ordinal: 0 }] },
    ];
    for (const other of others)
      expect(digestOf({ ...stored, ...other }, found), JSON.stringify(other)).not.toBe(filed.proposal_digest);
    const conflict = conflictSchema.parse({
      conflict_id: 'a'.repeat(64),
      conflict_key: 'b'.repeat(64),
      project_id: 'demo',
      left_changeset_id: 'l',
      right_changeset_id: 'r',
      conflict_type: 'concurrent_edit',
      severity: 'blocking',
      summary: 's',
      status: 'open',
      created_at: '2026-11-30T12:00:00Z',
    });
    const chosen = { conflict_key: conflict.conflict_key, choice: 'ours' } as const;
    const plan = { kind: 'ops', ops: [], outcomes: new Map(), replaced: [] } as const;
    const resolution = { conflict, chosen, draftedAt: conflict.created_at, plan };
    const states: readonly ConflictsNow[] = [
      found,
      { ...found, conflicts: [conflict] },
      { ...found, conflicts: [{ ...conflict, status: 'resolved' }] },
      { ...found, conflicts: [conflict], resolutions: [resolution] },
      { ...found, conflicts: [conflict], resolutions: [{ ...resolution, chosen: { ...chosen, choice: 'theirs' } }] },
      {
        ...found,
        conflicts: [conflict],
        resolutions: [{ ...resolution, plan: { ...plan, ops: [{ op_type: 'supersede_memory' }] } }],
      },
    ];
    expect(new Set(states.map((state) => digestOf(stored, state))).size).toBe(states.length);
    await judge(world, world.reviewer, filed.proposal_id, 'approve');
    expect((await now(world, filed.proposal_id)).proposal_digest).toBe(filed.proposal_digest);
  });
});

describe('ending', () => {
  test('C56 only the originator cancels, and only what is pending', async () => {
    const { charon } = world.charon;
    const filed = await proposal(world);
    for (const other of [world.reviewer, world.owner]) {
      expect(await codeOf(charon.cancel(other, filed.proposal_id))).toBe('NOT_ORIGINATOR');
    }
    const canceled = await charon.cancel(world.author, filed.proposal_id);
    expect(canceled).toMatchObject({
      status: 'canceled',
      decided_by: world.author.principal.principal_id,
      decided_at: '2026-11-30T12:00:00Z',
    });
    expect(await codeOf(charon.cancel(world.author, filed.proposal_id))).toBe('PROPOSAL_STATE');
    expect(await codeOf(charon.cancel(world.author, proposalIdSchema.parse(unknown)))).toBe('PROPOSAL_NOT_FOUND');
    expect(charon.countPending(demo)).toBe(0);
  });

  test('C57 after seven days a proposal is expired, for every verb at once and for the sweep', async () => {
    const { charon } = world.charon;
    const [old, merged] = [await proposal(world), await proposal(world)];
    await judge(world, world.reviewer, merged.proposal_id, 'approve');
    world.charon.clock.advance(proposalLifeMs - 1);
    expect(await charon.expireProposals()).toBe(0);
    world.charon.clock.advance(1);
    const young = await proposal(world);
    expect((await now(world, old.proposal_id)).status).toBe('expired');
    expect(await codeOf(judge(world, world.reviewer, old.proposal_id, 'approve'))).toBe('PROPOSAL_STATE');
    expect(await codeOf(mergeBy(world, world.reviewer, merged.proposal_id))).toBe('PROPOSAL_STATE');
    expect(await codeOf(charon.cancel(world.author, old.proposal_id))).toBe('PROPOSAL_STATE');
    expect(charon.countPending(demo)).toBe(1);
    expect((await charon.listProposals({ projectId: demo, status: 'pending', limit: 9 })).proposals).toHaveLength(1);
    expect(await charon.expireProposals()).toBe(2);
    expect(await charon.expireProposals()).toBe(0);
    expect((await charon.listProposals({ projectId: demo, status: 'expired', limit: 9 })).proposals).toHaveLength(2);
    expect(await now(world, young.proposal_id)).toMatchObject({ status: 'pending' });
    expect(
      world.charon.events.filter((event) => event.kind === 'proposal_changed' && event.status === 'expired'),
    ).toHaveLength(2);
  });

  test('C44 what is proposed, a verdict and a terminal state cannot be changed in the file', async () => {
    const filed = await proposal(world);
    await judge(world, world.reviewer, filed.proposal_id, 'reject');
    await proposeHead(world, await branchWith(world));
    const statements = [
      "UPDATE proposals SET status = 'pending', decided_at = NULL WHERE status = 'rejected'",
      "UPDATE proposals SET message = 'x' WHERE status = 'pending'",
      "UPDATE proposals SET head_changeset_id = base_changeset_id WHERE status = 'pending'",
      "UPDATE proposals SET status = 'completed' WHERE status = 'pending'",
      'DELETE FROM proposals',
      "UPDATE verdicts SET verdict = 'approve'",
      'DELETE FROM verdicts',
    ];
    for (const statement of statements)
      expect(() => world.charon.withDb((db) => db.exec(statement)), statement).toThrow();
  });
});

describe('indexes', () => {
  test('C58 lists, counts and sweeps are answered from an index', async () => {
    await proposal(world);
    const plans = world.charon.withDb((db) => [
      db.explain("SELECT seq FROM proposals WHERE project_id = 'p' AND seq < 9 ORDER BY seq DESC LIMIT 5"),
      db.explain(
        "SELECT seq FROM proposals WHERE project_id = 'p' AND status = 'pending' AND seq < 9 ORDER BY seq DESC LIMIT 5",
      ),
      db.explain("SELECT seq FROM proposals WHERE status = 'pending' AND expires_ms <= 1 ORDER BY expires_ms LIMIT 5"),
      db.explain("SELECT COUNT(*) FROM proposals WHERE originator = 'x' AND status IN ('pending', 'merging')"),
      db.explain("SELECT seq FROM proposals WHERE status = 'merging' ORDER BY seq"),
      db.explain("SELECT seq FROM verdicts WHERE proposal_id = 'x' ORDER BY seq"),
      db.explain("SELECT seq FROM merge_attempts WHERE proposal_id = 'x' ORDER BY seq DESC LIMIT 1"),
    ]);
    for (const plan of plans) {
      expect(plan.join(), plan.join()).toMatch(/USING (COVERING )?INDEX|USING INTEGER PRIMARY KEY/);
      expect(plan.join()).not.toMatch(/TEMP B-TREE/);
    }
  });
});
