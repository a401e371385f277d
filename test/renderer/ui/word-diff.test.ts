import fc from 'fast-check';
import { expect, test } from 'vitest';
import { wordDiff } from '../../../src-renderer/ui/word-diff.ts';

const side = (before: string, after: string, kinds: readonly string[]): string =>
  wordDiff(before, after)
    .filter((part) => kinds.includes(part.kind))
    .map((part) => part.text)
    .join('');

test('only the words that differ are marked', () => {
  expect(wordDiff('tokens live 15 minutes', 'tokens live 10 minutes')).toEqual([
    { kind: 'same', text: 'tokens live ' },
    { kind: 'removed', text: '15' },
    { kind: 'added', text: '10' },
    { kind: 'same', text: ' minutes' },
  ]);
});

test('neighbouring changed words are one change, not one a word', () => {
  expect(wordDiff('after one hour always', 'after fifteen minutes always')).toEqual([
    { kind: 'same', text: 'after ' },
    { kind: 'removed', text: 'one hour' },
    { kind: 'added', text: 'fifteen minutes' },
    { kind: 'same', text: ' always' },
  ]);
});

test('words are found without spaces between them', () => {
  const removed = wordDiff('東京は晴れです', '大阪は晴れです').filter((part) => part.kind === 'removed');
  expect(removed).toEqual([{ kind: 'removed', text: '東京' }]);
});

test('equal texts have no change, empty ones no part', () => {
  expect(wordDiff('same', 'same')).toEqual([{ kind: 'same', text: 'same' }]);
  expect(wordDiff('', '')).toEqual([]);
  expect(wordDiff('', 'new')).toEqual([{ kind: 'added', text: 'new' }]);
});

test('very long texts count as replaced whole', () => {
  expect(wordDiff('a '.repeat(20_000), 'b '.repeat(20_000)).map((part) => part.kind)).toEqual(['removed', 'added']);
});

test('both sides can be read back from the parts', () => {
  const text = fc.array(fc.constantFrom('a', 'b', ' ', '\n', 'word', ', ', '猫', '😀'), { maxLength: 30 });
  fc.assert(
    fc.property(text, text, (left, right) => {
      const [before, after] = [left.join(''), right.join('')];
      expect(side(before, after, ['same', 'removed'])).toBe(before);
      expect(side(before, after, ['same', 'added'])).toBe(after);
    }),
  );
});
