import { expect, test } from 'vitest';
import { proposalsOfTab, stateWords, statusOfTab, stepTo } from '../../../src-renderer/features/inbox/queue.ts';
import { proposal } from '../fixtures.ts';

const at = (minute: number, status: string) =>
  proposal({ status, created_at: `2026-01-10T11:${String(minute).padStart(2, '0')}:00Z` });

test('what waits comes first, then the newest', () => {
  const all = proposalsOfTab([at(1, 'pending'), at(9, 'completed'), at(3, 'pending'), at(5, 'rejected')], 'all');
  expect(all.map((row) => `${row.status} ${row.created_at.slice(14, 16)}`)).toEqual([
    'pending 03',
    'pending 01',
    'completed 09',
    'rejected 05',
  ]);
});

test('each tab lists its own statuses only', () => {
  const rows = [at(1, 'pending'), at(2, 'merging'), at(3, 'canceled'), at(4, 'expired'), at(5, 'completed')];
  expect(proposalsOfTab(rows, 'waiting').map((row) => row.status)).toEqual(['merging', 'pending']);
  expect(proposalsOfTab(rows, 'closed').map((row) => row.status)).toEqual(['expired', 'canceled']);
  expect(proposalsOfTab(rows, 'rejected')).toEqual([]);
});

test('the engine is asked for one status where a tab has one', () => {
  expect(statusOfTab('completed')).toBe('completed');
  expect(statusOfTab('waiting')).toBeUndefined();
});

test('stepping starts at the first and stays inside the list', () => {
  const ids = ['a', 'b', 'c'];
  expect(stepTo(ids, undefined, 1)).toBe('a');
  expect(stepTo(ids, 'a', 1)).toBe('b');
  expect(stepTo(ids, 'c', 1)).toBe('c');
  expect(stepTo(ids, 'a', -1)).toBe('a');
  expect(stepTo(ids, 'gone', 1)).toBe('a');
  expect(stepTo([], undefined, 1)).toBeUndefined();
});

test('a pending proposal is named by the state of its review', () => {
  expect(stateWords(proposal()).text).toBe('to review');
  expect(stateWords(proposal({ review_state: 'stale' })).text).toBe('stale');
  expect(stateWords(proposal({ status: 'completed' })).text).toBe('merged');
});
