import { beforeAll, describe, expect, test } from 'vitest';
import { type Costs, costsAtBothSizes } from './costs-at-sizes.ts';
import { chainOfBranches, manyMemories, oneMemory } from './long-histories.ts';

const histories = [
  { name: 'many memories', history: manyMemories },
  { name: 'one memory corrected over and over', history: oneMemory },
  { name: 'a chain of branches, each made from the last', history: chainOfBranches },
] as const;

describe.each(histories)('after 1 000 and after 20 000 changesets, $name', ({ history }) => {
  let small: Costs;
  let large: Costs;
  beforeAll(() => {
    ({ small, large } = costsAtBothSizes(history));
  }, 300_000);

  test('L84 L101 L108 L116 context, memories, validation, commit, diff, preview and reachability read the same rows', () => {
    expect(large.reads).toEqual(small.reads);
    expect(small.reads.context).toBeLessThan(200);
    expect(small.reads.validation).toBeLessThan(10);
  });

  test('L178 detection and a commit read the same rows', () => {
    expect(large.detection).toEqual(small.detection);
    expect(small.detection.claiming).toBeLessThan(100);
  });

  test('L154 previewing, validating, deciding, restoring and reading cost the same', () => {
    // A jump up a line reads a row more at some depths than at others.
    for (const [name, rows] of Object.entries(large.merges))
      expect(Math.abs(rows - (small.merges[name] ?? 0)), `${name}: ${rows}, ${small.merges[name]}`).toBeLessThanOrEqual(
        1,
      );
    expect(Math.max(...Object.values(small.merges))).toBeLessThan(300);
  });
});
