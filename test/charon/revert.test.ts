import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Caller } from '../../src-main/charon/api.ts';
import type { RevertInput } from '../../src-main/charon/revert.ts';
import type { MemoryStorePort } from '../../src-main/charon/store-port.ts';
import { type ChangesetId, changesetIdSchema, mainRefName } from '../../src-preload/contract/ids.ts';
import { add, addAs, correct, duplicate, memoryIdOf, relate, supersede } from '../support/history-builder.ts';
import { codeOf } from './charon-world.ts';
import { acceptedInMain, approveAndMerge, contest, draft, inMain, land, mainHead } from './conflict-world.ts';
import {
  branchWith,
  demo,
  fresh,
  keyed,
  type MergeWorld,
  mergeBy,
  now,
  openMergeWorld,
  proposeHead,
  request,
} from './merge-world.ts';

let beforeFiling: (store: MemoryStorePort) => Promise<void>;
let world: MergeWorld;
beforeEach(async () => {
  beforeFiling = async () => undefined;
  world = await openMergeWorld((store) => ({
    ...store,
    commitToNewRef: async (input) => {
      const made = await store.commitToNewRef(input);
      await beforeFiling(store);
      return made;
    },
  }));
  await land(world, [addAs('m', 'old', { tags: ['t'] }), addAs('n', 'other'), addAs('d', 'twin')]);
});
afterEach(() => world.remove());

function revert(
  what: { changesetId: ChangesetId } | { expectedHead: ChangesetId; newHead: ChangesetId },
  by: Caller = world.author,
  key = fresh('revert'),
) {
  const input: RevertInput = {
    projectId: demo,
    message: 'take it back',
    ...('changesetId' in what ? { kind: 'changeset', ...what } : { kind: 'advance', ...what }),
  };
  return world.charon.charon.proposeRevert(by, input, keyed(by, 'memory.revert_propose', key));
}

describe('reverting', () => {
  test('C91 every memory that a changeset touched has the state of before, whatever the changeset did', async () => {
    const before = acceptedInMain(world);
    const head = await land(world, [
      correct('m', { content: 'new', tags: ['u'] }),
      supersede('n', { content: 'replacement' }, 'r'),
      duplicate('d', 'm'),
      add('added'),
      relate('m', 'see', 'r'),
    ]);
    const main = mainHead(world);
    const filed = await revert({ changesetId: head.changeset_id });
    const ref = `refs/agents/${world.author.principal.actor_id}/revert-${head.changeset_id.slice(-8)}-1`;
    const made = world.temp.lethe.findChangeset(filed.head_changeset_id);
    expect(filed).toMatchObject({
      kind: 'merge_request',
      base_changeset_id: main,
      target_ref: 'refs/shared/main',
      originator: world.author.principal.principal_id,
      conflicts: [],
    });
    expect(made).toMatchObject({ ref_name: ref, parent_ids: [main], message: 'take it back' });
    expect(made?.author_principal).toBe(world.author.principal.principal_id);
    await approveAndMerge(world, filed);
    expect(acceptedInMain(world)).toEqual(before);
    expect(inMain(world, 'm').tags).toEqual(['t']);
    expect(inMain(world, memoryIdOf(head, 3)).status).toBe('superseded');
    const shown = world.temp.lethe.context({ projectId: demo, refName: mainRefName, limit: 10 });
    expect(shown.relationships ?? []).toEqual([]);
  });

  test('C91 of a merge, what it brought in is taken back, and a second revert gives it again', async () => {
    const { filed } = await contest(
      world,
      [correct('m', { content: 'left' })],
      [correct('m', { content: 'right' }), addAs('x', 'x')],
    );
    await draft(world, filed, 'concurrent_edit', { choice: 'theirs' });
    const before = acceptedInMain(world);
    const merged = await approveAndMerge(world, filed);
    const after = acceptedInMain(world);
    expect(after).toMatchObject({ m: 'right', x: 'x' });
    const back = await approveAndMerge(world, await revert({ changesetId: merged.resultingChangesetId }));
    expect(acceptedInMain(world)).toEqual(before);
    await approveAndMerge(world, await revert({ changesetId: back.resultingChangesetId }));
    expect(acceptedInMain(world)).toEqual(after);
  });

  test('C91 a revert is reverted, and that again, as often as one likes; so is the undoing of a move', async () => {
    const states = [acceptedInMain(world)];
    const head = await land(world, [correct('m', { content: 'new' }), supersede('n'), addAs('k', 'more')]);
    states.push(acceptedInMain(world));
    let last = head.changeset_id;
    for (let times = 0; times < 4; times += 1) {
      const filed = await revert({ changesetId: last });
      await approveAndMerge(world, filed);
      last = filed.head_changeset_id;
      expect(acceptedInMain(world)).toEqual(states[times % 2]);
    }
    let move = {
      expectedHead: mainHead(world),
      newHead: (await land(world, [correct('k', { content: 'x' })])).changeset_id,
    };
    for (const wanted of ['more', 'x', 'more']) {
      const filed = await revert(move);
      await approveAndMerge(world, filed);
      move = { expectedHead: move.newHead, newHead: mainHead(world) };
      expect(inMain(world, 'k').content).toBe(wanted);
    }
  });

  test('C91 of a cherry-pick, what was picked is taken back, and its branch can still bring all of it', async () => {
    const before = acceptedInMain(world);
    const head = await branchWith(world, [addAs('x', 'picked'), addAs('y', 'left'), correct('m', { content: 'new' })]);
    const picked = await world.charon.charon.propose(
      world.author,
      request(world, head, { selectedOps: [0, 2] }),
      keyed(world.author, 'memory.merge_propose'),
    );
    const { resultingChangesetId } = await approveAndMerge(world, picked);
    await approveAndMerge(world, await revert({ changesetId: resultingChangesetId }));
    expect(acceptedInMain(world)).toEqual(before);
    const whole = await proposeHead(world, head);
    // What main took back and the branch still says is asked, not decided.
    expect(whole.conflicts.flatMap(({ details }) => details?.memory_ids).toSorted()).toEqual(['m', 'x']);
    for (const { conflict_key: key } of whole.conflicts)
      await world.charon.charon.draftResolution(world.owner, whole.proposal_id, {
        conflict_key: key,
        choice: 'theirs',
      });
    await approveAndMerge(world, whole);
    expect(acceptedInMain(world)).toMatchObject({ x: 'picked', y: 'left', m: 'new' });
  });

  test('C91 the undoing of a move takes back everything from its expected head to its new head', async () => {
    const from = mainHead(world);
    const ref = `refs/topics/${fresh('t')}`;
    await world.history.branch(ref);
    const authorPrincipal = world.author.principal.principal_id;
    await world.history.commit(ref, [correct('m', { content: 'one' })], { authorPrincipal });
    const head = await world.history.commit(ref, [correct('m', { content: 'two' }), addAs('x', 'x')], {
      authorPrincipal,
    });
    const before = acceptedInMain(world);
    await approveAndMerge(world, await proposeHead(world, head));
    const filed = await revert({ expectedHead: from, newHead: mainHead(world) }, world.owner);
    expect(filed.originator).toBe(world.owner.principal.principal_id);
    await mergeBy(world, world.owner, filed.proposal_id);
    expect(acceptedInMain(world)).toEqual(before);
    expect(await now(world, filed.proposal_id)).toMatchObject({ status: 'completed', self_merge: true });
  });

  test('C92 what was changed since is named, also by a relationship, and nothing is written', async () => {
    const head = await land(world, [
      correct('m', { content: 'new' }),
      correct('n', { content: 'new' }),
      addAs('x', 'x'),
      addAs('gone', 'gone'),
    ]);
    await land(world, [correct('n', { content: 'newer' }), relate('x', 'see', 'm'), supersede('gone')]);
    await land(world, [correct('d', { content: 'unrelated' })]);
    await expect(revert({ changesetId: head.changeset_id })).rejects.toMatchObject({
      code: 'BOTH_SIDES_TOUCHED',
      data: { memory_ids: ['gone', 'n', 'x'], total: 3 },
      message: expect.stringContaining('"gone", "n", "x"'),
    });
    expect(world.temp.lethe.listRefs(demo, { limit: 100 }).some(({ ref_name: name }) => name.includes('revert'))).toBe(
      false,
    );
  });

  test('C91 what is not in main, is where it begins, or changed nothing is refused', async () => {
    const branch = await branchWith(world, [add('unmerged')]);
    const said = await land(world, [add('landed')]);
    const unknown = changesetIdSchema.parse('00000000-0000-7000-8000-00000000dead');
    expect(await codeOf(revert({ changesetId: branch.changeset_id }))).toBe('INPUT_INVALID');
    expect(await codeOf(revert({ changesetId: world.root.changeset_id }))).toBe('INPUT_INVALID');
    expect(await codeOf(revert({ changesetId: unknown }))).toBe('CHANGESET_NOT_FOUND');
    expect(await codeOf(revert({ expectedHead: mainHead(world), newHead: mainHead(world) }))).toBe('INPUT_INVALID');
    expect(await codeOf(revert({ expectedHead: branch.changeset_id, newHead: said.changeset_id }))).toBe(
      'INPUT_INVALID',
    );
    expect(await codeOf(revert({ expectedHead: unknown, newHead: said.changeset_id }))).toBe('CHANGESET_NOT_FOUND');
  });

  test('C91 the same request answers the same proposal; another one takes the next name', async () => {
    const head = await land(world, [correct('m', { content: 'new' })]);
    const filed = await revert({ changesetId: head.changeset_id }, world.author, 'k');
    expect(await revert({ changesetId: head.changeset_id }, world.author, 'k')).toEqual(filed);
    const second = await revert({ changesetId: head.changeset_id });
    const names = [filed, second].map(
      ({ head_changeset_id: id }) => world.temp.lethe.findChangeset(id)?.ref_name ?? '',
    );
    expect(names.map((name) => name.at(-1))).toEqual(['1', '2']);
    expect(second.proposal_id).not.toBe(filed.proposal_id);
  });

  test('C93 cut off between its changeset and its proposal, the same request goes on, wherever main stands by then', async () => {
    const head = await land(world, [correct('m', { content: 'new' })]);
    beforeFiling = () => Promise.reject(new Error('killed'));
    await expect(revert({ changesetId: head.changeset_id }, world.author, 'k')).rejects.toThrow('killed');
    beforeFiling = async () => undefined;
    await land(world, [correct('n', { content: 'moved' })]);
    const filed = await revert({ changesetId: head.changeset_id }, world.author, 'k');
    const made = world.temp.lethe.findChangeset(filed.head_changeset_id);
    expect(made?.parent_ids).toEqual([head.changeset_id]);
    expect(
      world.temp.lethe.listRefs(demo, { limit: 100 }).filter(({ ref_name: name }) => name.includes('revert')),
    ).toHaveLength(1);
    await approveAndMerge(world, filed);
    expect(acceptedInMain(world)).toMatchObject({ m: 'old', n: 'moved' });
  });
});
