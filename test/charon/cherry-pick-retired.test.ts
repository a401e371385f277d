import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Changeset } from '../../src-preload/contract/changeset.ts';
import { add, addAs, correct, type OpDraft, relate, supersede } from '../support/history-builder.ts';
import { acceptedInMain, approveAndMerge, draft, land, show } from './conflict-world.ts';
import { fresh, keyed, type MergeWorld, openMergeWorld, request } from './merge-world.ts';

let world: MergeWorld;
beforeEach(async () => {
  world = await openMergeWorld();
  await land(world, [addAs('m', 'old', { kind: 'fact' }), addAs('n', 'other')]);
});
afterEach(() => world.remove());

/** A branch of main with one commit. */
async function branchOf(ops: readonly OpDraft[]): Promise<Changeset> {
  const ref = `refs/topics/${fresh('pick')}`;
  await world.history.branch(ref);
  return world.history.commit(ref, ops, { authorPrincipal: world.author.principal.principal_id });
}

function pick(head: Changeset, selectedOps: readonly number[]) {
  const by = world.author;
  return world.charon.charon.propose(by, request(world, head, { selectedOps }), keyed(by, 'memory.merge_propose'));
}

/** How many merges were ever begun. */
function attempts(): number | undefined {
  const sql = 'SELECT count(*) AS count FROM merge_attempts';
  return world.charon.withDb((db) => db.query<[], { count: number }>(sql).get()?.count);
}

test('C180 an op that leads to what the target retired later is named by the preview and refuses the merge, and nothing is tried', async () => {
  const head = await branchOf([relate('m', 'part_of', 'n'), add('also')]);
  const lost = { changeset_id: head.changeset_id, ordinal: 0 };
  const filed = await pick(head, [0, 1]);
  expect((await show(world, filed)).preview).not.toHaveProperty('lost_op');
  await land(world, [correct('m', { content: 'newer' })]);
  expect((await show(world, filed)).preview).not.toHaveProperty('lost_op');
  await land(world, [supersede('n')]);
  expect(await show(world, filed)).toMatchObject({ conflicts: [], preview: { lost_op: lost } });
  const tried = attempts();
  await expect(approveAndMerge(world, filed)).rejects.toMatchObject({
    code: 'INPUT_INVALID',
    message: expect.stringMatching(/^selected_ops: op 0 of .* leads to a memory that the target has retired/),
    data: { field: 'selected_ops', op: lost },
  });
  expect([attempts(), (await show(world, filed)).status]).toEqual([tried, 'pending']);
  await approveAndMerge(world, await pick(head, [1]));
  expect(Object.values(acceptedInMain(world))).toContain('also');
});

test('C180 it does not matter what the ops change or make themselves, nor what a resolution stands for', async () => {
  const head = await branchOf([
    addAs('k', 'brought'),
    relate('k', 'part_of', 'm'),
    correct('m', { content: 'right' }),
    relate('m', 'part_of', 'k'),
  ]);
  const filed = await pick(head, [0, 1, 2, 3]);
  await land(world, [correct('m', { content: 'left' })]);
  await draft(world, filed, 'concurrent_edit', { choice: 'theirs' });
  expect((await show(world, filed)).preview).not.toHaveProperty('lost_op');
  await approveAndMerge(world, filed);
  expect(acceptedInMain(world)).toMatchObject({ k: 'brought', m: 'right' });
});
