import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { previewMerge } from '../../src-main/lethe/preview.ts';
import { type MergePreview, mergePreviewSchema } from '../../src-preload/contract/proposal.ts';
import {
  add,
  addAs,
  correct,
  type HistoryBuilder,
  historyBuilder,
  openTempLethe,
  supersede,
  type TempLethe,
} from '../support/history-builder.ts';

const target = 'refs/topics/target';
const side = 'refs/topics/side';
let temp: TempLethe;
let history: HistoryBuilder;

beforeEach(async () => {
  temp = openTempLethe();
  history = historyBuilder(temp);
  await history.init();
  await history.branch(target);
  await history.commit(target, [addAs('one', 'the first'), addAs('two', 'the second')]);
  await history.branch(side, target);
});
afterEach(() => temp.remove());

function preview(): MergePreview {
  const found = previewMerge(temp.db, {
    projectId: history.project,
    targetHead: history.head(target),
    head: history.head(side),
  });
  expect(mergePreviewSchema.parse(found)).toEqual(found);
  return found;
}

describe('what a merge would be', () => {
  test('L117 nothing to merge, a fast-forward or a merge commit, with what each side has', async () => {
    expect(preview()).toMatchObject({ strategy: 'nothing_to_merge', target_ahead: 0, proposal_ahead: 0 });
    await history.commit(side, [add('a')]);
    await history.commit(side, [add('b')]);
    expect(preview()).toMatchObject({ strategy: 'fast_forward', target_ahead: 0, proposal_ahead: 2 });
    await history.commit(target, [add('c')]);
    expect(preview()).toMatchObject({
      strategy: 'merge_commit',
      target_ahead: 1,
      proposal_ahead: 2,
      contested_total: 0,
    });
    await history.mergeInto(target, side);
    expect(preview()).toMatchObject({ strategy: 'nothing_to_merge', target_ahead: 2, proposal_ahead: 0 });
  });

  test('L117 L87 memories that both sides changed are named, whatever the change, and those of one side are not', async () => {
    await history.commit(side, [
      correct('one', { scope: 'desk' }),
      supersede('two'),
      addAs('both', 'one way'),
      addAs('mine', 'only here'),
    ]);
    await history.commit(target, [
      supersede('one'),
      correct('two', { scope: 'engine' }),
      addAs('both', 'another way'),
      addAs('theirs', 'only there'),
    ]);
    const found = preview();
    expect(found.contested_memory_ids).toEqual(['both', 'one', 'two']);
    expect(found.contested_total).toBe(3);
  });

  test('L117 more than a hundred contested memories are counted, and the first hundred by id named', async () => {
    const ids = Array.from({ length: 105 }, (_, n) => `m${String(n).padStart(3, '0')}`);
    await history.commit(
      side,
      ids.map((id) => addAs(id, `one way ${id}`)),
    );
    await history.commit(
      target,
      ids.toReversed().map((id) => addAs(id, `another way ${id}`)),
    );
    const found = preview();
    expect(found.contested_total).toBe(105);
    expect(found.contested_memory_ids).toEqual(ids.slice(0, 100));
  });

  test('L117 a changeset of another project is unknown', async () => {
    const other = historyBuilder(temp, 'other', 'principal_00000000000000b2');
    const { changeset_id: head } = await other.init();
    expect(() => previewMerge(temp.db, { projectId: history.project, targetHead: history.head(target), head })).toThrow(
      expect.objectContaining({ code: 'CHANGESET_NOT_FOUND' }),
    );
  });
});
