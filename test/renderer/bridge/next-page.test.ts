import { expect, test } from 'vitest';
import { findNextCursor } from '../../../src-renderer/bridge/next-page.ts';
import { diff, proposal } from '../fixtures.ts';

test('a list says by itself that there is more', () => {
  expect(findNextCursor({ memories: [], next_cursor: 'c1' })).toBe('c1');
  expect(findNextCursor({ memories: [] })).toBeUndefined();
});

test('a proposal whose changes fill more than a page has more to show', () => {
  expect(findNextCursor(proposal({ diff: diff({}, { next_cursor: 'c2' }) }))).toBe('c2');
  expect(findNextCursor(proposal({ diff: diff({}) }))).toBeUndefined();
});

test('what is no page has no next one', () => {
  for (const nothing of [undefined, null, 'text', 7, { next_cursor: 7 }, { diff: null }])
    expect(findNextCursor(nothing)).toBeUndefined();
});
