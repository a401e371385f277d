import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type DiffItem, diffCategories, type SemanticDiff } from '../../src-preload/contract/diff.ts';
import type { ChangesetId } from '../../src-preload/contract/ids.ts';
import { type DiffPage, readCheckedDiff } from '../support/checked-reads.ts';
import {
  addAs,
  attachEvidence,
  attachVerification,
  correct,
  deprecate,
  duplicate,
  type HistoryBuilder,
  historyBuilder,
  openTempLethe,
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
  await history.commit(work, [
    addAs('tea', 'tea is green', { kind: 'fact' }),
    addAs('train', 'we take the train', { kind: 'decision' }),
    addAs('car', 'we take the car'),
  ]);
  await history.branch(side, work);
});
afterEach(() => temp.remove());

const diff = (base: ChangesetId, target: ChangesetId, more: DiffPage = {}) => readCheckedDiff(temp, base, target, more);

/** The lists that are not empty, with the ids in them. */
function told(found: SemanticDiff): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    diffCategories.flatMap((category) =>
      found[category].length === 0 ? [] : [[category, found[category].map((item) => item.memory_id)]],
    ),
  );
}

describe('marks', () => {
  test('L137 a duplicate is listed as one, before and after, with what stays', async () => {
    const before = history.head(side);
    await history.commit(side, [duplicate('car', 'train', { summary: 'said twice' })]);
    const found = diff(before, history.head(side));
    expect(told(found)).toEqual({ duplicates_detected: ['car'] });
    expect(found.duplicates_detected[0]).toMatchObject({
      op_type: 'mark_duplicate',
      target_event_id: 'car',
      resulting_event_id: 'train',
      summary: 'said twice',
      before: { content: 'we take the car', status: 'active' },
      after: null,
    });
    expect(found).not.toHaveProperty('kind_notes');
  });

  test('L137 a proposed deprecation is a changed decision, whatever the kind of the memory', async () => {
    const before = history.head(side);
    await history.commit(side, [deprecate('tea', 'we drink coffee')]);
    const found = diff(before, history.head(side));
    expect(told(found)).toEqual({ decisions_changed: ['tea'] });
    expect(found.decisions_changed[0]).toMatchObject({
      op_type: 'propose_deprecation',
      payload: { reason: 'we drink coffee' },
      before: { status: 'active' },
      after: { status: 'deprecation_proposed' },
    });
    expect(found.decisions_changed[0]).not.toHaveProperty('kind');
  });

  test('L137 a correction that withdraws it is listed among the decisions too', async () => {
    await history.commit(side, [deprecate('tea')]);
    const proposed = history.head(side);
    await history.commit(side, [correct('tea', { content: 'tea is black' })]);
    expect(told(diff(proposed, history.head(side)))).toEqual({
      corrections_proposed: ['tea'],
      decisions_changed: ['tea'],
    });
  });

  test('L137 what was attached is evidence, before and after; a decision that it speaks for did not change', async () => {
    const before = history.head(side);
    await history.commit(side, [
      attachEvidence('train', { note: 'the timetable' }),
      attachVerification('tea', { status: 'passed' }),
    ]);
    const found = diff(before, history.head(side));
    expect(told(found)).toEqual({ evidence_added_or_removed: ['train', 'tea'] });
    expect(found.evidence_added_or_removed[0]?.before).not.toHaveProperty('evidence');
    expect(found.evidence_added_or_removed[0]?.after).toMatchObject({ evidence: [{ note: 'the timetable' }] });
    expect(found.evidence_added_or_removed[0]).not.toHaveProperty('kind');
    expect(found).not.toHaveProperty('kind_notes');
  });

  test('L137 backwards it tells what is not there yet', async () => {
    const before = history.head(side);
    const { changeset_id: after } = await history.commit(side, [
      attachEvidence('train', { note: 'n' }),
      duplicate('car', 'train'),
      deprecate('tea'),
    ]);
    const found = diff(after, before);
    expect(told(found)).toEqual({
      memories_added: ['car'],
      decisions_changed: ['tea'],
      evidence_added_or_removed: ['train'],
    });
    expect(found.evidence_added_or_removed[0]).toMatchObject({ before: { evidence: [{ note: 'n' }] } });
    expect(found.evidence_added_or_removed[0]?.after).not.toHaveProperty('evidence');
  });

  test('L137 a memory that was corrected and attached to is one change in both lists', async () => {
    const before = history.head(side);
    await history.commit(side, [
      correct('tea', { content: 'tea is black' }),
      attachEvidence('tea', { note: 'n' }),
      correct('car', { content: 'we take the bus' }, 'bus'),
      attachVerification('bus', { status: 'passed' }),
      supersede('train', { content: 'we walk', kind: 'decision' }, 'walk'),
      deprecate('walk'),
      addAs('new', 'new here'),
      attachEvidence('new', { note: 'n' }),
    ]);
    const found = diff(before, history.head(side));
    expect(told(found)).toEqual({
      memories_added: ['new'],
      corrections_proposed: ['tea', 'bus'],
      records_superseded: ['walk'],
      decisions_changed: ['walk'],
      evidence_added_or_removed: ['tea', 'bus', 'new'],
    });
    expect(found.kind_notes).toEqual([
      { left: 'tea', right: 'tea', kind: 'temporal_update', reason: 'correct_memory establishes lineage' },
      { left: 'car', right: 'bus', kind: 'temporal_update', reason: 'correct_memory establishes lineage' },
      { left: 'train', right: 'walk', kind: 'temporal_update', reason: 'supersede_memory establishes lineage' },
    ]);
  });

  test('L114 L137 both sides attached to a memory apart from each other: they contradict, as evidence; doubts on both sides mean the same', async () => {
    await history.commit(work, [attachEvidence('tea', { note: 'from work' }), deprecate('car', 'one')]);
    await history.commit(side, [attachEvidence('tea', { note: 'from the side' }), deprecate('car', 'two')]);
    const found = diff(history.head(work), history.head(side));
    expect(told(found)).toEqual({ evidence_added_or_removed: ['tea'] });
    expect(found.kind_notes?.map((note) => note.kind)).toEqual(['direct_contradiction']);
  });
});

describe('relationships', () => {
  test('L138 an added relationship is listed with the memory that it starts at, which it does not change', async () => {
    const before = history.head(side);
    const { changeset_id } = await history.commit(side, [relate('tea', 'served on', 'train')]);
    const found = diff(before, history.head(side));
    expect(told(found)).toEqual({ relationships_added: ['tea'] });
    expect(found.relationships_added[0]).toMatchObject({
      op_type: 'add_relationship',
      changeset_id,
      op_ordinal: 0,
      target_event_id: 'tea',
      resulting_event_id: 'train',
      summary: 'add_relationship',
      payload: { kind: 'served on' },
      before: { content: 'tea is green' },
      after: { content: 'tea is green' },
    });
    expect(found.relationships_added[0]).not.toHaveProperty('kind');
  });

  test('L138 what both have is not listed, nor what the base alone has', async () => {
    await history.commit(work, [relate('tea', 'at work', 'train')]);
    await history.commit(side, [relate('tea', 'on the side', 'car', { summary: 'why' })]);
    const kinds = (found: SemanticDiff): readonly unknown[] =>
      found.relationships_added.map((item) => item.payload?.kind);
    expect(kinds(diff(history.head(work), history.head(side)))).toEqual(['on the side']);
    expect(kinds(diff(history.head(side), history.head(work), { side: 'target' }))).toEqual(['at work']);
    await history.mergeInto(side, work);
    expect(kinds(diff(history.head(work), history.head(side)))).toEqual(['on the side']);
    expect(diff(history.head(work), history.head(side)).relationships_added[0]?.summary).toBe('why');
  });

  test('L138 what a merge would bring shows that memory as the merge leaves it', async () => {
    await history.commit(side, [relate('tea', 'served on', 'train')]);
    await history.commit(work, [correct('tea', { content: 'tea is black' }), attachEvidence('tea', { note: 'n' })]);
    const left = (of: 'both' | 'target'): unknown =>
      diff(history.head(work), history.head(side), { side: of }).relationships_added[0]?.after;
    expect(left('target')).toMatchObject({ content: 'tea is black', evidence: [{ note: 'n' }] });
    expect(left('both')).toMatchObject({ content: 'tea is green' });
    await history.commit(side, [supersede('train')]);
    await history.commit(side, [relate('car', 'like', 'tea'), correct('car', { scope: 'road' })]);
    const car = diff(history.head(work), history.head(side), { side: 'target' }).relationships_added[1];
    expect(car).toMatchObject({ memory_id: 'car', after: { scope: 'road' } });
  });

  test('L106 L138 pages put together are the whole, changes and relationships in the order of the ops', async () => {
    const before = history.head(side);
    for (let step = 0; step < 12; step += 1)
      await history.commit(side, [
        relate('tea', `k${step}`, 'car'),
        addAs(`m${step}`, 'new'),
        relate(`m${step}`, 'k', 'car'),
      ]);
    const place = (item: DiffItem): string => `${item.changeset_id} ${item.op_ordinal}`;
    const whole = diff(before, history.head(side));
    expect(whole.relationships_added).toHaveLength(24);
    for (const limit of [1, 5, 35, 36]) {
      const pages: SemanticDiff[] = [];
      let cursor: string | undefined;
      do {
        const page = diff(before, history.head(side), { limit, cursor });
        pages.push(page);
        expect(page.memories_added.length + page.relationships_added.length).toBeLessThanOrEqual(limit);
        cursor = page.next_cursor;
      } while (cursor !== undefined);
      expect(pages.flatMap((page) => page.relationships_added)).toEqual(whole.relationships_added);
      expect(pages.flatMap((page) => page.memories_added)).toEqual(whole.memories_added);
      const order = pages.flatMap((page) =>
        [...page.memories_added, ...page.relationships_added].map(place).toSorted(),
      );
      expect(order).toEqual(order.toSorted());
    }
  });
});
