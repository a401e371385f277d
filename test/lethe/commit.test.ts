import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CommitInput } from '../../src-main/lethe/api.ts';
import {
  add,
  addAs,
  changesetId,
  correct,
  type HistoryBuilder,
  historyBuilder,
  memoryIdOf,
  openTempLethe,
  refName,
  supersede,
  type TempLethe,
} from '../support/history-builder.ts';
import { contentsOf, expectRefused } from '../support/untouched.ts';

let temp: TempLethe;
let history: HistoryBuilder;
const branch = 'refs/agents/a/main';
const other = 'refs/agents/b/main';
const main = 'refs/shared/main';
const nobody = changesetId('00000000-0000-7000-8000-00000000dead');

beforeEach(async () => {
  temp = openTempLethe();
  history = historyBuilder(temp);
  await history.init();
  await history.branch(branch);
});
afterEach(() => temp.remove());

describe('the head', () => {
  test('L12 a stale head is refused with both heads, and nothing is written', async () => {
    const stale = history.request(branch, [add('late')]);
    const { changeset_id: head } = await history.commit(branch, [add('first')]);
    await expectRefused(temp.db, temp.lethe.commit(stale), {
      code: 'REF_MOVED',
      data: { ref: branch, expected: stale.expectedHead, actual: head },
    });
    expect(history.head(branch)).toBe(head);
  });

  test('L12 a commit to a ref that does not exist is refused', async () => {
    await expectRefused(
      temp.db,
      temp.lethe.commit({ ...history.request(branch, [add('x')]), refName: refName('refs/agents/a/none') }),
      { code: 'REF_NOT_FOUND' },
    );
  });

  test('L13 a protected ref takes no commit, a detached changeset may bear its name', async () => {
    await expectRefused(temp.db, history.commit(main, [add('x')]), { code: 'PROTECTED_REF', data: { ref: main } });
    await expectRefused(
      temp.db,
      temp.lethe.commit({ ...history.request(branch, [add('x')]), refName: refName('refs/shared/none') }),
      {
        code: 'PROTECTED_REF',
      },
    );
    const before = history.head(main);
    const detached = await history.detached([before], [add('x')]);
    expect(detached).toMatchObject({ ref_name: main, parent_ids: [before] });
    expect(history.head(main)).toBe(before);
  });

  test('L13 a ref protected by its row takes no commit, whatever its name', async () => {
    temp.db.exec(
      `DROP TRIGGER memory_refs_move_forward; UPDATE memory_refs SET protected = 1 WHERE ref_name = '${branch}'`,
    );
    await expectRefused(temp.db, history.commit(branch, [add('x')]), { code: 'PROTECTED_REF' });
  });

  test('L14 the parents must contain the head of the ref', async () => {
    const root = history.head(main);
    const { changeset_id: head } = await history.commit(branch, [add('one')]);
    await expectRefused(temp.db, history.commit(branch, [add('two')], { parentIds: [root] }), {
      code: 'NOT_A_DESCENDANT',
      data: { ref: branch, head },
    });
    await expectRefused(temp.db, history.commit(branch, [add('two')], { parentIds: [] }), { code: 'NOT_A_DESCENDANT' });
    await history.branch(other);
    const beside = await history.commit(other, [add('beside')]);
    await expectRefused(temp.db, history.commit(branch, [add('two')], { parentIds: [beside.changeset_id] }), {
      code: 'NOT_A_DESCENDANT',
    });
    const further = await history.detached([head], [add('further')]);
    const onTop = await history.commit(branch, [add('two')], { parentIds: [further.changeset_id] });
    expect(history.head(branch)).toBe(onTop.changeset_id);
  });

  test('L14 a ref at a root of its own follows it, without anything from main', async () => {
    const root = await history.detached([], [add('alone')]);
    expect(root.parent_ids).toEqual([]);
    expect(temp.lethe.isAncestor(history.head(main), root.changeset_id)).toBe(false);
  });
});

describe('parents', () => {
  test('L15 parents exist, are of the project, at most two and not the same twice', async () => {
    const head = history.head(branch);
    const foreign = await historyBuilder(temp, 'other').init();
    await expectRefused(temp.db, history.commit(branch, [add('x')], { parentIds: [head, nobody] }), {
      code: 'CHANGESET_NOT_FOUND',
      data: { field: 'parent_ids[1]', changeset_id: nobody },
    });
    await expectRefused(temp.db, history.commit(branch, [add('x')], { parentIds: [foreign.changeset_id] }), {
      code: 'CHANGESET_NOT_FOUND',
      data: { field: 'parent_ids[0]', changeset_id: foreign.changeset_id },
    });
    await expectRefused(temp.db, history.commit(branch, [add('x')], { parentIds: [head, head] }), {
      code: 'INPUT_INVALID',
      data: { field: 'parent_ids' },
    });
    await expectRefused(
      temp.db,
      history.commit(branch, [add('x')], { parentIds: [head, nobody, foreign.changeset_id] }),
      {
        code: 'INPUT_INVALID',
        data: { field: 'parent_ids' },
      },
    );
  });

  test('L34 targets are sought in the merged state of all parents', async () => {
    await history.branch(other);
    const left = await history.commit(branch, [add('left')]);
    const right = await history.commit(other, [add('right')]);
    const parentIds = [left.changeset_id, right.changeset_id];
    const merge = await history.commit(
      branch,
      [correct(memoryIdOf(left), { content: 'left 2' }), correct(memoryIdOf(right), { content: 'right 2' })],
      { parentIds },
    );
    expect(merge.parent_ids).toEqual(parentIds);
    await expectRefused(temp.db, history.commit(other, [correct(memoryIdOf(left), { content: 'unseen' })]), {
      code: 'OP_INVALID',
      data: { op_index: 0, op_type: 'correct_memory' },
    });
  });

  test('L34 what was retired on a branch stays active on another', async () => {
    const made = await history.commit(branch, [add('one')]);
    await history.branch(other, branch);
    await history.commit(branch, [supersede(memoryIdOf(made))]);
    await expectRefused(temp.db, history.commit(branch, [correct(memoryIdOf(made), { content: 'two' })]), {
      code: 'OP_INVALID',
    });
    await expect(history.commit(other, [correct(memoryIdOf(made), { content: 'two' })])).resolves.toMatchObject({
      parent_ids: [made.changeset_id],
    });
  });

  test('L23 two parents that both touched a memory are refused with its id', async () => {
    const shared = await history.commit(branch, [add('one'), add('two'), add('three')]);
    await history.branch(other, branch);
    const ids = [0, 1].map((ordinal) => memoryIdOf(shared, ordinal));
    await history.commit(
      branch,
      ids.map((id) => correct(id, { content: 'left' })),
    );
    await history.commit(
      other,
      ids.map((id) => supersede(id)),
    );
    await expectRefused(temp.db, history.mergeInto(branch, other), {
      code: 'BOTH_SIDES_TOUCHED',
      data: { memory_ids: ids.sort(), total: 2 },
    });
  });

  test('L23 the same new id on both sides is refused too', async () => {
    await history.branch(other);
    await history.commit(branch, [addAs('plan', 'left')]);
    await history.commit(other, [addAs('plan', 'right')]);
    await expectRefused(temp.db, history.mergeInto(branch, other), {
      code: 'BOTH_SIDES_TOUCHED',
      data: { memory_ids: ['plan'], total: 1 },
    });
  });

  test('L23 sides that touched different memories merge, and a side may be the ancestor of the other', async () => {
    const shared = await history.commit(branch, [add('one'), add('two')]);
    await history.branch(other, branch);
    await history.commit(branch, [correct(memoryIdOf(shared, 0), { content: 'left' })]);
    await history.commit(other, [correct(memoryIdOf(shared, 1), { content: 'right' })]);
    const merge = await history.mergeInto(branch, other);
    expect(temp.lethe.isAncestor(history.head(other), merge.changeset_id)).toBe(true);
    const again = await history.mergeInto(branch, other);
    expect(again.parent_ids).toEqual([merge.changeset_id, history.head(other)]);
  });
});

describe('idempotency', () => {
  test('L16 the same request under its key answers the same changeset, also after the ref has moved', async () => {
    const request = history.request(branch, [add('one', { tags: ['x'] })], { evidence: [{ b: 1, a: 2 }] });
    const first = await temp.lethe.commit(request);
    await history.commit(branch, [add('two')]);
    const before = contentsOf(temp.db);
    expect(await temp.lethe.commit(request)).toEqual(first);
    const reordered: CommitInput = {
      ...request,
      ops: [{ ordinal: 5, op_type: 'add_memory', payload: { tags: ['x'], content: 'one' } }],
      evidence: [{ a: 2, b: 1 }],
    };
    expect(await temp.lethe.commit(reordered)).toEqual(first);
    expect(contentsOf(temp.db)).toBe(before);
    expect(temp.lethe.findChangesetByKey(history.project, request.authorPrincipal, request.idempotencyKey)).toEqual(
      first,
    );
  });

  test('L16 replays tell nobody of a change', async () => {
    const request = history.request(branch, [add('one')]);
    await temp.lethe.commit(request);
    temp.events.length = 0;
    await temp.lethe.commit(request);
    expect(temp.events).toEqual([]);
  });

  test('L17 a used key with another request is refused, be it another only by its control fields', async () => {
    const request = history.request(branch, [add('one')]);
    const first = await temp.lethe.commit(request);
    const others: Partial<CommitInput>[] = [
      { message: 'other' },
      { ops: [{ ordinal: 0, op_type: 'add_memory', payload: { content: 'two' } }] },
      { expectedHead: first.changeset_id },
      { expectedHead: undefined, advanceRef: false },
      { refName: refName('refs/agents/a/else') },
      { model: 'm' },
      { evidence: [{}] },
      { parentIds: [first.changeset_id] },
    ];
    for (const change of others) {
      await expectRefused(temp.db, temp.lethe.commit({ ...request, ...change }), {
        code: 'IDEMPOTENCY_MISMATCH',
        data: { changeset_id: first.changeset_id },
      });
    }
  });

  test('L17 the same key of another author or project is another key', async () => {
    const request = history.request(branch, [add('one')], { idempotencyKey: 'k' });
    const first = await temp.lethe.commit(request);
    const second = await history.commit(branch, [add('one')], {
      idempotencyKey: 'k',
      authorPrincipal: 'principal_00000000000000a2',
    });
    expect(second.changeset_id).not.toBe(first.changeset_id);
    const elsewhere = historyBuilder(temp, 'other');
    await elsewhere.init();
    await elsewhere.branch(branch);
    expect((await elsewhere.commit(branch, [add('one')], { idempotencyKey: 'k' })).project_id).toBe('other');
  });

  test('L17 a refused commit leaves its key free', async () => {
    await expectRefused(temp.db, history.commit(branch, [correct('none', { content: 'x' })], { idempotencyKey: 'k' }), {
      code: 'OP_INVALID',
    });
    await expect(history.commit(branch, [add('fine')], { idempotencyKey: 'k' })).resolves.toMatchObject({
      idempotency_key: 'k',
    });
  });

  test('L17 forty writers with one key and two contents: one changeset, the other content is refused', async () => {
    const base = history.request(branch, [add('a')], { idempotencyKey: 'k' });
    const rival: CommitInput = { ...base, ops: [{ ordinal: 0, op_type: 'add_memory', payload: { content: 'b' } }] };
    const answers = await Promise.allSettled(
      Array.from({ length: 40 }, (_, n) => temp.lethe.commit(n % 2 === 0 ? base : rival)),
    );
    const ids = new Set(answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value.changeset_id : [])));
    expect(ids.size).toBe(1);
    expect(answers.filter((answer) => answer.status === 'rejected').map((answer) => answer.reason.code)).toEqual(
      Array.from({ length: 20 }, () => 'IDEMPOTENCY_MISMATCH'),
    );
  });

  test('L18 the key of the root is refused', async () => {
    await expectRefused(temp.db, history.commit(branch, [add('x')], { idempotencyKey: 'legacy-root' }), {
      code: 'KEY_RESERVED',
      data: { field: 'idempotency_key' },
    });
    await expectRefused(
      temp.db,
      history.commit(branch, [add('x')], { idempotencyKey: 'legacy-root', authorPrincipal: 'system' }),
      {
        code: 'KEY_RESERVED',
      },
    );
  });
});
