import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ConflictSides } from '../../src-main/lethe/conflict-api.ts';
import { add, changesetId, reviewedMerge } from '../support/history-builder.ts';
import { advanceInput, authorize, mergeEnvelope, testMerger, testProposal } from '../support/merge-envelope.ts';
import { type ConflictStage, decision, first, idOf, openConflictStage, reopenStage, theirs } from './conflict-stage.ts';

let stage: ConflictStage;
beforeEach(async () => {
  stage = await openConflictStage();
});
afterEach(() => stage.temp.remove());

/** Rows that some work reads. */
async function rows(work: () => unknown): Promise<number> {
  const { counters } = stage.temp.db;
  const before = counters.rowsRead;
  await work();
  return counters.rowsRead - before;
}

describe('what was found between two changesets', () => {
  test('L330 is not looked for again, and is what another process finds', async () => {
    const sides = stage.sides();
    expect(await rows(() => stage.detect(sides))).toBeGreaterThan(20);
    expect(await rows(() => stage.detect(sides))).toBe(0);
    const remembered = stage.detect(sides);
    stage = reopenStage(stage);
    expect(stage.detect(sides)).toEqual(remembered);
  });

  test('L330 is looked for again under another base, whose ids are others, and of other heads', async () => {
    const [found] = stage.detect();
    const base = changesetId(stage.sides().leftChangesetId);
    const [other] = stage.detect(stage.sides({ baseChangesetId: base }));
    expect(other?.conflict_key).toBe(found?.conflict_key);
    expect(other?.conflict_id).not.toBe(found?.conflict_id);
    expect(stage.detect()).toEqual([found]);
    await stage.history.commit(theirs, [add('nor a wire', decision('net'))]);
    expect(stage.detect()).toHaveLength(2);
  });

  test('L330 of the newest sixteen pairs is kept', async () => {
    const kept = stage.sides();
    stage.detect(kept);
    const others: ConflictSides[] = [];
    for (let count = 0; count < 16; count += 1) {
      await stage.history.commit(theirs, [add(`beside ${count}`)]);
      others.push(stage.sides());
    }
    for (const sides of others.slice(1)) stage.detect(sides);
    expect(await rows(() => stage.detect(kept))).toBe(0);
    stage.detect(first(others));
    expect(await rows(() => stage.detect(kept))).toBeGreaterThan(20);
  });
});

test('L330 a merge that was looked at detects nothing more: neither keeping what was found nor the move itself', async () => {
  const { temp, history } = stage;
  const mine = 'refs/agents/a/mine';
  const main = 'refs/shared/main';
  const move = async (next: string, strategy: 'fast_forward' | 'merge_commit') => {
    const heads = { project: history.project, expected: history.head(main), next: changesetId(next) };
    return temp.lethe.advance(advanceInput(heads, authorize(mergeEnvelope(temp, heads, { strategy }))));
  };
  await move(stage.sides().leftChangesetId, 'fast_forward');
  await history.branch(mine, theirs);
  await history.commit(
    mine,
    Array.from({ length: 200 }, (_, step) => add(`step ${step}`)),
  );
  const sides = stage.sides({ leftChangesetId: history.head(main), rightChangesetId: history.head(mine) });
  const looked = await rows(() => stage.detect(sides));
  expect(looked).toBeGreaterThan(400);
  const conflictIds = stage.detect(sides).map(idOf);
  const keeping = await rows(() => temp.lethe.persistConflicts({ sides, proposalId: testProposal, conflictIds }));
  expect(keeping).toBeLessThan(60);
  for (const { conflict_id: id } of stage.list()) await stage.resolve(id);
  const merge = await history.detached(
    [history.head(main), history.head(mine)],
    [reviewedMerge(testProposal, history.head(mine))],
    { authorPrincipal: testMerger, idempotencyKey: 'merge' },
  );
  const moving = await rows(() => move(merge.changeset_id, 'merge_commit'));
  expect(moving).toBeLessThan(looked / 2);
});
