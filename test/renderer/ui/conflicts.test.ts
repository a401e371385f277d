import { expect, test } from 'vitest';
import { conflictTypes } from '../../../src-preload/contract/conflict.ts';
import {
  conflictLine,
  conflictWords,
  differingFields,
  memoriesOf,
  sidesOf,
} from '../../../src-renderer/ui/conflicts.ts';
import { conflict, memory } from '../fixtures.ts';

test('conflicts are counted type by type, in the order of the contract', () => {
  expect(conflictLine({ delete_modify: 1, contradictory_decision: 2 })).toBe(
    '3 conflicts: 2 contradictions, 1 delete-versus-modify',
  );
  expect(conflictLine({ concurrent_edit: 1 })).toBe('1 conflict: 1 concurrent edit');
  expect(conflictLine({})).toBeUndefined();
  expect(Object.keys(conflictWords).toSorted()).toEqual([...conflictTypes].toSorted());
});

test('a memory that both sides changed has a base, ours and theirs', () => {
  const [base, left, right] = [memory('m', 'one'), memory('m', 'two', { tags: ['a'] }), memory('m', 'three')];
  const sides = sidesOf(conflict({ details: { memory_id: 'm', base, left, right, memory_ids: ['m'] } }));
  expect(sides.isOneMemory).toBe(true);
  expect([sides.base?.content, sides.ours?.content, sides.theirs?.content]).toEqual(['one', 'two', 'three']);
  expect(differingFields(sides.ours?.memory ?? null, sides.theirs?.memory ?? null)).toBe('content and tags');
});

test('a side without the memory says nothing', () => {
  const right = memory('m', 'three');
  const sides = sidesOf(conflict({ details: { memory_id: 'm', base: null, left: null, right } }));
  expect(sides.ours).toEqual({ memoryId: 'm', content: undefined, memory: null });
  expect(differingFields(null, sides.theirs?.memory ?? null)).toBe('');
});

test('two memories that disagree are laid out as two, without a base', () => {
  const details = { scope: 'net', left_event: 'a', right_event: 'b', left_content: 'tabs', right_content: 'spaces' };
  expect(sidesOf(conflict({ conflict_type: 'contradictory_decision', details }))).toEqual({
    isOneMemory: false,
    base: undefined,
    ours: { memoryId: 'a', content: 'tabs', memory: null },
    theirs: { memoryId: 'b', content: 'spaces', memory: null },
  });
});

test('the memories that a conflict is about are read from its details, whatever else is in there', () => {
  expect(memoriesOf(conflict({ details: { memory_ids: ['a', 7, 'b'] } }))).toEqual(['a', 'b']);
  expect(memoriesOf(conflict())).toEqual([]);
});
