import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Fault } from '../../src-main/base/fault.ts';
import type { AuditSubject, Caller } from '../../src-main/charon/api.ts';
import type { MemoryStorePort } from '../../src-main/charon/store-port.ts';
import { letheAdapter } from '../../src-main/commands/lethe-adapter.ts';
import { addAs, correct, projectId, refName } from '../support/history-builder.ts';
import { codeOf, ledgerEntries, obolOf, subject } from './charon-world.ts';
import { contest, draft, inMain, keptFor, land } from './conflict-world.ts';
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
  request,
} from './merge-world.ts';

let world: MergeWorld;
let storeDown = false;
beforeEach(async () => {
  storeDown = false;
  world = await openMergeWorld((store) => ({
    ...store,
    findChangesetByKey: (...asked) => {
      if (storeDown) return Promise.reject(new Fault('STORE_UNAVAILABLE', 'down'));
      return store.findChangesetByKey(...asked);
    },
  }));
});
afterEach(() => world.remove());

/** Writes an intent and nothing after it, as a process that dies leaves it. */
async function leave(by: Caller, command: string, more: Partial<AuditSubject> = {}): Promise<string> {
  const correlationId = more.correlationId ?? `left ${command}`;
  await world.charon.charon.audit.intent(
    subject(correlationId, { principal: by.principal.principal_id, credentialId: by.credential.id, command, ...more }),
  );
  return correlationId;
}

/** What the ledger says of an intent after the next start. */
async function settled(correlationId: string): Promise<readonly string[]> {
  world.charon = await world.charon.reopenAfterKill();
  await world.charon.charon.settle();
  return ledgerEntries(world.charon)
    .filter((entry) => entry.correlation_id === correlationId && entry.phase === 'outcome')
    .map((entry) => entry.outcome);
}

describe('intents without an outcome', () => {
  test('C65 a commit is settled by project, author and key', async () => {
    const made = await branchWith(world);
    const author = world.author;
    const done = await leave(author, 'memory.changeset_create', { idempotencyKey: made.idempotency_key });
    expect(await settled(done)).toEqual(['settled: applied']);
    const lost = await leave(author, 'memory.changeset_create', { idempotencyKey: 'never', correlationId: 'lost' });
    expect(await settled(lost)).toEqual(['settled: not_applied']);
    const others = await leave(world.reviewer, 'memory.changeset_create', {
      idempotencyKey: made.idempotency_key,
      correlationId: 'others',
    });
    expect(await settled(others)).toEqual(['settled: not_applied']);
    expect((await world.charon.charon.audit.verify()).findings).toEqual([]);
  });

  test('C65 a project, a branch, a proposal, a verdict and a withdrawal are settled by their own records', async () => {
    const { charon } = world.charon;
    const outcomes: Record<string, readonly string[]> = {};
    const check = async (name: string, by: Caller, command: string, more: Partial<AuditSubject>) => {
      await leave(by, command, { ...more, correlationId: name });
      outcomes[name] = await settled(name);
    };
    const branch = refName('refs/topics/mine');
    await check('init yes', world.author, 'memory.repo_init', {});
    await check('init no', world.author, 'memory.repo_init', { project: 'nowhere' });
    await check('branch no', world.author, 'memory.branch_create', { objectIds: [branch] });
    await world.temp.lethe.createRef({
      projectId: demo,
      refName: branch,
      headChangesetId: world.root.changeset_id,
      principal: world.author.principal.principal_id,
    });
    await check('branch yes', world.author, 'memory.branch_create', { objectIds: [branch] });
    await check('branch of another', world.second, 'memory.branch_create', { objectIds: [branch] });
    const replay = keyed(world.author, 'memory.merge_propose', 'p1');
    await check('propose no', world.author, 'memory.merge_propose', { idempotencyKey: 'p1' });
    const filed = await charon.propose(world.author, request(world, await branchWith(world)), replay);
    await check('propose yes', world.author, 'memory.merge_propose', { idempotencyKey: 'p1' });
    const about = { objectIds: [filed.proposal_id] };
    await check('review no', world.reviewer, 'memory.merge_review', about);
    await judge(world, world.reviewer, filed.proposal_id, 'approve');
    await check('review yes', world.reviewer, 'memory.merge_review', about);
    const waited = ['confirmed: desk', `request: ${world.charon.ids.uuidv7()}`, filed.proposal_id];
    await check('review that waited yes', world.reviewer, 'memory.merge_review', { objectIds: waited });
    world.charon.clock.advance(1_000);
    await check('review of before', world.reviewer, 'memory.merge_review', about);
    await check('merge no', world.reviewer, 'memory.merge', about);
    await check('cancel no', world.author, 'memory.merge_cancel', about);
    await mergeBy(world, world.reviewer, filed.proposal_id);
    await check('merge yes', world.reviewer, 'memory.merge', about);
    await check('merge of another', world.second, 'memory.merge', about);
    expect(outcomes).toEqual(
      Object.fromEntries(
        Object.keys(outcomes).map((name) => [
          name,
          [name.endsWith(' yes') ? 'settled: applied' : 'settled: not_applied'],
        ]),
      ),
    );
  });

  test('C66 what no record decides is marked ambiguous once, stays listed, and is told at every start', async () => {
    await leave(world.author, 'principal.set_enabled', { correlationId: 'c1' });
    await leave(world.author, 'memory.merge_review', { correlationId: 'c2', objectIds: ['no id'] });
    await leave(world.author, 'constructor', { correlationId: 'c3' });
    expect(await settled('c1')).toEqual(['ambiguous']);
    expect(await settled('c2')).toEqual(['ambiguous']);
    expect(await settled('c3')).toEqual(['ambiguous']);
    expect(await world.charon.charon.settle()).toEqual({ settled: 0, ambiguous: 3 });
    expect((await world.charon.charon.audit.verify()).findings).toEqual([]);
  });

  test('C66 while the store cannot be asked an intent stays open and is settled at a later start', async () => {
    const left = await leave(world.author, 'memory.changeset_create', { idempotencyKey: 'k' });
    storeDown = true;
    expect(await settled(left)).toEqual([]);
    storeDown = false;
    expect(await settled(left)).toEqual(['settled: not_applied']);
  });

  test('C65 an intent that has its outcome is left alone', async () => {
    const left = await leave(world.author, 'memory.changeset_create', { idempotencyKey: 'k' });
    world.charon.charon.audit.outcome(subject(left), 'done');
    await world.charon.charon.audit.flush();
    expect(await settled(left)).toEqual(['done']);
    expect(await world.charon.charon.settle()).toEqual({ settled: 0, ambiguous: 0 });
  });
});

describe('proposals that a crash left in their merge', () => {
  /** Dies inside the merge: before the store was asked, or after it moved. */
  async function dieInMerge(at: 'before' | 'after') {
    const filed = await proposal(world);
    await judge(world, world.reviewer, filed.proposal_id, 'approve');
    let reached: () => void = () => undefined;
    const there = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const adapter = letheAdapter(() => world.store);
    const dying: MemoryStorePort = {
      ...adapter,
      advance: async (input) => {
        if (at === 'after') await adapter.advance(input);
        reached();
        return new Promise(() => undefined);
      },
    };
    world.charon = await world.charon.reopen({ store: dying });
    const replay = keyed(world.reviewer, 'memory.merge');
    void world.charon.charon.merge(world.reviewer, filed.proposal_id, replay);
    await there;
    expect((await now(world, filed.proposal_id)).status).toBe('merging');
    world.charon = await world.charon.reopenAfterKill({ store: adapter });
    return { filed, replay };
  }

  test('C55 killed before the target moved: pending again, verdicts kept, and the merge can be asked again', async () => {
    const { filed, replay } = await dieInMerge('before');
    expect(await world.charon.charon.settle()).toEqual({ settled: 1, ambiguous: 0 });
    expect(await now(world, filed.proposal_id)).toMatchObject({ status: 'pending', review_state: 'approved' });
    expect((await world.charon.charon.merge(world.reviewer, filed.proposal_id, replay)).status).toBe('completed');
  });

  test('C55 killed after the target moved: completed, and the same request gets its answer', async () => {
    const { filed, replay } = await dieInMerge('after');
    expect(await world.charon.charon.settle()).toEqual({ settled: 1, ambiguous: 0 });
    expect(await now(world, filed.proposal_id)).toMatchObject({
      status: 'completed',
      resulting_changeset_id: filed.head_changeset_id,
      strategy: 'fast_forward',
      decided_by: world.reviewer.principal.principal_id,
    });
    const again = await world.charon.charon.merge(world.reviewer, filed.proposal_id, replay);
    expect(again).toMatchObject({ status: 'completed', resultingChangesetId: filed.head_changeset_id });
    expect(world.temp.lethe.listAdvances(demo, { limit: 5 })).toHaveLength(1);
  });
});

describe('merges with conflicts that a crash cut off', () => {
  const steps = ['commitDetached', 'persistConflicts', 'resolveConflict', 'advance'] as const;
  const places = steps.flatMap((step) => [[step, 'before'] as const, [step, 'after'] as const]);

  test.each(places)(
    'C55 C81 killed at %s, %s it was done: completed or pending again, nothing half',
    async (step, when) => {
      await land(world, [addAs('m', 'old')]);
      const { filed } = await contest(world, [correct('m', { content: 'left' })], [correct('m', { content: 'right' })]);
      await draft(world, filed, 'concurrent_edit', { choice: 'theirs' });
      await judge(world, world.reviewer, filed.proposal_id, 'approve');
      const before = await now(world, filed.proposal_id);
      const adapter = letheAdapter(() => world.store);
      let reached: () => void = () => undefined;
      const there = new Promise<void>((resolve) => {
        reached = resolve;
      });
      const hang = async (done: () => Promise<unknown>): Promise<never> => {
        if (when === 'after') await done();
        reached();
        return new Promise(() => undefined);
      };
      const hanging: Record<(typeof steps)[number], Partial<MemoryStorePort>> = {
        commitDetached: { commitDetached: (input) => hang(() => adapter.commitDetached(input)) },
        persistConflicts: { persistConflicts: (input) => hang(() => adapter.persistConflicts(input)) },
        resolveConflict: { resolveConflict: (input) => hang(() => adapter.resolveConflict(input)) },
        advance: { advance: (input) => hang(() => adapter.advance(input)) },
      };
      const dying: MemoryStorePort = { ...adapter, ...hanging[step] };
      world.charon = await world.charon.reopen({ store: dying });
      const replay = keyed(world.reviewer, 'memory.merge');
      void world.charon.charon.merge(world.reviewer, filed.proposal_id, replay);
      await there;
      world.charon = await world.charon.reopenAfterKill({ store: adapter });
      await world.charon.charon.settle();
      const isDone = step === 'advance' && when === 'after';
      if (isDone)
        expect(await now(world, filed.proposal_id)).toMatchObject({
          status: 'completed',
          conflicts: [{ status: 'resolved' }],
        });
      else expect(await now(world, filed.proposal_id)).toEqual(before);
      const merged = await world.charon.charon.merge(world.reviewer, filed.proposal_id, replay);
      expect(merged).toMatchObject({ status: 'completed', strategy: 'merge_commit' });
      expect(inMain(world, 'm').content).toBe('right');
      expect(keptFor(world, filed.proposal_id)).toMatchObject([{ status: 'resolved' }]);
      expect((await world.temp.lethe.verifyChain(demo)).findings).toEqual([]);
    },
  );

  test('C65 drafts, dropped drafts and reverts are settled by their own records', async () => {
    await land(world, [addAs('m', 'old')]);
    const { filed, ours } = await contest(
      world,
      [correct('m', { content: 'left' })],
      [correct('m', { content: 'right' })],
    );
    const key = filed.conflicts[0]?.conflict_key ?? '';
    const about = { objectIds: [filed.proposal_id, key] };
    const outcomes: Record<string, readonly string[]> = {};
    const check = async (name: string, by: Caller, command: string, more: Partial<AuditSubject>) => {
      await leave(by, command, { ...more, correlationId: name });
      outcomes[name] = await settled(name);
    };
    await check('draft no', world.owner, 'proposal.draft_resolution', about);
    await check('drop yes', world.owner, 'proposal.drop_resolution', about);
    await draft(world, filed, 'concurrent_edit', { choice: 'theirs' });
    await check('draft yes', world.owner, 'proposal.draft_resolution', about);
    await check('draft of another', world.reviewer, 'proposal.draft_resolution', about);
    await check('drop no', world.owner, 'proposal.drop_resolution', about);
    world.charon.clock.advance(1_000);
    await check('draft of before', world.owner, 'proposal.draft_resolution', about);
    await check('revert no', world.author, 'memory.revert_propose', { idempotencyKey: 'r1' });
    const asked = { kind: 'changeset', projectId: demo, message: 'back', changesetId: ours.changeset_id } as const;
    for (const command of ['memory.revert_propose', 'proposal.revert_advance'])
      await world.charon.charon.proposeRevert(world.author, asked, keyed(world.author, command, 'r1'));
    await check('revert yes', world.author, 'memory.revert_propose', { idempotencyKey: 'r1' });
    await check('undo yes', world.author, 'proposal.revert_advance', { idempotencyKey: 'r1' });
    await check('undo no', world.author, 'proposal.revert_advance', { idempotencyKey: 'r2' });
    for (const [name, outcome] of Object.entries(outcomes))
      expect(outcome, name).toEqual([name.endsWith(' yes') ? 'settled: applied' : 'settled: not_applied']);
  });
});

describe('recovery', () => {
  test('C70 in recovery every read works, every mutation is refused, and the ledger still grows', async () => {
    const filed = await proposal(world);
    await world.charon.charon.audit.intent(subject('left', { command: 'obol.mint' }));
    world.charon = await world.charon.reopen({ readOnly: true });
    const { charon } = world.charon;
    expect(charon.readOnly).toBe(true);
    expect(charon.listPrincipals()).toHaveLength(4);
    expect((await charon.listProposals({ projectId: demo, limit: 5 })).proposals).toHaveLength(1);
    expect((await charon.showProposal(world.reviewer, filed.proposal_id, { limit: 5 })).status).toBe('pending');
    const author = world.author.principal.principal_id;
    const mutations: Record<string, () => Promise<unknown>> = {
      reconcile: () => charon.reconcilePrincipal({ name: 'n', profile: 'propose', grant: demo }),
      enable: () => charon.setPrincipalEnabled(author, false),
      revokeGrant: () => charon.revokeGrant(author, demo),
      mint: () => charon.mintObol({ principalId: author, expiresMs: null }),
      revoke: () => charon.revokeObol(obolOf(world.author)),
      replay: () => charon.rememberReplay(keyed(world.author, 'c').key, 'd', []),
      propose: () =>
        charon.propose(
          world.author,
          { ...request(world, world.root), projectId: projectId('x') },
          keyed(world.author, 'c'),
        ),
      review: () => judge(world, world.reviewer, filed.proposal_id, 'approve'),
      merge: () => mergeBy(world, world.reviewer, filed.proposal_id),
      cancel: () => charon.cancel(world.author, filed.proposal_id),
      draft: () =>
        charon.draftResolution(world.owner, filed.proposal_id, { conflict_key: filed.proposal_digest, choice: 'ours' }),
      drop: () => charon.dropResolution(filed.proposal_id, filed.proposal_digest),
      revert: () =>
        charon.proposeRevert(
          world.author,
          { kind: 'changeset', projectId: demo, message: 'x', changesetId: filed.head_changeset_id },
          keyed(world.author, 'c'),
        ),
      setting: () => charon.setOwnerSelfMerge(false),
    };
    for (const [name, mutate] of Object.entries(mutations)) expect(await codeOf(mutate()), name).toBe('READ_ONLY');
    expect(await charon.expireProposals()).toBe(0);
    const before = ledgerEntries(world.charon).length;
    charon.audit.note(subject('read'), 'read_only: READ_ONLY');
    expect((await charon.audit.verify()).findings).toEqual([]);
    expect(ledgerEntries(world.charon)).toHaveLength(before + 1);
  });

  test('C67 in recovery nothing is settled', async () => {
    await world.charon.charon.audit.intent(subject('left', { command: 'obol.mint' }));
    world.charon = await world.charon.reopenAfterKill({ readOnly: true });
    expect(await world.charon.charon.settle()).toEqual({ settled: 0, ambiguous: 0 });
    expect(
      ledgerEntries(world.charon).filter((entry) => entry.phase === 'outcome' && entry.correlation_id === 'left'),
    ).toEqual([]);
  });
});
