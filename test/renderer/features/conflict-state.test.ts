import { expect, test } from 'vitest';
import { type Resolution, resolutionSchema } from '../../../src-preload/contract/conflict.ts';
import { cardKeys, isSettled, mayBeSettled } from '../../../src-renderer/features/inbox/conflict-state.ts';
import { conflict, noon } from '../fixtures.ts';

const kept = (rest: Partial<Resolution> = {}): Resolution =>
  resolutionSchema.parse({
    ...{ conflict_key: 'd'.repeat(64), conflict_id: 'c'.repeat(64), choice: 'ours', drafted_at: noon, ops: [] },
    ...rest,
  });
const oneMemory = { memory_id: 'm', memory_ids: ['m'], base: null, left: null, right: null };

test('a choice that cannot be carried out settles nothing, and another one can be made', () => {
  expect(isSettled(conflict(), kept())).toBe(true);
  expect(isSettled(conflict(), kept({ problem: 'one side retired it' }))).toBe(false);
  expect(isSettled(conflict(), undefined)).toBe(false);
});

test('what was settled before is settled, unless the merge still has to say what becomes of a memory', () => {
  const before = conflict({ status: 'resolved', details: { memory_ids: ['a', 'b'] } });
  expect([isSettled(before, undefined), mayBeSettled(before, undefined)]).toEqual([true, false]);
  const memory = conflict({ status: 'resolved', details: oneMemory });
  expect([isSettled(memory, undefined), mayBeSettled(memory, undefined)]).toEqual([false, true]);
  expect(mayBeSettled(memory, kept())).toBe(false);
  expect(mayBeSettled(memory, kept({ problem: 'gone' }))).toBe(true);
  expect(mayBeSettled(conflict({ details: oneMemory }), kept())).toBe(true);
});

test('a card stays the same one when the target moves; two conflicts about the same are two cards', () => {
  const at = (id: string, ids: readonly string[], type = 'concurrent_edit') =>
    conflict({ conflict_id: id.repeat(64), conflict_type: type, details: { memory_ids: ids } });
  const before = cardKeys([at('1', ['a']), at('2', ['b']), at('3', ['a', 'b'], 'incompatible_fact')]);
  const after = cardKeys([at('4', ['b']), at('5', ['b', 'a'], 'incompatible_fact'), at('6', ['a'])]);
  expect(new Set(after)).toEqual(new Set(before));
  expect(after[2]).toBe(before[0]);
  const same = cardKeys([at('1', ['a']), at('2', ['a'])]);
  expect(new Set(same).size).toBe(2);
});
