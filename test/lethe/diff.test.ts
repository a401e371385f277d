import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type DiffItem, diffCategories, type SemanticDiff } from '../../src-preload/contract/diff.ts';
import type { ChangesetId } from '../../src-preload/contract/ids.ts';
import { type DiffPage, readCheckedDiff } from '../support/checked-reads.ts';
import {
  add,
  addAs,
  changesetId,
  correct,
  type HistoryBuilder,
  historyBuilder,
  openTempLethe,
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
  await history.commit(work, [
    addAs('base', 'what both share'),
    addAs('tea', 'tea is green', { kind: 'fact', visibility: 'private' }),
  ]);
  await history.branch(side, work);
});
afterEach(() => temp.remove());

const diff = (base: ChangesetId, target: ChangesetId, more: DiffPage = {}) => readCheckedDiff(temp, base, target, more);

/** The lists that are not empty, each item as id, before and after. */
function told(found: SemanticDiff): Readonly<Record<string, unknown>> {
  const short = (item: DiffItem): unknown => [
    item.memory_id,
    item.before?.content ?? null,
    item.after?.content ?? null,
  ];
  return Object.fromEntries(
    diffCategories.flatMap((category) =>
      found[category].length === 0 ? [] : [[category, found[category].map(short)]],
    ),
  );
}

describe('what changed', () => {
  test('L110 additions, corrections and retirements, each before and after; what both share is not listed', async () => {
    const before = history.head(side);
    await history.commit(side, [add('new here'), correct('tea', { content: 'tea is black' }), supersede('base')]);
    const found = diff(before, history.head(side));
    expect(told(found)).toEqual({
      memories_added: [[expect.stringMatching(/^mem:.*:0$/), null, 'new here']],
      corrections_proposed: [['tea', 'tea is green', 'tea is black']],
      records_superseded: [['base', 'what both share', null]],
    });
    expect(found).toMatchObject({
      base_changeset_id: before,
      target_changeset_id: history.head(side),
      unresolved_conflicts: [],
    });
  });

  test('L110 a state against itself has no difference', () => {
    expect(told(diff(history.head(work), history.head(work)))).toEqual({});
  });

  test('L110 a memory that came and went between the two is not listed, nor is one that came back to nothing new', async () => {
    const before = history.head(side);
    await history.commit(side, [addAs('brief', 'here for a moment')]);
    await history.commit(side, [supersede('brief')]);
    expect(told(diff(before, history.head(side)))).toEqual({});
  });

  test('L114 a new id or a replacement is one change, told with what it grew out of, over several steps', async () => {
    const before = history.head(side);
    await history.commit(side, [correct('tea', { content: 'tea two' }, 'tea-2')]);
    const { changeset_id: last } = await history.commit(side, [
      correct('tea-2', { content: 'tea three' }, 'tea-3'),
      supersede('base', { content: 'a new base' }, 'base-2'),
    ]);
    const found = diff(before, last);
    expect(told(found)).toEqual({
      corrections_proposed: [['tea-3', 'tea is green', 'tea three']],
      records_superseded: [['base-2', 'what both share', 'a new base']],
    });
    expect(found.kind_notes).toEqual([
      { left: 'tea', right: 'tea-3', kind: 'temporal_update', reason: 'correct_memory establishes lineage' },
      { left: 'base', right: 'base-2', kind: 'temporal_update', reason: 'supersede_memory establishes lineage' },
    ]);
    expect(found.corrections_proposed[0]).toMatchObject({
      target_event_id: 'tea-2',
      resulting_event_id: 'tea-3',
      changeset_id: last,
      op_ordinal: 0,
      kind: 'temporal_update',
    });
  });

  test('L114 states that grew apart contradict each other', async () => {
    await history.commit(work, [correct('tea', { content: 'tea is white' }), addAs('same', 'one way')]);
    await history.commit(side, [correct('tea', { content: 'tea is black' }), addAs('same', 'another way')]);
    const found = diff(history.head(work), history.head(side));
    expect(told(found)).toEqual({
      corrections_proposed: [
        ['tea', 'tea is white', 'tea is black'],
        ['same', 'one way', 'another way'],
      ],
    });
    expect(found.kind_notes?.map((note) => note.kind)).toEqual(['direct_contradiction', 'direct_contradiction']);
  });

  test('L115 the target side alone is what a merge would bring, both sides also what the target has not', async () => {
    await history.commit(work, [addAs('later', 'only on the base')]);
    await history.commit(side, [addAs('mine', 'only on the target')]);
    const mine = { memories_added: [['mine', null, 'only on the target']] };
    expect(told(diff(history.head(work), history.head(side), { side: 'target' }))).toEqual(mine);
    expect(told(diff(history.head(work), history.head(side)))).toEqual({
      ...mine,
      records_superseded: [['later', 'only on the base', null]],
    });
  });

  test('L115 after the target took the base in, only its own changes are left', async () => {
    await history.commit(work, [addAs('later', 'from the base'), correct('base', { scope: 'desk' })]);
    await history.commit(side, [addAs('mine', 'my own')]);
    await history.mergeInto(side, work);
    expect(told(diff(history.head(work), history.head(side)))).toEqual({ memories_added: [['mine', null, 'my own']] });
  });

  test('L110 backwards it tells what the later state has and the earlier has not', async () => {
    const before = history.head(side);
    const { changeset_id: after } = await history.commit(side, [
      addAs('mine', 'new'),
      correct('tea', { content: 'tea is black' }),
      supersede('base'),
    ]);
    expect(told(diff(after, before))).toEqual({
      memories_added: [['base', null, 'what both share']],
      corrections_proposed: [['tea', 'tea is black', 'tea is green']],
      records_superseded: [['mine', 'new', null]],
    });
  });
});

describe('backwards over lineage', () => {
  test('L114 what grew into another memory is one change backwards too', async () => {
    const before = history.head(side);
    const { changeset_id: after } = await history.commit(side, [
      correct('tea', { content: 'tea is black' }, 'black-tea'),
    ]);
    expect(told(diff(after, before))).toEqual({ corrections_proposed: [['tea', 'tea is black', 'tea is green']] });
    expect(diff(after, before).kind_notes).toEqual([
      {
        left: 'black-tea',
        right: 'tea',
        kind: 'temporal_update',
        reason: 'correct_memory establishes lineage',
      },
    ]);
  });
});

describe('lists and summaries', () => {
  test('L111 decisions, tasks, flags and visibility are listed beside what happened to them', async () => {
    const before = history.head(side);
    await history.commit(side, [
      addAs('d', 'we take the train', { kind: 'decision' }),
      addAs('e', 'Decision: no cars'),
      addAs('t', 'buy tickets', { event_type: 'task' }),
      addAs('f', 'late again', { kind: 'flag' }),
      correct('tea', { visibility: 'shared' }),
    ]);
    const found = diff(before, history.head(side));
    const ids = (items: readonly DiffItem[]): readonly string[] => items.map((item) => item.memory_id);
    expect(ids(found.memories_added)).toEqual(['d', 'e', 't', 'f']);
    expect(ids(found.decisions_changed)).toEqual(['d', 'e']);
    expect(ids(found.tasks_or_flags_changed)).toEqual(['t', 'f']);
    expect(ids(found.permissions_or_visibility_affected)).toEqual(['tea']);
  });

  test('L113 a summary is what the op says, else the first 120 bytes of the content cut between characters', async () => {
    const before = history.head(side);
    await history.commit(side, [
      addAs('a', 'é'.repeat(80)),
      addAs('b', `${'x'.repeat(118)}😀`),
      addAs('c', 'short', { summary: 'in short' }),
    ]);
    const summaries = diff(before, history.head(side)).memories_added.map((item) => item.summary);
    expect(summaries).toEqual(['é'.repeat(60), 'x'.repeat(118), 'in short']);
  });
});

describe('pages and refusals', () => {
  test('L106 pages of a diff put together are the whole, in the order of the ops', async () => {
    const before = history.head(side);
    for (let step = 0; step < 5; step += 1)
      await history.commit(side, [add(`a ${step}`), addAs(`b${step}`, `b ${step}`, { kind: 'decision' })]);
    await history.commit(side, [supersede('b2'), correct('b3', { content: 'b three' })]);
    const whole = diff(before, history.head(side));
    for (const limit of [1, 3, 9, 10]) {
      const added: DiffItem[] = [];
      const decisions: DiffItem[] = [];
      let cursor: string | undefined;
      do {
        const page = diff(before, history.head(side), { limit, cursor });
        expect(page.memories_added.length).toBeLessThanOrEqual(limit);
        added.push(...page.memories_added);
        decisions.push(...page.decisions_changed);
        cursor = page.next_cursor;
      } while (cursor !== undefined);
      expect(added).toEqual(whole.memories_added);
      expect(decisions).toEqual(whole.decisions_changed);
    }
  });

  test('L106 a cursor of another diff is refused', async () => {
    const before = history.head(side);
    await history.commit(side, [add('one'), add('two')]);
    const { next_cursor: cursor } = diff(before, history.head(side), { limit: 1 });
    expect(() => diff(before, history.head(side), { cursor, side: 'target' })).toThrow(
      expect.objectContaining({ code: 'CURSOR_INVALID' }),
    );
    expect(() => diff(history.head(side), before, { cursor })).toThrow(
      expect.objectContaining({ code: 'CURSOR_INVALID' }),
    );
  });

  test('L110 changesets of two projects are not compared, nor unknown ones', async () => {
    const other = historyBuilder(temp, 'other', 'principal_00000000000000b2');
    const { changeset_id: foreign } = await other.init();
    expect(() => diff(foreign, history.head(side))).toThrow(expect.objectContaining({ code: 'CHANGESET_NOT_FOUND' }));
    const unknown = history.head(side).replace(/^.{8}/, 'ffffffff');
    expect(() => diff(history.head(side), changesetId(unknown))).toThrow(
      expect.objectContaining({ code: 'CHANGESET_NOT_FOUND' }),
    );
  });
});
