import { describe, expect, test } from 'vitest';
import { add, countsOf, formatCounts, NONE } from '../../scripts/lib/counts.mjs';

const file = (status: string, ...tests: string[]) => ({
  status,
  assertionResults: tests.map((each) => ({ status: each })),
});

describe('the counts of a run', () => {
  test('passed, failed, and whatever did not run', () => {
    const report = { testResults: [file('failed', 'passed', 'failed', 'skipped'), file('passed', 'passed', 'todo')] };
    expect(countsOf(report, 1)).toEqual({ passed: 2, failed: 1, skipped: 2 });
  });

  test('a file that could not be loaded is one failed', () => {
    expect(countsOf({ testResults: [file('failed'), file('passed', 'passed')] }, 1)).toEqual({
      passed: 1,
      failed: 1,
      skipped: 0,
    });
  });

  test('a hook that threw after tests that passed is one failed', () => {
    expect(countsOf({ testResults: [file('failed', 'passed')] }, 1).failed).toBe(1);
  });

  test('a run that failed without saying why is one failed', () => {
    expect(countsOf({ testResults: [file('passed', 'passed')] }, 1)).toEqual({ passed: 1, failed: 1, skipped: 0 });
  });

  test.each([null, {}, 'x', { testResults: 3 }])('no report (%j) is one failed, never none', (report) => {
    expect(countsOf(report, 0)).toEqual({ passed: 0, failed: 1, skipped: 0 });
  });

  test('an empty run is nothing', () => {
    expect(countsOf({ testResults: [] }, 0)).toEqual(NONE);
  });
});

test('the last line is in the form that is promised', () => {
  const counts = add({ passed: 1, failed: 2, skipped: 3 }, { passed: 10, failed: 0, skipped: 0 });
  expect(formatCounts(counts)).toBe('11 passed, 2 failed, 3 skipped');
});
