import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Changeset } from '../../src-preload/contract/changeset.ts';
import type { SelectedOp } from '../../src-preload/contract/proposal.ts';
import {
  add,
  addAs,
  attachEvidence,
  changesetId,
  correct,
  memoryIdOf,
  type OpDraft,
  relate,
  reviewedMerge,
  supersede,
  testOwner,
} from '../support/history-builder.ts';
import { addedMemory, makeReferenceFile } from '../support/reference-files.ts';
import { openReferenceGit, referenceHistory } from '../support/reference-stores.ts';
import { agent, codeOf } from './charon-world.ts';
import { acceptedInMain, approveAndMerge, draft, inMain, keptFor, land, mainHead, show } from './conflict-world.ts';
import {
  fresh,
  judge,
  keyed,
  type MergeWorld,
  mergeBy,
  now,
  openMergeWorld,
  proposeHead,
  request,
} from './merge-world.ts';

let world: MergeWorld;
beforeEach(async () => {
  world = await openMergeWorld();
  await land(world, [addAs('m', 'old', { kind: 'fact' }), addAs('n', 'other')]);
});
afterEach(() => world.remove());

/** A branch of main with several commits. */
async function branchOf(...commits: readonly (readonly OpDraft[])[]): Promise<readonly Changeset[]> {
  const ref = `refs/topics/${fresh('pick')}`;
  await world.history.branch(ref);
  const made: Changeset[] = [];
  for (const ops of commits)
    made.push(await world.history.commit(ref, ops, { authorPrincipal: world.author.principal.principal_id }));
  return made;
}

function pick(head: Changeset, selectedOps: readonly (number | SelectedOp)[], by = world.author) {
  return world.charon.charon.propose(by, request(world, head, { selectedOps }), keyed(by, 'memory.merge_propose'));
}

const op = (changeset: Changeset, ordinal: number): SelectedOp => ({ changeset_id: changeset.changeset_id, ordinal });

describe('selecting', () => {
  test('C86 selected ops are kept in the order of history, each once; a bare number is an op of the head', async () => {
    const [first, second] = await branchOf([add('a'), add('b')], [add('c'), correct('m', { content: 'new' })]);
    if (first === undefined || second === undefined) throw new Error('two commits');
    const filed = await pick(second, [1, op(second, 1), op(first, 1), 0]);
    expect(filed).toMatchObject({
      kind: 'changeset',
      selected_ops: [op(first, 1), op(second, 0), op(second, 1)],
      conflicts: [],
    });
    expect((await now(world, filed.proposal_id)).selected_ops).toEqual(filed.selected_ops);
    expect(() =>
      world.charon.withDb((db) => db.exec(`UPDATE proposals SET selected_ops = '[]' WHERE kind = 'changeset'`)),
    ).toThrow('immutable');
  });

  test('C86 what is not there, not proposed, or in the target already is refused', async () => {
    const [head] = await branchOf([add('a')]);
    const [stranger] = await branchOf([add('b')]);
    if (head === undefined || stranger === undefined) throw new Error('two branches');
    for (const selected of [[1], [op(stranger, 0)], [{ changeset_id: world.root.changeset_id, ordinal: 0 }]])
      await expect(pick(head, selected)).rejects.toMatchObject({
        code: 'INPUT_INVALID',
        data: { field: 'selected_ops' },
      });
    const landed = await land(world, [add('landed')]);
    const [after] = await branchOf([add('after')]);
    if (after === undefined) throw new Error('a branch');
    await expect(pick(after, [op(landed, 0)])).rejects.toMatchObject({ message: expect.stringContaining('already') });
  });

  test('C86 an op whose memory only an unselected op makes is refused, naming what it needs', async () => {
    const [made, ends] = await branchOf([add('a'), addAs('b', 'b'), add('c')], [correct('m', { content: 'new' })]);
    if (made === undefined || ends === undefined) throw new Error('two commits');
    const ref = `refs/topics/${fresh('needs')}`;
    await world.history.branch(ref, ends);
    const last = await world.history.commit(
      ref,
      [correct(memoryIdOf(made), { content: 'a2' }), relate('b', 'supports', 'm')],
      { authorPrincipal: world.author.principal.principal_id },
    );
    await expect(pick(last, [0, 1])).rejects.toMatchObject({
      code: 'INPUT_INVALID',
      data: { op: op(last, 0), needs: [op(made, 0), op(made, 1)] },
      message: expect.stringContaining('Select it too'),
    });
    const filed = await pick(last, [0, 1, op(made, 0), op(made, 1)]);
    await approveAndMerge(world, filed);
    expect(acceptedInMain(world)).toEqual({ [memoryIdOf(made)]: 'a2', b: 'b', m: 'old', n: 'other' });
  });
});

describe('merging a cherry-pick', () => {
  test('C87 the target moves to copies of the selected ops, with the ids of what they make, each saying where it is from', async () => {
    const [head] = await branchOf([
      add('wanted', { kind: 'task' }),
      add('unwanted'),
      supersede('n', { content: 'other, better' }),
      attachEvidence('m', { note: 'seen' }),
    ]);
    if (head === undefined) throw new Error('a branch');
    await land(world, [addAs('meanwhile', 'meanwhile')]);
    const before = mainHead(world);
    const filed = await pick(head, [0, 2, 3]);
    expect((await show(world, filed)).preview?.strategy).toBe('cherry_pick');
    const merged = await approveAndMerge(world, filed);
    expect(merged.strategy).toBe('cherry_pick');
    const from = head.changeset_id;
    expect(world.temp.lethe.findChangeset(merged.resultingChangesetId)).toMatchObject({
      parent_ids: [before],
      author_principal: world.reviewer.principal.principal_id,
      ops: [
        {
          ordinal: 0,
          op_type: 'add_memory',
          resulting_event_id: memoryIdOf(head, 0),
          payload: { cherrypicked_from: from },
        },
        { ordinal: 1, op_type: 'supersede_memory', target_event_id: 'n', resulting_event_id: memoryIdOf(head, 2) },
        { ordinal: 2, op_type: 'attach_evidence', payload: { note: 'seen', cherrypicked_from: from } },
      ],
    });
    expect(acceptedInMain(world)).toEqual({
      m: 'old',
      meanwhile: 'meanwhile',
      [memoryIdOf(head, 0)]: 'wanted',
      [memoryIdOf(head, 2)]: 'other, better',
    });
    expect(await now(world, filed.proposal_id)).toMatchObject({ status: 'completed', strategy: 'cherry_pick' });
  });

  test('C87 merged later, the whole branch does not duplicate what was picked', async () => {
    const [head] = await branchOf([add('picked'), add('rest')]);
    if (head === undefined) throw new Error('a branch');
    await approveAndMerge(world, await pick(head, [0]));
    expect(await codeOf(pick(head, [0]))).toBe('INPUT_INVALID');
    const whole = await proposeHead(world, head);
    expect(whole.conflict_counts.blocking).toBe(0);
    await approveAndMerge(world, whole);
    expect(Object.values(acceptedInMain(world)).toSorted()).toEqual(['old', 'other', 'picked', 'rest']);
  });

  test('C42 C87 when the branch was merged meanwhile there is nothing left to pick', async () => {
    const [head] = await branchOf([correct('m', { content: 'new' })]);
    if (head === undefined) throw new Error('a branch');
    const filed = await pick(head, [0]);
    await approveAndMerge(world, await proposeHead(world, head));
    expect((await show(world, filed)).preview?.strategy).toBe('nothing_to_merge');
    expect(await codeOf(approveAndMerge(world, filed))).toBe('NOTHING_TO_MERGE');
  });

  test('C88 the author of a picked changeset may neither review nor merge it; the author of another one on the branch may', async () => {
    const ref = `refs/topics/${fresh('authors')}`;
    await world.history.branch(ref);
    const [one, two] = [world.reviewer.principal.principal_id, world.second.principal.principal_id];
    const first = await world.history.commit(ref, [add('a')], { authorPrincipal: one });
    const head = await world.history.commit(ref, [add('b')], { authorPrincipal: two });
    const filed = await pick(head, [op(first, 0)]);
    expect(await codeOf(judge(world, world.reviewer, filed.proposal_id, 'approve'))).toBe('SELF_REVIEW');
    await judge(world, world.second, filed.proposal_id, 'approve');
    expect(await codeOf(mergeBy(world, world.reviewer, filed.proposal_id))).toBe('SELF_APPROVAL');
    await mergeBy(world, world.second, filed.proposal_id);
    expect(Object.values(acceptedInMain(world))).toContain('a');
  });

  test('C88 who wrote a changeset that came from a file is nobody here, whatever the name', async () => {
    const namesake = world.reviewer.principal.principal_id;
    const path = makeReferenceFile(openReferenceGit, (store) => {
      const { root, commit, ref } = referenceHistory(store, 'demo', 'file');
      const ops = [addedMemory('brought')];
      ref(
        'refs/agents/x/main',
        commit({ ref: 'refs/agents/x/main', parents: [root], ops, more: { author_principal: namesake } }),
      );
    });
    const { contentDigest } = await world.temp.lethe.inspectImport({ path });
    const plan = await world.temp.lethe.importFile({ path, contentDigest, principal: testOwner });
    const imported = changesetId(plan.projects[0]?.refs[0]?.ref.head ?? '');
    const joined = await world.history.detached([imported, world.root.changeset_id], [reviewedMerge('join', imported)]);
    const filed = await pick(joined, [{ changeset_id: imported, ordinal: 0 }]);
    await approveAndMerge(world, filed);
    expect(Object.values(acceptedInMain(world))).toContain('brought');
  });
});

describe('what the target retired', () => {
  test('C86 an op that leads to a memory which the target retired is refused; one on such a memory is in conflict', async () => {
    const [head] = await branchOf([
      relate('m', 'part_of', 'n'),
      relate('n', 'part_of', 'm'),
      correct('n', { content: 'x' }),
    ]);
    if (head === undefined) throw new Error('a branch');
    await land(world, [supersede('n')]);
    await expect(pick(head, [0])).rejects.toMatchObject({
      code: 'INPUT_INVALID',
      message: expect.stringMatching(/^selected_ops: op 0 of .* leads to a memory that the target has retired/),
      data: { field: 'selected_ops', op: op(head, 0) },
    });
    const filed = await pick(head, [0, 2]);
    expect(filed.conflicts).toMatchObject([{ conflict_type: 'delete_modify', details: { memory_ids: ['n'] } }]);
    await draft(world, filed, 'delete_modify', { choice: 'theirs' });
    await approveAndMerge(world, filed);
    expect(acceptedInMain(world)).toMatchObject({ n: 'x' });
    expect((await pick(head, [1])).conflicts).toEqual([]);
  });
});

describe('a cherry-pick and its target', () => {
  test('C89 it is in conflict about the memories of its ops only', async () => {
    const [head] = await branchOf([correct('m', { content: 'right' }), correct('n', { content: 'right' })]);
    if (head === undefined) throw new Error('a branch');
    await land(world, [correct('m', { content: 'left' })]);
    expect((await pick(head, [1])).conflicts).toEqual([]);
    expect((await pick(head, [0])).conflicts).toMatchObject([{ conflict_type: 'concurrent_edit' }]);
    expect((await proposeHead(world, head)).conflict_counts.blocking).toBe(1);
  });

  test.each([
    ['ours', {}, { m: 'left' }],
    ['theirs', {}, { m: 'right' }],
    ['edit', { content: 'edited' }, { m: 'edited' }],
    ['both', {}, { m: 'left', other: 'right' }],
  ] as const)('C89 %s stands for the copies of ops on a memory that both changed', async (choice, more, left) => {
    const [head] = await branchOf([correct('m', { content: 'right' }), add('also')]);
    if (head === undefined) throw new Error('a branch');
    await land(world, [correct('m', { content: 'left' })]);
    const filed = await pick(head, [0, 1]);
    expect(await codeOf(approveAndMerge(world, filed))).toBe('OPEN_CONFLICT');
    await draft(world, filed, 'concurrent_edit', { choice, ...more });
    expect((await approveAndMerge(world, filed)).strategy).toBe('cherry_pick');
    const texts = { n: 'other', [memoryIdOf(head, 1)]: 'also', m: left.m };
    const beside = 'other' in left ? { [`m~${head.changeset_id.slice(-8)}`]: left.other } : {};
    expect(acceptedInMain(world)).toEqual({ ...texts, ...beside });
  });

  test.each([
    ['ours', { r: 'left' }],
    ['theirs', { m: 'right' }],
  ] as const)('C89 %s of a memory that the target replaced', async (choice, left) => {
    const [head] = await branchOf([correct('m', { content: 'right' })]);
    if (head === undefined) throw new Error('a branch');
    await land(world, [supersede('m', { content: 'left' }, 'r')]);
    const filed = await pick(head, [0]);
    await draft(world, filed, 'delete_modify', { choice });
    await approveAndMerge(world, filed);
    expect(acceptedInMain(world)).toEqual({ n: 'other', ...left });
  });

  test('C89 of two memories that contradict each other the choice is carried out beside the copies', async () => {
    for (const [choice, left] of [
      ['ours', ['l-ours']],
      ['theirs', ['r-theirs']],
      ['both', ['l-both', 'r-both']],
    ] as const) {
      const [head] = await branchOf([addAs(`r-${choice}`, 'right', { kind: 'decision', scope: choice })]);
      if (head === undefined) throw new Error('a branch');
      await land(world, [addAs(`l-${choice}`, 'left', { kind: 'decision', scope: choice })]);
      const filed = await pick(head, [0]);
      await draft(world, filed, 'contradictory_decision', { choice });
      await approveAndMerge(world, filed);
      const ids = Object.keys(acceptedInMain(world)).filter((id) => id.endsWith(choice));
      expect(ids.toSorted()).toEqual(left);
      expect(keptFor(world, filed.proposal_id).filter(({ status }) => status === 'open')).toEqual([]);
    }
  });

  test('C89 what only the copies are in conflict about is named by the merge, then shown, and can be settled', async () => {
    const [first, head] = await branchOf(
      [addAs('r', 'right', { kind: 'decision', scope: 's' })],
      [supersede('r', { content: 'right, elsewhere', kind: 'decision', scope: 't' }, 'r2')],
    );
    if (first === undefined || head === undefined) throw new Error('two commits');
    await land(world, [addAs('l', 'left', { kind: 'decision', scope: 's' })]);
    const filed = await pick(head, [op(first, 0)]);
    expect(filed.conflicts).toEqual([]);
    await expect(approveAndMerge(world, filed)).rejects.toMatchObject({
      code: 'OPEN_CONFLICT',
      data: { memory_ids: ['l', 'r'] },
    });
    expect(await show(world, filed)).toMatchObject({
      conflicts: [{ conflict_type: 'contradictory_decision', status: 'open' }],
      conflict_counts: { unresolved: 1 },
    });
    await draft(world, filed, 'contradictory_decision', { choice: 'both', scope: 's/2' });
    await approveAndMerge(world, filed);
    expect(acceptedInMain(world)).toEqual({ l: 'left', m: 'old', n: 'other', r: 'right' });
    expect(inMain(world, 'r').scope).toBe('s/2');
    expect(keptFor(world, filed.proposal_id).filter(({ status }) => status === 'open')).toEqual([]);
  });

  test('C90 its changes are shown as its ops will lie on the target, and as they then do', async () => {
    const [first, head] = await branchOf(
      [correct('m', { content: 'unpicked', tags: ['x'] }), add('made')],
      [correct('m', { kind: 'decision' }), supersede('n', { content: 'next' })],
    );
    if (first === undefined || head === undefined) throw new Error('two commits');
    const filed = await pick(head, [0, 1, op(first, 1)]);
    const { diff, preview } = await show(world, filed);
    expect(diff.corrections_proposed).toMatchObject([
      { memory_id: 'm', before: { content: 'old', kind: 'fact' }, after: { content: 'old', kind: 'decision' } },
    ]);
    expect(diff.corrections_proposed[0]?.after?.tags).toBeUndefined();
    expect(diff.decisions_changed.map(({ memory_id: id }) => id)).toEqual(['m']);
    expect(diff.records_superseded).toMatchObject([{ memory_id: memoryIdOf(head, 1), before: { content: 'other' } }]);
    expect(diff.memories_added).toMatchObject([{ memory_id: memoryIdOf(first, 1), before: null }]);
    expect(preview?.changes).toMatchObject({ memories_added: 1, corrections_proposed: 1, records_superseded: 1 });
    const paged = await world.charon.charon.showProposal(world.owner, filed.proposal_id, { limit: 2 });
    const rest = await world.charon.charon.showProposal(world.owner, filed.proposal_id, {
      limit: 2,
      cursor: paged.next_cursor,
    });
    expect(
      [paged, rest].map(
        (page) =>
          page.diff.memories_added.length + page.diff.corrections_proposed.length + page.diff.records_superseded.length,
      ),
    ).toEqual([2, 1]);
    const foreign = Buffer.from(JSON.stringify([filed.proposal_digest, filed.target_head, 0, 'x'])).toString(
      'base64url',
    );
    const wrong = { limit: 2, cursor: foreign };
    expect(await codeOf(world.charon.charon.showProposal(world.owner, filed.proposal_id, wrong))).toBe(
      'CURSOR_INVALID',
    );
    await approveAndMerge(world, filed);
    for (const { memory_id: id, after } of [
      ...diff.corrections_proposed,
      ...diff.records_superseded,
      ...diff.memories_added,
    ])
      expect(inMain(world, id)).toMatchObject({
        content: after?.content,
        ...(after?.kind === undefined ? {} : { kind: after.kind }),
      });
  });

  test('C87 a cherry-pick of an agent of another name works the same through its own key', async () => {
    const other = await agent(world.charon, 'other', 'propose');
    const [head] = await branchOf([add('a')]);
    if (head === undefined) throw new Error('a branch');
    const asked = request(world, head, { selectedOps: [0] });
    const key = keyed(other, 'memory.merge_propose');
    const filed = await world.charon.charon.propose(other, asked, key);
    expect(await world.charon.charon.propose(other, asked, key)).toEqual(filed);
  });
});
