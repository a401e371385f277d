import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { logScanMax } from '../../src-main/lethe/log.ts';
import type { Changeset } from '../../src-preload/contract/changeset.ts';
import {
  add,
  changesetId,
  type HistoryBuilder,
  historyBuilder,
  openTempLethe,
  refName,
  type TempLethe,
} from '../support/history-builder.ts';

let temp: TempLethe;
let history: HistoryBuilder;
const branch = 'refs/agents/a/main';
const other = 'refs/agents/b/main';

beforeEach(async () => {
  temp = openTempLethe();
  history = historyBuilder(temp);
  await history.init();
  await history.branch(branch);
});
afterEach(() => temp.remove());

interface Page {
  readonly changesets: readonly Changeset[];
  readonly nextCursor?: string | undefined;
}

function readPage(limit: number, cursor?: string, allParents = false, ref = branch): Page {
  return temp.lethe.log({ projectId: history.project, refName: refName(ref), limit, cursor, allParents });
}

function readAll(limit: number, allParents = false, ref = branch): string[] {
  const messages: string[] = [];
  for (
    let page = readPage(limit, undefined, allParents, ref);
    ;
    page = readPage(limit, page.nextCursor, allParents, ref)
  ) {
    messages.push(...page.changesets.map((changeset) => changeset.message));
    if (page.nextCursor === undefined) return messages;
  }
}

const rootMessage = 'legacy-root: baseline for pre-Memory-Git events (no rewrite)';

describe('the log of a ref', () => {
  test('L38 is newest first along first parents, in pages of any size', async () => {
    await history.branch(other);
    await history.commit(branch, [add('x')], { message: 'one' });
    await history.commit(other, [add('y')], { message: 'beside' });
    await history.commit(branch, [add('x')], { message: 'two' });
    await history.mergeInto(branch, other, undefined, { message: 'merge' });
    const expected = ['merge', 'two', 'one', rootMessage];
    for (const limit of [1, 2, 3, 4, 5]) expect(readAll(limit)).toEqual(expected);
  });

  test('L38 the cursor pins the head: what lands later does not shift the pages', async () => {
    for (const message of ['one', 'two', 'three']) await history.commit(branch, [add('x')], { message });
    const first = readPage(2);
    await history.commit(branch, [add('x')], { message: 'four' });
    const second = readPage(2, first.nextCursor);
    expect([...first.changesets, ...second.changesets].map((changeset) => changeset.message)).toEqual([
      'three',
      'two',
      'one',
      rootMessage,
    ]);
    expect(second.nextCursor).toBeUndefined();
  });

  test('L38 a page reads the same number of rows however long the history is', async () => {
    const grow = async (count: number): Promise<void> => {
      for (let n = 0; n < count; n += 1) await history.commit(branch, [add('x')]);
    };
    const rowsOf = (read: () => unknown): number => {
      const before = temp.db.counters.rowsRead;
      read();
      return temp.db.counters.rowsRead - before;
    };
    const reads = [
      () => readPage(20),
      () => readPage(20, readPage(20).nextCursor),
      () => temp.lethe.graph({ projectId: history.project, limit: 20 }),
      () => temp.lethe.findChangeset(history.head(branch)),
      () => temp.lethe.listRefs(history.project, { limit: 20 }),
    ];
    await grow(60);
    const short = reads.map(rowsOf);
    await grow(540);
    expect(reads.map(rowsOf)).toEqual(short);
    expect(Math.max(...short)).toBeLessThan(200);
  });

  test('L39 with all parents it lists everything that the head contains once, newest first', async () => {
    await history.branch(other);
    await history.branch('refs/agents/c/main');
    await history.commit(branch, [add('x')], { message: 'one' });
    await history.commit(other, [add('y')], { message: 'beside' });
    await history.commit('refs/agents/c/main', [add('z')], { message: 'unseen' });
    await history.mergeInto(branch, other, undefined, { message: 'merge' });
    await history.commit(other, [add('y')], { message: 'later beside' });
    await history.mergeInto(branch, other, undefined, { message: 'merge again' });
    const expected = ['merge again', 'later beside', 'merge', 'beside', 'one', rootMessage];
    for (const limit of [1, 2, 3, 6, 10]) expect(readAll(limit, true)).toEqual(expected);
  });

  test('L39 a page looks at a bounded number of changesets and goes on from there', async () => {
    await history.branch(other);
    await history.commit(other, [add('old')], { message: 'old' });
    const writes = [];
    for (let n = 0; n < logScanMax + 50; n += 1) {
      writes.push(history.detached([history.head(branch)], [add('x')], { idempotencyKey: `noise-${n}` }));
    }
    await Promise.all(writes);
    await history.commit(other, [add('new')], { message: 'new' });
    const first = readPage(10, undefined, true, other);
    expect(first.changesets.map((changeset) => changeset.message)).toEqual(['new']);
    const second = readPage(10, first.nextCursor, true, other);
    expect(second.changesets.map((changeset) => changeset.message)).toEqual(['old', rootMessage]);
    expect(second.nextCursor).toBeUndefined();
  });

  test('L41 a cursor is good for its own question only', async () => {
    await history.branch(other);
    for (const message of ['one', 'two']) await history.commit(branch, [add('x')], { message });
    const { nextCursor } = readPage(1);
    const invalid = expect.objectContaining({ code: 'CURSOR_INVALID' });
    expect(() => readPage(1, nextCursor, true)).toThrow(invalid);
    expect(() => readPage(1, nextCursor, false, other)).toThrow(invalid);
    expect(() => temp.lethe.graph({ projectId: history.project, limit: 1, cursor: nextCursor })).toThrow(invalid);
    for (const cursor of ['', 'x', 'e30', 'a'.repeat(5_000)]) expect(() => readPage(1, cursor)).toThrow(invalid);
    const fields = JSON.parse(Buffer.from(nextCursor ?? '', 'base64url').toString());
    for (const change of [
      { head: 99 },
      { from: 99 },
      { head: 1, from: 2 },
      { from: 0 },
      { more: 1 },
      { project: 'x' },
    ]) {
      expect(() => readPage(1, Buffer.from(JSON.stringify({ ...fields, ...change })).toString('base64url'))).toThrow(
        invalid,
      );
    }
    const beside = await history.commit(other, [add('y')]);
    const forged = Buffer.from(JSON.stringify({ ...fields, head: 4, from: 4 })).toString('base64url');
    expect(temp.lethe.findChangeset(beside.changeset_id)).toBeDefined();
    expect(() => readPage(1, forged)).toThrow(invalid);
  });

  test('L42 an altered changeset is never answered, by whatever way it is read', async () => {
    const made = await history.commit(branch, [add('true')]);
    await history.commit(branch, [add('more')]);
    temp.db.exec(
      `DROP TRIGGER memory_op_payloads_never_update; UPDATE memory_op_payloads SET body = '{"content":"false"}' WHERE op = 131072`,
    );
    const mismatch = expect.objectContaining({ code: 'INTEGRITY_MISMATCH', data: { changeset_id: made.changeset_id } });
    for (let repeat = 0; repeat < 2; repeat += 1) {
      expect(() => temp.lethe.findChangeset(made.changeset_id)).toThrow(mismatch);
      expect(() => readPage(10)).toThrow(mismatch);
      expect(() => readPage(10, undefined, true)).toThrow(mismatch);
      expect(() => temp.lethe.findChangesetByKey(history.project, made.author_principal, made.idempotency_key)).toThrow(
        mismatch,
      );
    }
    await expect(history.detached([made.changeset_id], [add('on top')])).rejects.toMatchObject({
      code: 'INTEGRITY_MISMATCH',
    });
  });

  test('L42 a payload that is no JSON any more is a mismatch, not a crash', async () => {
    const made = await history.commit(branch, [add('true')]);
    temp.db.exec(
      `DROP TRIGGER memory_op_payloads_never_update; UPDATE memory_op_payloads SET body = '{' WHERE op = 131072`,
    );
    expect(() => temp.lethe.findChangeset(made.changeset_id)).toThrow(
      expect.objectContaining({ code: 'INTEGRITY_MISMATCH' }),
    );
  });
});

describe('the graph of a project', () => {
  test('L40 lists every changeset without its ops, newest first, detached ones among them', async () => {
    const one = await history.commit(branch, [add('x'), add('y')], { message: 'one', actorId: 'a', model: 'm' });
    const loose = await history.detached([one.changeset_id], [add('z')], { message: 'loose' });
    await historyBuilder(temp, 'other').init();
    const all = temp.lethe.graph({ projectId: history.project, limit: 10 });
    expect(all.nodes.map((node) => node.message)).toEqual(['loose', 'one', rootMessage]);
    expect(all.nodes[1]).toEqual({
      changeset_id: one.changeset_id,
      parent_ids: one.parent_ids,
      ref_name: branch,
      author_principal: one.author_principal,
      actor_id: 'a',
      model: 'm',
      message: 'one',
      created_at: one.created_at,
      op_count: 2,
    });
    expect(all.nextCursor).toBeUndefined();
    const first = temp.lethe.graph({ projectId: history.project, limit: 2 });
    await history.detached([loose.changeset_id], [add('later')]);
    const second = temp.lethe.graph({ projectId: history.project, limit: 2, cursor: first.nextCursor });
    expect([...first.nodes, ...second.nodes].map((node) => node.message)).toEqual(['loose', 'one', rootMessage]);
    expect(second.nextCursor).toBeUndefined();
  });

  test('L41 a cursor of the graph of one project is refused for another', async () => {
    const other = historyBuilder(temp, 'other');
    await other.init();
    await history.commit(branch, [add('x')]);
    const { nextCursor } = temp.lethe.graph({ projectId: history.project, limit: 1 });
    expect(() => temp.lethe.graph({ projectId: other.project, limit: 1, cursor: nextCursor })).toThrow(
      expect.objectContaining({ code: 'CURSOR_INVALID' }),
    );
  });
});

describe('how changesets hang together', () => {
  test('L14 an ancestor is itself or before, on whatever side of a merge', async () => {
    await history.branch(other);
    const left = await history.commit(branch, [add('x')]);
    const right = await history.commit(other, [add('y')]);
    const merge = await history.mergeInto(branch, other);
    const is = (ancestor: Changeset, descendant: Changeset): boolean =>
      temp.lethe.isAncestor(ancestor.changeset_id, descendant.changeset_id);
    expect([is(left, left), is(left, merge), is(right, merge), is(left, right), is(merge, left)]).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
    expect(() => temp.lethe.isAncestor(changesetId('00000000-0000-7000-8000-00000000dead'), left.changeset_id)).toThrow(
      expect.objectContaining({ code: 'CHANGESET_NOT_FOUND', data: expect.objectContaining({ field: 'ancestor' }) }),
    );
  });

  test('L52 originators are the authors of what a move brings in, each once, sorted', async () => {
    await history.branch(other);
    const base = await history.commit(branch, [add('x')], { authorPrincipal: 'zoe' });
    await history.commit(other, [add('y')], { authorPrincipal: 'carl' });
    await history.commit(other, [add('y')], { authorPrincipal: 'anna' });
    await history.commit(other, [add('y')], { authorPrincipal: 'carl' });
    const merge = await history.mergeInto(branch, other, undefined, { authorPrincipal: 'bert' });
    expect(temp.lethe.originators(base.changeset_id, merge.changeset_id)).toEqual(['anna', 'bert', 'carl']);
    expect(temp.lethe.originators(base.changeset_id, history.head(other))).toEqual(['anna', 'carl']);
    expect(temp.lethe.originators(merge.changeset_id, history.head(other))).toEqual([]);
    const foreign = await historyBuilder(temp, 'other').init();
    expect(() => temp.lethe.originators(base.changeset_id, foreign.changeset_id)).toThrow(
      expect.objectContaining({ code: 'CHANGESET_NOT_FOUND' }),
    );
  });
});
