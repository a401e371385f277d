import { expect, test } from 'vitest';
import type { Caller } from '../../src-main/charon/api.ts';
import { branch, commit, newKey, proposal, startProject } from '../support/history-in-engine.ts';
import { type TempEngine, tempEngine } from '../support/temp-engine.ts';

async function stage() {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  const writer = await engine.agent('writer', 'propose', 'demo');
  const reviewer = await engine.agent('reviewer', 'review', 'demo');
  return { engine, writer, reviewer };
}

/** A verdict about what the caller was shown just now. */
async function approve(engine: TempEngine, caller: Caller, proposalId: string) {
  const seen = await engine.run(caller, 'memory.proposal_show', { proposal_id: proposalId });
  return engine.run(caller, 'memory.merge_review', {
    proposal_id: proposalId,
    verdict: 'approve',
    proposal_digest: seen.proposal_digest,
    target_head: seen.target_head,
  });
}

test('P6 the main job: an agent proposes, the owner looks, approves and merges, another agent reads', async () => {
  const { engine, writer } = await stage();
  const proposed = await proposal(engine, writer, 'demo', 'work', 'the door is blue');
  expect(proposed).toMatchObject({
    status: 'pending',
    review_state: 'none',
    originator: writer.principal.principal_id,
    conflicts: [],
  });
  const shown = await engine.run(engine.owner, 'memory.proposal_show', { proposal_id: proposed.proposal_id });
  expect(shown).toMatchObject({ originator_name: 'writer', preview: { strategy: 'fast_forward', contested_total: 0 } });
  expect(shown.diff.memories_added.map(({ after }) => after?.content)).toEqual(['the door is blue']);
  expect(await approve(engine, engine.owner, proposed.proposal_id)).toMatchObject({
    verdict: 'approve',
    outcome: 'approved',
    proposal_digest: shown.proposal_digest,
  });
  const merged = await engine.run(engine.owner, 'memory.merge', {
    proposal_id: proposed.proposal_id,
    idempotency_key: newKey(),
  });
  expect(merged).toMatchObject({
    status: 'completed',
    strategy: 'fast_forward',
    resulting_changeset_id: proposed.head_changeset_id,
    ref: { ref_name: 'refs/shared/main' },
  });
  const reader = await engine.agent('reader', 'readonly', 'demo');
  expect(
    (await engine.run(reader, 'memory.context_at', { project: 'demo' })).memories.map(({ content }) => content),
  ).toEqual(['the door is blue']);
  const last = (await engine.entries()).findLast(
    ({ command, phase }) => command === 'memory.merge' && phase === 'outcome',
  );
  const main = (await engine.run(engine.owner, 'project.list', {})).projects[0];
  expect(last?.object_ids).toEqual([
    proposed.proposal_id,
    'refs/shared/main',
    main?.main_head,
    main?.main_chain_digest,
  ]);
});

test('P6 when main moved meanwhile the merge is a commit of its own', async () => {
  const { engine, writer, reviewer } = await stage();
  const [first, second] = [
    await proposal(engine, writer, 'demo', 'a', 'from a'),
    await proposal(engine, writer, 'demo', 'b', 'from b'),
  ];
  for (const each of [first, second]) {
    await approve(engine, reviewer, each.proposal_id);
    await engine.run(reviewer, 'memory.merge', { proposal_id: each.proposal_id, idempotency_key: newKey() });
  }
  const shown = await engine.run(writer, 'memory.proposal_show', { proposal_id: second.proposal_id });
  expect(shown).toMatchObject({ status: 'completed', strategy: 'merge_commit', self_merge: false });
  expect((await engine.run(writer, 'memory.context_at', { project: 'demo' })).total_active).toBe(2);
});

test('P6 separation of duties: nobody reviews or merges its own work, and the refusal comes before any intent', async () => {
  const { engine, writer, reviewer } = await stage();
  const proposed = await proposal(engine, writer, 'demo', 'work', 'mine');
  await engine.run(engine.owner, 'principal.reconcile', { name: 'writer', profile: 'review', project: 'demo' });
  const before = (await engine.entries()).length;
  expect(
    (await engine.refusal(writer, 'memory.merge_review', { proposal_id: proposed.proposal_id, verdict: 'approve' }))
      .code,
  ).toBe('SELF_REVIEW');
  await approve(engine, reviewer, proposed.proposal_id);
  expect(
    (await engine.refusal(writer, 'memory.merge', { proposal_id: proposed.proposal_id, idempotency_key: newKey() }))
      .code,
  ).toBe('SELF_APPROVAL');
  const own = (await engine.entries())
    .slice(before)
    .filter(({ principal }) => principal === writer.principal.principal_id);
  expect(own.map(({ phase, outcome }) => [phase, outcome])).toEqual([
    ['outcome', 'denied SELF_REVIEW'],
    ['outcome', 'denied SELF_APPROVAL'],
  ]);
});

test('P4 propose and merge give their first answer again, word for word, whatever moved since', async () => {
  const { engine, writer, reviewer } = await stage();
  const at = await branch(engine, writer, 'demo', 'work');
  const changeset = await commit(engine, writer, 'demo', at, 'text');
  const asked = {
    project: 'demo',
    target_ref: 'refs/shared/main',
    head_changeset_id: changeset.changeset_id,
    base_changeset_id: at.head,
    message: 'please',
    idempotency_key: newKey(),
  };
  const proposed = await engine.run(writer, 'memory.merge_propose', asked);
  expect(await engine.run(writer, 'memory.merge_propose', asked)).toEqual(proposed);
  expect((await engine.refusal(writer, 'memory.merge_propose', { ...asked, message: 'other' })).code).toBe(
    'IDEMPOTENCY_MISMATCH',
  );
  expect((await engine.run(writer, 'memory.proposal_list', { project: 'demo' })).proposals).toHaveLength(1);

  await approve(engine, reviewer, proposed.proposal_id);
  const merge = { proposal_id: proposed.proposal_id, idempotency_key: newKey() };
  const merged = await engine.run(reviewer, 'memory.merge', merge);
  const next = await proposal(engine, writer, 'demo', 'more', 'more');
  await approve(engine, reviewer, next.proposal_id);
  await engine.run(reviewer, 'memory.merge', { proposal_id: next.proposal_id, idempotency_key: newKey() });
  expect(await engine.run(reviewer, 'memory.merge', merge)).toEqual(merged);
  expect((await engine.refusal(reviewer, 'memory.merge', { ...merge, proposal_id: next.proposal_id })).code).toBe(
    'IDEMPOTENCY_MISMATCH',
  );
  const reused = { proposal_id: proposed.proposal_id, idempotency_key: newKey() };
  expect((await engine.refusal(reviewer, 'memory.merge', reused)).code).toBe('PROPOSAL_STATE');
});

test('P34 at the owner doors a verdict names what was looked at', async () => {
  const { engine, writer, reviewer } = await stage();
  const { proposal_id: id } = await proposal(engine, writer, 'demo', 'work', 'text');
  for (const more of [{}, { proposal_digest: 'a'.repeat(64) }]) {
    const fault = await engine.refusal(engine.owner, 'memory.merge_review', {
      proposal_id: id,
      verdict: 'approve',
      ...more,
    });
    expect(fault).toMatchObject({
      code: 'INPUT_INVALID',
      data: { field: 'proposal_digest' in more ? 'target_head' : 'proposal_digest' },
    });
  }
  expect(await engine.run(reviewer, 'memory.merge_review', { proposal_id: id, verdict: 'approve' })).toMatchObject({
    outcome: 'approved',
  });
});

test('P6 a stale verdict, a missing approval and a rejection are refused with their reasons', async () => {
  const { engine, writer, reviewer } = await stage();
  const { proposal_id: id } = await proposal(engine, writer, 'demo', 'work', 'text');
  const merge = (): Promise<{ code: string }> =>
    engine.refusal(reviewer, 'memory.merge', { proposal_id: id, idempotency_key: newKey() });
  expect((await merge()).code).toBe('NOT_APPROVED');
  const wrong = { proposal_id: id, verdict: 'approve', proposal_digest: 'a'.repeat(64) };
  expect((await engine.refusal(reviewer, 'memory.merge_review', wrong)).code).toBe('PROPOSAL_STALE');
  await engine.run(reviewer, 'memory.merge_review', {
    proposal_id: id,
    verdict: 'request_changes',
    comment: 'say why',
  });
  expect((await merge()).code).toBe('CHANGES_REQUESTED');
  await engine.run(reviewer, 'memory.merge_review', { proposal_id: id, verdict: 'reject', comment: 'no' });
  expect((await merge()).code).toBe('PROPOSAL_STATE');
});

test('P6 only the originator cancels, and only once', async () => {
  const { engine, writer } = await stage();
  const other = await engine.agent('other', 'propose', 'demo');
  const { proposal_id: id } = await proposal(engine, writer, 'demo', 'work', 'text');
  expect((await engine.refusal(other, 'memory.merge_cancel', { proposal_id: id })).code).toBe('NOT_ORIGINATOR');
  expect(await engine.run(writer, 'memory.merge_cancel', { proposal_id: id })).toMatchObject({ status: 'canceled' });
  expect((await engine.refusal(writer, 'memory.merge_cancel', { proposal_id: id })).code).toBe('PROPOSAL_STATE');
  expect(
    (await engine.run(writer, 'memory.proposal_list', { project: 'demo', status: 'canceled' })).proposals,
  ).toHaveLength(1);
  expect((await engine.run(writer, 'memory.proposal_list', { project: 'demo', status: 'pending' })).proposals).toEqual(
    [],
  );
});

test('P6 what cannot be proposed', async () => {
  const { engine, writer } = await stage();
  const at = await branch(engine, writer, 'demo', 'work');
  const changeset = await commit(engine, writer, 'demo', at, 'text');
  const ask = async (bent: object): Promise<string> =>
    (
      await engine.refusal(writer, 'memory.merge_propose', {
        project: 'demo',
        target_ref: 'refs/shared/main',
        head_changeset_id: changeset.changeset_id,
        base_changeset_id: at.head,
        message: 'm',
        idempotency_key: newKey(),
        ...bent,
      })
    ).code;
  expect(await ask({ target_ref: at.ref })).toBe('INPUT_INVALID');
  expect(await ask({ target_ref: 'refs/shared/none' })).toBe('REF_NOT_FOUND');
  expect(await ask({ head_changeset_id: at.head })).toBe('NOTHING_TO_MERGE');
  expect(await ask({ head_changeset_id: '00000000-0000-4000-8000-000000000000' })).toBe('CHANGESET_NOT_FOUND');
  expect(await ask({ selected_ops: [] })).toBe('INPUT_INVALID');
  expect(await ask({ project: 'elsewhere' })).toBe('GRANT_MISSING');
});

test('P6 the owner may merge its own proposal at its own doors, and it is recorded as that', async () => {
  const { engine } = await stage();
  const proposed = await proposal(engine, engine.owner, 'demo', 'own', 'written by hand');
  await engine.run(engine.owner, 'memory.merge', { proposal_id: proposed.proposal_id, idempotency_key: newKey() });
  expect(await engine.run(engine.owner, 'memory.proposal_show', { proposal_id: proposed.proposal_id })).toMatchObject({
    status: 'completed',
    self_merge: true,
    preview: null,
  });
});
