import { expect, test } from 'vitest';
import { listLeftOut } from '../../../src-renderer/features/memory/list-left-out.ts';
import { changed, countHidden, dayEnd, dayOf, dayStart } from '../../../src-renderer/features/memory/memory-filter.ts';

test('a part of a filter that is emptied is left out', () => {
  const filter = changed({ kinds: ['fact'] }, { tags: ['a'], scopes: [] });
  expect(filter).toEqual({ kinds: ['fact'], tags: ['a'] });
  expect(changed(filter, { kinds: [], since: undefined })).toEqual({ tags: ['a'] });
});

test('the button counts only what stands behind it', () => {
  expect(countHidden({ kinds: ['fact'], tags: ['a'] })).toBe(0);
  expect(countHidden({ scopes: ['net'], since: '2026-01-10T00:00:00Z', authors: [] })).toBe(2);
});

test('a day is the whole day where the owner is', () => {
  const [start, end] = [dayStart('2026-03-29') ?? '', dayEnd('2026-03-29') ?? ''];
  expect(dayOf(start)).toBe('2026-03-29');
  expect(dayOf(end)).toBe('2026-03-29');
  expect(Date.parse(end)).toBeGreaterThan(Date.parse(start));
  expect([dayStart(''), dayEnd('soon'), dayOf(undefined)]).toEqual([undefined, undefined, '']);
});

test('what is accepted and only beyond a page is not left out', () => {
  const pages = [
    { exclusion_reasons: { a: 'superseded at c', b: 'outside selected context limit' } },
    { exclusion_reasons: { a: 'superseded at d', w: 'withheld by unresolved conflict e' } },
    {},
  ];
  expect(listLeftOut(pages)).toEqual([
    { memoryId: 'a', reason: 'superseded at c' },
    { memoryId: 'w', reason: 'withheld by unresolved conflict e' },
  ]);
});
