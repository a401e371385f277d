import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { chainDigest, integrityDigest } from '../../src-main/canonical/digest.ts';
import type { CommitInput } from '../../src-main/lethe/api.ts';
import {
  add,
  addAs,
  changesetId,
  correct,
  type HistoryBuilder,
  historyBuilder,
  memoryIdOf,
  type OpDraft,
  openTempLethe,
  refName,
  reviewedMerge,
  supersede,
  type TempLethe,
} from '../support/history-builder.ts';

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

/** Every row of every table, as one text: equal before and after means that nothing at all was written. */
function contents(): string {
  const tables = temp.db
    .query<[], { name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'memory_%' ORDER BY name",
    )
    .all();
  return JSON.stringify(
    tables.map(({ name }) => [
      name,
      temp.db
        .query<[], Record<string, unknown>>(`SELECT * FROM ${name}`)
        .all()
        .map((row) => Object.values(row).map(String)),
    ]),
  );
}

async function refused(commit: Promise<unknown>, wanted: object): Promise<void> {
  const before = contents();
  await expect(commit).rejects.toMatchObject(wanted);
  expect(contents()).toBe(before);
}

describe('the head', () => {
  test('L12 a stale head is refused with both heads, and nothing is written', async () => {
    const stale = history.request(branch, [add('late')]);
    const { changeset_id: head } = await history.commit(branch, [add('first')]);
    await refused(temp.lethe.commit(stale), {
      code: 'REF_MOVED',
      data: { ref: branch, expected: stale.expectedHead, actual: head },
    });
    expect(history.head(branch)).toBe(head);
  });

  test('L12 a commit to a ref that does not exist is refused', async () => {
    await refused(
      temp.lethe.commit({ ...history.request(branch, [add('x')]), refName: refName('refs/agents/a/none') }),
      { code: 'REF_NOT_FOUND' },
    );
  });

  test('L13 a protected ref takes no commit, a detached changeset may bear its name', async () => {
    await refused(history.commit(main, [add('x')]), { code: 'PROTECTED_REF', data: { ref: main } });
    await refused(temp.lethe.commit({ ...history.request(branch, [add('x')]), refName: refName('refs/shared/none') }), {
      code: 'PROTECTED_REF',
    });
    const before = history.head(main);
    const detached = await history.detached([before], [add('x')]);
    expect(detached).toMatchObject({ ref_name: main, parent_ids: [before] });
    expect(history.head(main)).toBe(before);
  });

  test('L13 a ref protected by its row takes no commit, whatever its name', async () => {
    temp.db.exec(
      `DROP TRIGGER memory_refs_move_forward; UPDATE memory_refs SET protected = 1 WHERE ref_name = '${branch}'`,
    );
    await refused(history.commit(branch, [add('x')]), { code: 'PROTECTED_REF' });
  });

  test('L14 the parents must contain the head of the ref', async () => {
    const root = history.head(main);
    const { changeset_id: head } = await history.commit(branch, [add('one')]);
    await refused(history.commit(branch, [add('two')], { parentIds: [root] }), {
      code: 'NOT_A_DESCENDANT',
      data: { ref: branch, head },
    });
    await refused(history.commit(branch, [add('two')], { parentIds: [] }), { code: 'NOT_A_DESCENDANT' });
    await history.branch(other);
    const beside = await history.commit(other, [add('beside')]);
    await refused(history.commit(branch, [add('two')], { parentIds: [beside.changeset_id] }), {
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
    await refused(history.commit(branch, [add('x')], { parentIds: [head, nobody] }), {
      code: 'CHANGESET_NOT_FOUND',
      data: { field: 'parent_ids[1]', changeset_id: nobody },
    });
    await refused(history.commit(branch, [add('x')], { parentIds: [foreign.changeset_id] }), {
      code: 'CHANGESET_NOT_FOUND',
      data: { field: 'parent_ids[0]', changeset_id: foreign.changeset_id },
    });
    await refused(history.commit(branch, [add('x')], { parentIds: [head, head] }), {
      code: 'INPUT_INVALID',
      data: { field: 'parent_ids' },
    });
    await refused(history.commit(branch, [add('x')], { parentIds: [head, nobody, foreign.changeset_id] }), {
      code: 'INPUT_INVALID',
      data: { field: 'parent_ids' },
    });
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
    await refused(history.commit(other, [correct(memoryIdOf(left), { content: 'unseen' })]), {
      code: 'OP_INVALID',
      data: { op_index: 0, op_type: 'correct_memory' },
    });
  });

  test('L34 what was retired on a branch stays active on another', async () => {
    const made = await history.commit(branch, [add('one')]);
    await history.branch(other, branch);
    await history.commit(branch, [supersede(memoryIdOf(made))]);
    await refused(history.commit(branch, [correct(memoryIdOf(made), { content: 'two' })]), { code: 'OP_INVALID' });
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
    await refused(history.mergeInto(branch, other), {
      code: 'BOTH_SIDES_TOUCHED',
      data: { memory_ids: ids.sort(), total: 2 },
    });
  });

  test('L23 the same new id on both sides is refused too', async () => {
    await history.branch(other);
    await history.commit(branch, [addAs('plan', 'left')]);
    await history.commit(other, [addAs('plan', 'right')]);
    await refused(history.mergeInto(branch, other), {
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
    const before = contents();
    expect(await temp.lethe.commit(request)).toEqual(first);
    const reordered: CommitInput = {
      ...request,
      ops: [{ ordinal: 5, op_type: 'add_memory', payload: { tags: ['x'], content: 'one' } }],
      evidence: [{ a: 2, b: 1 }],
    };
    expect(await temp.lethe.commit(reordered)).toEqual(first);
    expect(contents()).toBe(before);
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
      await refused(temp.lethe.commit({ ...request, ...change }), {
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
    await refused(history.commit(branch, [correct('none', { content: 'x' })], { idempotencyKey: 'k' }), {
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
    await refused(history.commit(branch, [add('x')], { idempotencyKey: 'legacy-root' }), {
      code: 'KEY_RESERVED',
      data: { field: 'idempotency_key' },
    });
    await refused(history.commit(branch, [add('x')], { idempotencyKey: 'legacy-root', authorPrincipal: 'system' }), {
      code: 'KEY_RESERVED',
    });
  });
});

describe('what is stored', () => {
  test('L24 digests are taken before the write and are those of what is read', async () => {
    const root = temp.lethe.findChangeset(history.head(main));
    const made = await history.commit(branch, [add('<b>&\u2028', { confidence: -0 }), addAs('x', 'y')], {
      evidence: [{ source: 'a' }],
      verification: [{ by: 'b' }],
      actorId: 'a',
      model: 'm',
    });
    const read = temp.lethe.findChangeset(made.changeset_id);
    expect(read).toEqual(made);
    expect(made.integrity_digest).toBe(integrityDigest(made));
    expect(made.chain_digest).toBe(
      chainDigest({
        changeset_id: made.changeset_id,
        created_at: made.created_at,
        integrity_digest: made.integrity_digest,
        parents: [root?.chain_digest ?? ''],
      }),
    );
    expect(temp.db.query('SELECT body FROM memory_op_payloads ORDER BY op').all()).toEqual([
      { body: '{"confidence":-0,"content":"\\u003cb\\u003e\\u0026\\u2028"}' },
      { body: '{"content":"y"}' },
    ]);
  });

  test('L24 the order of parents tells in the digest', async () => {
    await history.branch(other);
    const left = await history.commit(branch, [add('left')]);
    const right = await history.commit(other, [add('right')]);
    const one = await history.detached([left.changeset_id, right.changeset_id], [reviewedMerge('p', 'c')], {
      message: 'm',
      idempotencyKey: 'one',
    });
    expect(integrityDigest(one)).not.toBe(integrityDigest({ ...one, parent_ids: one.parent_ids.toReversed() }));
    expect(one.integrity_digest).toBe(integrityDigest(one));
  });

  test('L6 numbers ascend and parents have smaller ones', async () => {
    await history.branch(other);
    for (const ref of [branch, other, branch]) await history.commit(ref, [add('x')]);
    await history.mergeInto(branch, other);
    const rows = temp.db
      .query<[], { seq: number; parent_seq: number }>(
        'SELECT seq, parent_seq FROM memory_changeset_parents ORDER BY seq, position',
      )
      .all();
    expect(rows).toEqual([
      { seq: 2, parent_seq: 1 },
      { seq: 3, parent_seq: 1 },
      { seq: 4, parent_seq: 2 },
      { seq: 5, parent_seq: 4 },
      { seq: 5, parent_seq: 3 },
    ]);
  });

  test('L25 text that is not well-formed is stored and digested well-formed', async () => {
    const made = await history.commit(
      branch,
      [add('a\ud800', { '\u{e000}': 'never' })].map(({ op_type }) => ({
        op_type,
        payload: { content: 'a\ud800', summary: '\udfff' },
      })),
      {
        message: 'm\ud800',
        model: '\udc00',
        evidence: [{ 'k\ud800': 'v' }],
      },
    );
    expect(made).toMatchObject({
      message: 'm\ufffd',
      model: '\ufffd',
      evidence: [{ 'k\ufffd': 'v' }],
      ops: [{ payload: { content: 'a\ufffd', summary: '\ufffd' } }],
    });
    expect(temp.lethe.findChangeset(made.changeset_id)).toEqual(made);
  });

  test('L26 every text and list has a bound, named when it is passed', async () => {
    const long = (bytes: number): string => 'x'.repeat(bytes + 1);
    const bounded: readonly [string, Partial<CommitInput>][] = [
      ['message', { message: long(16_384) }],
      ['idempotency_key', { idempotencyKey: long(256) }],
      ['idempotency_key', { idempotencyKey: '' }],
      ['author_principal', { authorPrincipal: '' }],
      ['author_principal', { authorPrincipal: long(1_024) }],
      ['persona_id', { personaId: long(1_024) }],
      ['actor_id', { actorId: long(1_024) }],
      ['surface', { surface: long(1_024) }],
      ['model', { model: long(1_024) }],
      ['environment', { environment: long(1_024) }],
      ['session_id', { sessionId: long(1_024) }],
      ['topic_id', { topicId: long(1_024) }],
      ['evidence', { evidence: Array.from({ length: 257 }, () => ({})) }],
      ['verification', { verification: Array.from({ length: 257 }, () => ({})) }],
      ['evidence[0]', { evidence: [{ x: long(65_536) }] }],
      ['ops', { ops: [] }],
      ['expected_head', { expectedHead: undefined }],
      ['expected_head', { advanceRef: false }],
    ];
    for (const [field, change] of bounded) {
      await refused(temp.lethe.commit({ ...history.request(branch, [add('x')]), ...change }), {
        code: 'INPUT_INVALID',
        data: { field },
      });
    }
    await expect(
      history.commit(branch, [add('x')], {
        message: 'x'.repeat(16_384),
        idempotencyKey: 'x'.repeat(256),
        evidence: Array.from({ length: 256 }, () => ({})),
      }),
    ).resolves.toBeDefined();
  });

  test('L19 a context manifest must exist in the project', async () => {
    await refused(history.commit(branch, [add('x')], { contextManifestId: nobody }), { code: 'MANIFEST_NOT_FOUND' });
  });

  test('L3 a commit to an unknown project is refused', async () => {
    const nowhere = historyBuilder(temp, 'nowhere');
    await refused(temp.lethe.commit({ ...history.request(branch, [add('x')]), projectId: nowhere.project }), {
      code: 'PROJECT_NOT_FOUND',
    });
  });
});

describe('whole or not at all', () => {
  test('L20 random ops are either all written or leave nothing', async () => {
    const made = await history.commit(branch, [addAs('a', 'one'), addAs('b', 'two')]);
    const id = fc.constantFrom('a', 'b', 'c', 'd', memoryIdOf(made));
    const draft: fc.Arbitrary<OpDraft> = fc.oneof(
      id.map((name) => addAs(name, 'text')),
      fc
        .tuple(id, fc.option(id, { nil: undefined }))
        .map(([target, resulting]) => correct(target, { content: 'text' }, resulting)),
      fc.tuple(id, fc.boolean()).map(([target, replaced]) => supersede(target, replaced ? { content: 'text' } : {})),
      fc.constant(add('')),
    );
    let landed = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(draft, { minLength: 1, maxLength: 4 }), async (drafts) => {
        const before = contents();
        const head = history.head(branch);
        const committed = await history.commit(branch, drafts).catch((thrown: unknown) => thrown);
        if (committed instanceof Error) {
          expect(committed).toMatchObject({ code: 'OP_INVALID' });
          expect(contents()).toBe(before);
        } else {
          landed += 1;
          expect(committed).toMatchObject({
            parent_ids: [head],
            ops: drafts.map((one, ordinal) => ({ ordinal, op_type: one.op_type })),
          });
          expect(history.head(branch)).not.toBe(head);
        }
      }),
      { numRuns: 120, seed: 20_261_130 },
    );
    expect(landed).toBeGreaterThan(10);
    expect(landed).toBeLessThan(110);
  });

  test('L21 fifty writers, each on a ref of its own, all land', async () => {
    const refs = Array.from({ length: 50 }, (_, n) => `refs/sessions/a/${n}`);
    await Promise.all(refs.map((ref) => history.branch(ref)));
    const made = await Promise.all(refs.map((ref) => history.commit(ref, [add(ref)])));
    for (const [index, ref] of refs.entries()) expect(history.head(ref)).toBe(made[index]?.changeset_id);
  });

  test('L21 fifty writers on one ref all land by trying again, in one line', async () => {
    const writers = Array.from({ length: 50 }, (_, n) => historyBuilder(temp, 'demo', `writer-${n}`));
    const write = async (writer: HistoryBuilder): Promise<void> => {
      for (let attempt = 0; attempt < 60; attempt += 1) {
        const done = await writer.commit(branch, [add('x')]).then(
          () => true,
          (thrown: unknown) => {
            expect(thrown).toMatchObject({ code: 'REF_MOVED' });
            return false;
          },
        );
        if (done) return;
      }
      throw new Error('a writer never landed');
    };
    await Promise.all(writers.map(write));
    const { changesets } = temp.lethe.log({
      projectId: history.project,
      refName: refName(branch),
      limit: 100,
      allParents: false,
    });
    expect(changesets).toHaveLength(51);
    expect(new Set(changesets.map((changeset) => changeset.author_principal)).size).toBe(51);
  });

  test('L22 a full disk leaves no half of a changeset, and the store goes on when there is room', async () => {
    const before = contents();
    const pages = Number(temp.db.pragma('page_count'));
    temp.db.pragma(`max_page_count = ${pages + 2}`);
    const filler = 'x'.repeat(16_000);
    const full = await Promise.allSettled([
      history.commit(
        branch,
        Array.from({ length: 40 }, () => add(filler)),
      ),
    ]);
    expect(full).toMatchObject([{ status: 'rejected', reason: { code: 'DISK_FULL' } }]);
    expect(contents()).toBe(before);
    expect(temp.events.filter((event) => event.kind === 'changeset_created')).toEqual([]);
    temp.db.pragma('max_page_count = 1073741823');
    const made = await history.commit(branch, [add('small')]);
    expect(history.head(branch)).toBe(made.changeset_id);
    expect(temp.db.query('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  });

  test('L22 a big neighbour that fills the disk does not take a small one of the same batch with it', async () => {
    await history.branch(other);
    await history.commit(other, [add('y'.repeat(100))]);
    const pages = Number(temp.db.pragma('page_count'));
    temp.db.pragma(`max_page_count = ${pages + 6}`);
    const [big, small] = await Promise.allSettled([
      history.commit(
        branch,
        Array.from({ length: 40 }, () => add('x'.repeat(16_000))),
      ),
      history.commit(other, [add('small')]),
    ]);
    expect(big).toMatchObject({ status: 'rejected', reason: { code: 'DISK_FULL' } });
    expect(small).toMatchObject({ status: 'fulfilled' });
    temp.db.pragma('max_page_count = 1073741823');
    expect(temp.db.query('PRAGMA foreign_key_check').all()).toEqual([]);
  });

  test('L22 a failing COMMIT refuses every commit of its batch and keeps none', async () => {
    await history.branch(other);
    const before = contents();
    // A deferred key that never holds: each statement passes, the transaction does not.
    temp.db.exec(`
      CREATE TEMP TABLE keys (id INTEGER PRIMARY KEY);
      CREATE TEMP TABLE owed (id INTEGER REFERENCES keys (id) DEFERRABLE INITIALLY DEFERRED);
      CREATE TEMP TRIGGER owe AFTER INSERT ON main.memory_changesets BEGIN INSERT INTO owed VALUES (1); END;
    `);
    const both = await Promise.allSettled([history.commit(branch, [add('one')]), history.commit(other, [add('two')])]);
    expect(both.map((answer) => answer.status)).toEqual(['rejected', 'rejected']);
    expect(contents()).toBe(before);
    temp.db.exec('DROP TRIGGER owe');
    expect((await history.commit(branch, [add('one')])).parent_ids).toEqual([history.head(main)]);
  });
});
