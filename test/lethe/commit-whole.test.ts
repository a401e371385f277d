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

describe('what is stored', () => {
  test('L24 whatever is committed is answered exactly as it is read afterwards', async () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\u0000', '<&>\u2028', '\ud800', 'ﬁ é', '__proto__', '1', '-0'),
    );
    const number = fc.double({ min: -0, max: 1, noNaN: true });
    const json = fc.oneof(text, number, fc.boolean(), fc.array(text));
    const map = fc.dictionary(text, json, { maxKeys: 4 });
    const op = fc.tuple(text, json, map, number);
    await fc.assert(
      fc.asyncProperty(fc.array(op, { minLength: 1, maxLength: 4 }), map, map, text, async (ops, one, two, model) => {
        const made = await history.commit(
          branch,
          ops.map(([content, subject, approval, confidence]) =>
            add(`content ${content}`, { subject, approval, confidence, tags: [`t${content}`] }),
          ),
          { evidence: [{ source: 'a', one }, two], verification: [two], model },
        );
        const read = temp.lethe.findChangeset(made.changeset_id);
        expect(JSON.stringify(made)).toBe(JSON.stringify(read));
        expect(made).toEqual(read);
      }),
      { numRuns: 60 },
    );
  });

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
      await expectRefused(temp.db, temp.lethe.commit({ ...history.request(branch, [add('x')]), ...change }), {
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
    await expectRefused(temp.db, history.commit(branch, [add('x')], { contextManifestId: nobody }), {
      code: 'MANIFEST_NOT_FOUND',
    });
  });

  test('L3 a commit to an unknown project is refused', async () => {
    const nowhere = historyBuilder(temp, 'nowhere');
    await expectRefused(
      temp.db,
      temp.lethe.commit({ ...history.request(branch, [add('x')]), projectId: nowhere.project }),
      {
        code: 'PROJECT_NOT_FOUND',
      },
    );
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
        const before = contentsOf(temp.db);
        const head = history.head(branch);
        const committed = await history.commit(branch, drafts).catch((thrown: unknown) => thrown);
        if (committed instanceof Error) {
          expect(committed).toMatchObject({ code: 'OP_INVALID' });
          expect(contentsOf(temp.db)).toBe(before);
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
    const before = contentsOf(temp.db);
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
    expect(contentsOf(temp.db)).toBe(before);
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
    const before = contentsOf(temp.db);
    // A deferred key that never holds: each statement passes, the transaction does not.
    temp.db.exec(`
      CREATE TEMP TABLE keys (id INTEGER PRIMARY KEY);
      CREATE TEMP TABLE owed (id INTEGER REFERENCES keys (id) DEFERRABLE INITIALLY DEFERRED);
      CREATE TEMP TRIGGER owe AFTER INSERT ON main.memory_changesets BEGIN INSERT INTO owed VALUES (1); END;
    `);
    const both = await Promise.allSettled([history.commit(branch, [add('one')]), history.commit(other, [add('two')])]);
    expect(both.map((answer) => answer.status)).toEqual(['rejected', 'rejected']);
    expect(contentsOf(temp.db)).toBe(before);
    temp.db.exec('DROP TRIGGER owe');
    expect((await history.commit(branch, [add('one')])).parent_ids).toEqual([history.head(main)]);
  });
});
