import { expect, test } from 'vitest';
import { createMemo } from '../../src-main/charon/memo.ts';

test('C73 what was asked of the store is asked once, as long as there is room, and a refusal is not kept', async () => {
  const asked: string[] = [];
  const memo = createMemo<string>(3, 10, (value) => value.length);
  const get = (key: string, value = key) =>
    memo.get(key, async () => {
      asked.push(key);
      if (value === '') throw new Error('refused');
      return value;
    });
  expect([await get('a'), await get('a'), await get('b'), await get('a')]).toEqual(['a', 'a', 'b', 'a']);
  expect(asked.splice(0)).toEqual(['a', 'b']);
  await get('c');
  await get('d');
  await get('a');
  expect(asked.splice(0)).toEqual(['c', 'd', 'a']);
  await get('heavy', 'x'.repeat(11));
  await get('heavy', 'x'.repeat(11));
  await get('nine', 'x'.repeat(9));
  await get('a');
  await get('nine', 'x'.repeat(9));
  expect(asked.splice(0)).toEqual(['heavy', 'heavy', 'nine']);
  await expect(get('no', '')).rejects.toThrow('refused');
  await get('no', 'yes');
  expect(asked).toEqual(['no', 'no']);
});
