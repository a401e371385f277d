import { expect, test } from 'vitest';
import { approveAndMerge, commitOps, proposeHead } from '../support/conflict-in-engine.ts';
import { newKey, startProject } from '../support/history-in-engine.ts';
import { tempEngine } from '../support/temp-engine.ts';

const text = 'a text that nobody else may read';

/** A memory that main and a proposal have both changed. */
async function stage() {
  const engine = await tempEngine();
  const root = await startProject(engine, 'demo');
  const writer = await engine.agent('writer', 'propose', 'demo');
  const add = { op_type: 'add_memory', resulting_event_id: 'm', payload: { content: 'old' } };
  const first = await commitOps(engine, writer, root, [add]);
  await approveAndMerge(engine, (await proposeHead(engine, writer, root, first)).proposal_id);
  const correct = (content: string) => ({ op_type: 'correct_memory', target_event_id: 'm', payload: { content } });
  const [ours, theirs] = [
    await commitOps(engine, writer, first, [correct('ours')]),
    await commitOps(engine, writer, first, [correct('theirs')]),
  ];
  await approveAndMerge(engine, (await proposeHead(engine, writer, first, ours)).proposal_id);
  const filed = await proposeHead(engine, writer, first, theirs);
  return { engine, writer, first, ours, theirs, filed };
}

test('P42 the owner lists conflicts, drafts a resolution, drops it, and merges what is drafted; no text is in the audit', async () => {
  const { engine, filed } = await stage();
  const { owner } = engine;
  const listed = await engine.run(owner, 'conflict.list', { project: 'demo' });
  expect(listed.conflicts).toMatchObject([
    { conflict_type: 'concurrent_edit', status: 'open', proposal_id: filed.proposal_id },
  ]);
  const key = listed.conflicts[0]?.conflict_key ?? '';
  const resolution = { conflict_key: key, choice: 'edit' as const, content: text, note: `${text}!` };
  const drafted = await engine.run(owner, 'proposal.draft_resolution', { proposal_id: filed.proposal_id, resolution });
  expect(drafted).toMatchObject({
    conflicts: [{ conflict_key: key, details: { memory_id: 'm' } }],
    conflict_counts: { blocking: 1, unresolved: 0 },
    resolutions: [{ choice: 'edit', content: text }],
  });
  const dropped = await engine.run(owner, 'proposal.drop_resolution', {
    proposal_id: filed.proposal_id,
    conflict_key: key,
  });
  expect(dropped).toMatchObject({ conflict_counts: { unresolved: 1 }, resolutions: [] });
  expect(
    (await engine.refusal(owner, 'memory.merge', { proposal_id: filed.proposal_id, idempotency_key: newKey() })).code,
  ).toBe('NOT_APPROVED');
  await engine.run(owner, 'proposal.draft_resolution', { proposal_id: filed.proposal_id, resolution });
  await approveAndMerge(engine, filed.proposal_id);
  expect((await engine.run(owner, 'conflict.list', { project: 'demo', status: 'open' })).conflicts).toEqual([]);
  expect((await engine.run(owner, 'memory.context_at', { project: 'demo' })).memories).toMatchObject([
    { content: text },
  ]);
  const entries = await engine.entries();
  expect(entries.filter(({ command }) => command === 'proposal.draft_resolution')).toHaveLength(4);
  expect(entries.find(({ command }) => command === 'proposal.draft_resolution')?.object_ids).toEqual([
    filed.proposal_id,
    key,
    'edit',
  ]);
  expect(JSON.stringify(entries)).not.toContain(text);
});

test('P42 a list of conflicts comes in pages of its project and status; an unknown project is not found', async () => {
  const { engine, writer, first, filed } = await stage();
  for (const content of ['more', 'and more']) {
    const head = await commitOps(engine, writer, first, [
      { op_type: 'correct_memory', target_event_id: 'm', payload: { content } },
    ]);
    await proposeHead(engine, writer, first, head);
  }
  await engine.run(writer, 'memory.merge_cancel', { proposal_id: filed.proposal_id });
  const open = { project: 'demo', status: 'open' as const, limit: 1 };
  const page = await engine.run(engine.owner, 'conflict.list', open);
  const rest = await engine.run(engine.owner, 'conflict.list', { ...open, cursor: page.next_cursor });
  const ids = [...page.conflicts, ...rest.conflicts].map(({ conflict_id: id }) => id);
  expect([page.conflicts.length, new Set(ids).size]).toEqual([1, 2]);
  expect(rest.next_cursor).toBeUndefined();
  const canceled = await engine.run(engine.owner, 'conflict.list', { project: 'demo', status: 'canceled' });
  expect(canceled.conflicts).toMatchObject([{ proposal_id: filed.proposal_id }]);
  expect((await engine.refusal(engine.owner, 'conflict.list', { project: 'nowhere' })).code).toBe('PROJECT_NOT_FOUND');
  const foreign = { ...open, status: 'canceled' as const, cursor: page.next_cursor };
  expect((await engine.refusal(engine.owner, 'conflict.list', foreign)).code).toBe('CURSOR_INVALID');
});

test('P43 a cherry-pick and a revert answer the same again, another request under the key is refused, and both are counted', async () => {
  const { engine, writer, first, theirs } = await stage();
  const counted = async () => Number(/^charon_proposals_created_total (\d+)$/m.exec(await engine.metrics.text())?.[1]);
  const before = await counted();
  const asked = {
    project: 'demo',
    target_ref: 'refs/shared/main',
    head_changeset_id: theirs,
    base_changeset_id: first,
    message: 'pick',
    idempotency_key: 'pick',
    selected_ops: [0],
  };
  const picked = await engine.run(writer, 'memory.merge_propose', asked);
  expect(picked).toMatchObject({ kind: 'changeset', selected_ops: [{ changeset_id: theirs, ordinal: 0 }] });
  expect(await engine.run(writer, 'memory.merge_propose', asked)).toEqual(picked);
  const { selected_ops: _all, ...whole } = asked;
  expect((await engine.refusal(writer, 'memory.merge_propose', whole)).code).toBe('IDEMPOTENCY_MISMATCH');

  const main = (await engine.run(writer, 'memory.log', { project: 'demo', limit: 1 })).changesets[0];
  const back = { project: 'demo', changeset_id: main?.changeset_id ?? '', message: 'back', idempotency_key: 'back' };
  const reverted = await engine.run(writer, 'memory.revert_propose', back);
  expect(await engine.run(writer, 'memory.revert_propose', back)).toEqual(reverted);
  expect((await engine.refusal(writer, 'memory.revert_propose', { ...back, message: 'x' })).code).toBe(
    'IDEMPOTENCY_MISMATCH',
  );
  const undo = {
    project: 'demo',
    expected_head: main?.parent_ids[0] ?? '',
    new_head: main?.changeset_id ?? '',
    message: 'undo',
    idempotency_key: 'undo',
  };
  const undone = await engine.run(engine.owner, 'proposal.revert_advance', undo);
  expect(await engine.run(engine.owner, 'proposal.revert_advance', undo)).toEqual(undone);
  expect((await counted()) - before).toBe(3);
  await engine.run(engine.owner, 'memory.merge', { proposal_id: undone.proposal_id, idempotency_key: newKey() });
  expect((await engine.run(writer, 'memory.context_at', { project: 'demo' })).memories).toMatchObject([
    { memory_id: 'm', content: 'old' },
  ]);
});

test('P43 selected ops in any other form are refused by their place, and nothing is filed', async () => {
  const { engine, writer, first, theirs } = await stage();
  const ask = (selected: unknown) =>
    engine.refusal(writer, 'memory.merge_propose', {
      project: 'demo',
      target_ref: 'refs/shared/main',
      head_changeset_id: theirs,
      base_changeset_id: first,
      message: 'pick',
      idempotency_key: newKey(),
      selected_ops: selected,
    });
  const refused = async (selected: unknown, message: RegExp): Promise<void> => {
    const { code, message: said } = await ask(selected);
    expect([code, said]).toEqual(['INPUT_INVALID', expect.stringMatching(message)]);
  };
  const form = /^selected_ops\.0: an ordinal of the head, or \{changeset_id, ordinal\}/;
  for (const one of [1.5, '0', null, true, [0], { changeset_id: theirs }]) await refused([one], form);
  await refused([-1], /^selected_ops\.0: /);
  await refused([{ changeset_id: theirs, ordinal: 0, x: 1 }], /^selected_ops\.0 has an unknown key: "x"/);
  for (const all of [[], null, '0', {}, Array.from({ length: 401 }, () => 0)]) await refused(all, /^selected_ops: /);
  await refused([7], /^selected_ops: there is no op 7 of changeset /);
  const { proposals } = await engine.run(writer, 'memory.proposal_list', { project: 'demo', status: 'pending' });
  expect(proposals).toHaveLength(1);
});
