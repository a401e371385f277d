import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readContext } from '../../src-main/lethe/context.ts';
import type { MemoryAnswer } from '../../src-main/lethe/memory.ts';
import type { ChangesetId } from '../../src-preload/contract/ids.ts';
import { type MemoryContext, memoryContextSchema } from '../../src-preload/contract/memory.ts';
import { type MemoryPage, readCheckedMemory } from '../support/checked-reads.ts';
import {
  addAs,
  attachEvidence,
  attachVerification,
  correct,
  deprecate,
  duplicate,
  type HistoryBuilder,
  historyBuilder,
  type OpDraft,
  openTempLethe,
  refName,
  relate,
  supersede,
  type TempLethe,
} from '../support/history-builder.ts';

const work = 'refs/topics/work';
const side = 'refs/topics/side';
let temp: TempLethe;
let history: HistoryBuilder;

beforeEach(async () => {
  temp = openTempLethe();
  history = historyBuilder(temp);
  await history.init();
  await history.branch(work);
  await history.commit(work, [addAs('a', 'first'), addAs('b', 'second'), addAs('c', 'third')]);
  await history.branch(side, work);
});
afterEach(() => temp.remove());

const get = (memoryId: string, more: Partial<MemoryPage> = {}) =>
  readCheckedMemory(temp, history, memoryId, { head: history.head(work), ...more });

function context(more: { readonly query?: string; readonly limit?: number } = {}): MemoryContext {
  const found = readContext(temp.db, {
    projectId: history.project,
    refName: refName(work),
    limit: more.limit ?? 20,
    query: more.query,
  });
  expect(memoryContextSchema.parse(found)).toEqual(found);
  return found;
}

function shown(found: MemoryContext): readonly string[] {
  return found.memories.map((memory) => memory.memory_id);
}

const codes = async (work: Promise<unknown>): Promise<unknown> => {
  try {
    return await work;
  } catch (thrown) {
    return thrown;
  }
};

describe('duplicates', () => {
  test('L130 a duplicate is retired, the memory that stays is not touched', async () => {
    const before = get('b').memory;
    await history.commit(work, [duplicate('a', 'b', { summary: 'the same' })]);
    expect(get('a').memory).toMatchObject({ status: 'duplicate', content: 'first' });
    expect(get('b').memory).toEqual(before);
    expect(shown(context())).toEqual(['c', 'b']);
    expect(context().total_active).toBe(2);
    expect(shown(context({ query: 'first' }))).not.toContain('a');
  });

  test('L130 a retired duplicate can be no target, and its id is free again', async () => {
    await history.commit(work, [duplicate('a', 'b')]);
    const refused = await codes(history.commit(work, [attachEvidence('a', { note: 'n' })]));
    expect(refused).toMatchObject({ code: 'OP_INVALID', data: { op_index: 0, op_type: 'attach_evidence' } });
    await history.commit(work, [addAs('a', 'first again')]);
    expect(get('a').memory).toMatchObject({ status: 'active', content: 'first again' });
  });

  test('L139 its lineage names the memory that stays', async () => {
    await history.commit(work, [
      { op_type: 'mark_duplicate', payload: { duplicate_id: 'a', duplicate_of: 'b', summary: 'twice' } },
    ]);
    expect(get('a').lineage.at(-1)).toMatchObject({
      op_type: 'mark_duplicate',
      memory_id: 'a',
      duplicate_of: 'b',
      payload: { summary: 'twice', duplicate_id: 'a', duplicate_of: 'b' },
      before: { content: 'first', status: 'active' },
      after: null,
    });
    expect(get('b').lineage).toHaveLength(1);
  });
});

describe('proposed deprecations', () => {
  test('L131 the memory stays active, is shown as proposed, and comes first', async () => {
    const { changeset_id: at } = await history.commit(work, [deprecate('a', 'we moved on')]);
    expect(get('a').memory).toMatchObject({ status: 'deprecation_proposed', last_changeset_id: at });
    expect(shown(context())).toEqual(['a', 'c', 'b']);
    expect(context().total_active).toBe(3);
    expect(get('a').lineage.at(-1)).toMatchObject({
      op_type: 'propose_deprecation',
      payload: { reason: 'we moved on' },
      before: { status: 'active' },
      after: { status: 'deprecation_proposed' },
    });
  });

  test('L131 a correction in place withdraws the proposal, an attachment does not', async () => {
    await history.commit(work, [deprecate('a'), attachEvidence('a', { note: 'n' })]);
    expect(get('a').memory.status).toBe('deprecation_proposed');
    await history.commit(work, [correct('a', { scope: 'desk' })]);
    expect(get('a').memory).toMatchObject({ status: 'active', content: 'first', evidence: [{ note: 'n' }] });
  });

  test('L123 L131 a memory whose deprecation is proposed can be targeted, found and superseded', async () => {
    await history.commit(work, [deprecate('a')]);
    while (await temp.lethe.maintain());
    expect(shown(context({ query: 'first' }))[0]).toBe('a');
    expect(temp.db.query('SELECT count(*) AS states FROM text_versions').get()).toEqual({ states: 4 });
    await history.commit(work, [relate('a', 'supports', 'b'), supersede('a')]);
    expect(get('a').memory.status).toBe('superseded');
    expect(context().total_active).toBe(2);
  });
});

describe('attachments', () => {
  test('L132 what is attached is appended in order, to its own list, and makes the memory the newest', async () => {
    const first = await history.commit(work, [
      attachEvidence('a', { source: 'one' }),
      attachVerification('a', { status: 'passed', note: 'checked' }),
      attachEvidence('a', { source: 'two' }),
    ]);
    expect(get('a').memory).toMatchObject({
      status: 'active',
      content: 'first',
      evidence: [{ source: 'one' }, { source: 'two' }],
      verification: [{ status: 'passed', note: 'checked' }],
      last_changeset_id: first.changeset_id,
    });
    expect(get('a').memory).not.toHaveProperty('evidence_total');
    expect(get('a').memory).not.toHaveProperty('payload.source');
    expect(shown(context())).toEqual(['a', 'c', 'b']);
    expect(get('b').memory).not.toHaveProperty('evidence');
  });

  test('L132 L139 the newest eight are shown with how many there are; the lineage has every one', async () => {
    const attach = (count: number): OpDraft[] =>
      Array.from({ length: count }, (_, index) => attachEvidence('a', { note: `note ${index}` }));
    await history.commit(work, attach(8));
    expect(get('a').memory.evidence).toHaveLength(8);
    expect(get('a').memory).not.toHaveProperty('evidence_total');
    await history.commit(work, [attachEvidence('a', { note: 'the ninth' })]);
    const { memory, lineage } = get('a');
    expect(memory.evidence?.map(({ note }) => note)).toEqual([
      ...[1, 2, 3, 4, 5, 6, 7].map((n) => `note ${n}`),
      'the ninth',
    ]);
    expect(memory.evidence_total).toBe(9);
    expect(lineage.map((step) => step.payload?.note)).toEqual([
      undefined,
      ...[0, 1, 2, 3, 4, 5, 6, 7].map((n) => `note ${n}`),
      'the ninth',
    ]);
  });

  test('L132 at most 4 096 bytes are shown, but always the newest', async () => {
    const half = { note: 'x'.repeat(2_048 - '{"note":""}'.length) };
    await history.commit(work, [attachVerification('a', half), attachVerification('a', half)]);
    expect(get('a').memory.verification).toHaveLength(2);
    await history.commit(work, [attachVerification('a', { note: 'y' })]);
    expect(get('a').memory.verification).toEqual([half, { note: 'y' }]);
    const big = { source: ['z'.repeat(10_000)] };
    await history.commit(work, [attachVerification('a', big)]);
    expect(get('a').memory).toMatchObject({ verification: [big], verification_total: 4 });
  });

  test('L133 they go along to a corrected id, not to a replacement', async () => {
    await history.commit(work, [attachEvidence('a', { note: 'of a' }), attachEvidence('b', { note: 'of b' })]);
    await history.commit(work, [
      correct('a', { content: 'first, renamed' }, 'a-2'),
      attachEvidence('a-2', { note: 'of a-2' }),
      supersede('b', { content: 'second, replaced' }, 'b-2'),
    ]);
    expect(get('a-2').memory.evidence).toEqual([{ note: 'of a' }, { note: 'of a-2' }]);
    expect(get('a').memory).toMatchObject({ status: 'corrected', evidence: [{ note: 'of a' }] });
    expect(get('b-2').memory).not.toHaveProperty('evidence');
  });

  test('L132 an older head shows what was attached by then', async () => {
    const { changeset_id: one } = await history.commit(work, [attachEvidence('a', { note: '1' })]);
    await history.commit(work, [attachEvidence('a', { note: '2' })]);
    expect(get('a', { head: one }).memory.evidence).toEqual([{ note: '1' }]);
  });
});

describe('relationships', () => {
  test('L134 a relationship is told at both of its memories and touches neither', async () => {
    const before = [get('a').memory, get('b').memory];
    const { changeset_id } = await history.commit(work, [relate('a', 'supports', 'b', { summary: 'why' })]);
    const told = [
      {
        from_memory_id: 'a',
        to_memory_id: 'b',
        kind: 'supports',
        payload: { kind: 'supports', summary: 'why' },
        changeset_id,
      },
    ];
    expect([get('a').relationships, get('b').relationships, get('c').relationships]).toEqual([told, told, []]);
    expect([get('a').memory, get('b').memory]).toEqual(before);
    expect(shown(context())).toEqual(['c', 'b', 'a']);
    expect(context().relationships).toEqual(told);
  });

  test('L134 equal ones are kept apart, and they stay when their memories go', async () => {
    await history.commit(work, [relate('a', 'k', 'b'), relate('a', 'k', 'b')]);
    await history.commit(work, [supersede('a'), duplicate('b', 'c')]);
    expect(get('a').relationships).toHaveLength(2);
    expect(get('b').relationships).toHaveLength(2);
  });

  test('L135 they come newest first, in pages that put together are the whole, with the lineage beside them', async () => {
    for (let step = 0; step < 5; step += 1)
      await history.commit(work, [relate('a', `k${step}`, 'b'), relate('c', `l${step}`, 'a')]);
    await history.commit(work, [attachEvidence('a', { note: 'n' }), correct('a', { content: 'x' })]);
    const whole = get('a');
    expect(whole.relationships.map(({ kind }) => kind)).toEqual([4, 3, 2, 1, 0].flatMap((n) => [`l${n}`, `k${n}`]));
    expect(whole).not.toHaveProperty('nextCursor');
    for (const limit of [1, 3, 9, 10]) {
      const pages: MemoryAnswer[] = [];
      let cursor: string | undefined;
      do {
        const page = get('a', { limit, cursor });
        pages.push(page);
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect(pages.flatMap((page) => page.relationships)).toEqual(whole.relationships);
      expect(pages.flatMap((page) => page.lineage)).toEqual(whole.lineage);
    }
  });

  test('L135 another head is told only what it sees', async () => {
    const before = history.head(work);
    await history.commit(side, [relate('a', 'on the side', 'b')]);
    await history.commit(work, [relate('a', 'at work', 'b')]);
    const kinds = (head: ChangesetId): readonly unknown[] => get('a', { head }).relationships.map(({ kind }) => kind);
    expect(kinds(before)).toEqual([]);
    expect(kinds(history.head(work))).toEqual(['at work']);
    expect(kinds(history.head(side))).toEqual(['on the side']);
    await history.mergeInto(work, side);
    expect(kinds(history.head(work))).toEqual(['at work', 'on the side']);
  });

  test('L136 a context shows those of the memories of its page, the newest eight of each', async () => {
    const many = Array.from({ length: 10 }, (_, step) => relate('a', `k${step}`, 'b'));
    await history.commit(work, [...many, correct('c', { content: 'newest' })]);
    expect(context({ limit: 1 })).not.toHaveProperty('relationships');
    expect(context({ limit: 3 }).relationships?.map(({ kind }) => kind)).toEqual(
      [9, 8, 7, 6, 5, 4, 3, 2].map((n) => `k${n}`),
    );
  });

  test('L136 and 16 384 bytes in all', async () => {
    const big = (): OpDraft => relate('a', 'k', 'b', { summary: 'x'.repeat(4_000) });
    await history.commit(work, Array.from({ length: 6 }, big));
    expect(context().relationships).toHaveLength(3);
  });
});

describe('two sides', () => {
  test.each([
    ['a duplicate', duplicate('a', 'b')],
    ['a proposed deprecation', deprecate('a')],
    ['an attachment', attachEvidence('a', { note: 'n' })],
  ])('L141 %s contests what the other side did to the same memory', async (_, op) => {
    await history.commit(side, [op]);
    await history.commit(work, [correct('a', { scope: 'desk' })]);
    expect(await codes(history.mergeInto(work, side))).toMatchObject({
      code: 'BOTH_SIDES_TOUCHED',
      data: { memory_ids: ['a'], total: 1 },
    });
  });

  test('L141 relationships contest nothing, nor do the memories that a duplicate names beside itself', async () => {
    await history.commit(side, [relate('a', 'k', 'b'), duplicate('c', 'b')]);
    await history.commit(work, [relate('a', 'k', 'b'), correct('a', { scope: 'desk' }), correct('b', { scope: 'x' })]);
    await history.mergeInto(work, side);
    expect(get('a').relationships).toHaveLength(2);
    expect(context().total_active).toBe(2);
    expect(get('c').memory.status).toBe('duplicate');
  });

  test.each<[string, OpDraft, OpDraft, readonly string[]]>([
    ['marked a duplicate of it', duplicate('a', 'b'), duplicate('b', 'a'), ['a', 'b']],
    ['retired it', duplicate('a', 'b'), supersede('b'), ['b']],
    ['corrected it to a new id', duplicate('a', 'b'), correct('b', { content: 'x' }, 'b-2'), []],
    ['superseded it by another', duplicate('a', 'b'), supersede('b', { content: 'newer' }, 'b-2'), []],
    ['marked it a duplicate of a third', duplicate('a', 'b'), duplicate('b', 'c'), []],
    ['proposed to give it up', duplicate('a', 'b'), deprecate('b'), []],
  ])('L142 a duplicate of a memory, when the other side %s', async (_, mark, other, contested) => {
    await history.commit(side, [mark]);
    await history.commit(work, [other]);
    const heads = { targetHead: history.head(work), head: history.head(side) };
    const preview = temp.lethe.mergePreview({ projectId: history.project, ...heads });
    expect(preview).toMatchObject({ contested_memory_ids: contested, contested_total: contested.length });
    const merged = history.mergeInto(work, side);
    if (contested.length === 0) return expect((await merged).parent_ids).toHaveLength(2);
    return expect(await codes(merged)).toMatchObject({
      code: 'BOTH_SIDES_TOUCHED',
      data: { memory_ids: contested, total: contested.length },
    });
  });

  test('L142 what one side marked and gave up by itself is its own business, and a mark ends when its id is given again', async () => {
    await history.commit(side, [duplicate('a', 'b')]);
    await history.commit(side, [supersede('b')]);
    await history.commit(work, [supersede('c')]);
    await history.mergeInto(work, side);
    expect(context().total_active).toBe(0);
    await history.commit(work, [addAs('d', 'fourth'), addAs('e', 'fifth')]);
    await history.branch('refs/topics/third', work);
    await history.commit('refs/topics/third', [duplicate('d', 'e'), addAs('d', 'fourth again')]);
    await history.commit(work, [supersede('e')]);
    await history.mergeInto(work, 'refs/topics/third');
    expect(context().memories.map(({ content }) => content)).toEqual(['fourth again']);
  });

  test('L142 of many marks on one side each is looked at, also where the other side did far less', async () => {
    const ids = Array.from({ length: 300 }, (_, n) => `m${String(n).padStart(3, '0')}`);
    await history.commit(
      work,
      ids.map((id) => addAs(id, `text of ${id}`)),
    );
    await history.branch('refs/topics/third', work);
    await history.commit(
      'refs/topics/third',
      ids.slice(0, 299).map((id) => duplicate(id, 'm299')),
    );
    await history.commit('refs/topics/third', [duplicate('a', 'c')]);
    await history.commit(work, [supersede('c')]);
    expect(await codes(history.mergeInto(work, 'refs/topics/third'))).toMatchObject({ data: { memory_ids: ['c'] } });
  });
});
