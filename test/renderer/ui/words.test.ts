import { expect, test } from 'vitest';
import { count, listWords, relativeTime, shortId, shortMemoryId, shortRef } from '../../../src-renderer/ui/words.ts';

test('amounts are said with the right number', () => {
  expect(count(0, 'memory', 'memories')).toBe('no memories');
  expect(count(1, 'memory', 'memories')).toBe('1 memory');
  expect(count(1_234, 'change')).toBe('1,234 changes');
});

test('lists are joined as one says them', () => {
  expect(listWords([])).toBe('');
  expect(listWords(['a'])).toBe('a');
  expect(listWords(['a', 'b', 'c'])).toBe('a, b and c');
});

test('a short id keeps the part that differs between ids made close together', () => {
  expect(shortId('01981a2b-0000-7000-8000-0123456789ab')).toBe('456789ab');
  expect(shortId('principal_0123456789abcdef')).toBe('01234567');
  expect(shortId('mem:db-choice')).toBe('mem:db-choice');
  expect(shortId('a'.repeat(32) + 'b'.repeat(32))).toBe('aaaaaa…bbbbbb');
});

test('times are said from where one stands, past and future', () => {
  const now = Date.parse('2026-01-10T12:00:00Z');
  expect(relativeTime(now - 20_000, now)).toBe('just now');
  expect(relativeTime(now - 60_000, now)).toBe('1 minute ago');
  expect(relativeTime(now - 7_200_000, now)).toBe('2 hours ago');
  expect(relativeTime(now + 30_000, now)).toBe('in under a minute');
  expect(relativeTime(now + 2_000, now)).toBe('just now');
  expect(relativeTime(now + 6 * 86_400_000, now)).toBe('in 6 days');
  expect(relativeTime(now + 7 * 86_400_000 - 1_000, now)).toBe('in 7 days');
  expect(relativeTime(now - 7 * 86_400_000 + 1_000, now)).toBe('6 days ago');
});

test('a ref is shown without what every ref begins with', () => {
  expect(shortRef('refs/shared/main')).toBe('shared/main');
});

test('a memory id that somebody gave stays readable; one that was made keeps what tells it apart', () => {
  expect(shortMemoryId('auth-tokens-and-their-rotation')).toBe('auth-tokens-and-their-rotation');
  expect(shortMemoryId('mem:01981a2b-0000-7000-8000-0123456789ab:12')).toBe('mem:456789ab:12');
  expect(shortMemoryId('x'.repeat(50))).toBe(`${'x'.repeat(20)}…${'x'.repeat(18)}`);
});
