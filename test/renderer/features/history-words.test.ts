import { expect, test } from 'vitest';
import { refLabel } from '../../../src-renderer/features/history/ref-label.ts';
import { pairOf, toggleSelected } from '../../../src-renderer/features/history/selection.ts';

const nameOf = (id: string): string => (id === 'principal_1' ? 'claude' : id);

test('a branch is named by its agent', () => {
  expect(refLabel('refs/agents/principal_1/auth/v2', nameOf)).toBe('claude/auth/v2');
  expect(refLabel('refs/sessions/principal_1/s1', nameOf)).toBe('claude/session/s1');
  expect(refLabel('refs/agents/unknown/x', nameOf)).toBe('unknown/x');
  expect(refLabel('refs/shared/main', nameOf)).toBe('shared/main');
});

test('two at most are selected; the one chosen first makes room', () => {
  expect(toggleSelected(['a', 'b'], 'c')).toEqual(['b', 'c']);
  expect(toggleSelected(['a', 'b'], 'a')).toEqual(['b']);
});

test('of two selected the older is the base, in whichever order they were chosen', () => {
  const newestFirst = ['new', 'mid', 'old'];
  expect(pairOf(['new', 'old'], newestFirst)).toEqual({ base: 'old', target: 'new' });
  expect(pairOf(['old', 'new'], newestFirst)).toEqual({ base: 'old', target: 'new' });
  expect(pairOf(['old'], newestFirst)).toBeUndefined();
});
