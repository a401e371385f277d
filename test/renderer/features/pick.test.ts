import { expect, test } from 'vitest';
import { lineageStepSchema } from '../../../src-preload/contract/memory.ts';
import { opsBeyond, tickAlong } from '../../../src-renderer/features/inbox/pick.ts';
import { groupChanges } from '../../../src-renderer/ui/changes.ts';
import { diff, ids, memory, noon } from '../fixtures.ts';

const added = (memoryId: string, ordinal: number) => ({
  ...{ memory_id: memoryId, op_ordinal: ordinal, after: memory(memoryId, memoryId) },
});
const changes = groupChanges([
  diff({
    memories_added: [added('a', 0), added('b', 1), added('c', 2)],
    relationships_added: [
      {
        ...{
          memory_id: 'a',
          op_ordinal: 3,
          op_type: 'add_relationship',
          target_event_id: 'a',
          resulting_event_id: 'b',
        },
        ...{ before: null, after: memory('a', 'a') },
      },
    ],
  }),
]).flatMap((group) => group.changes);
const keyOf = (ordinal: number): string => changes.find(({ item }) => item.op_ordinal === ordinal)?.key ?? '';

test('what a ticked change is about comes along when the proposal adds it', () => {
  expect(tickAlong(changes, new Set([keyOf(3)]))).toEqual(new Set([keyOf(0), keyOf(1)]));
  expect(tickAlong(changes, new Set([keyOf(3), keyOf(0)]))).toEqual(new Set([keyOf(1)]));
  expect(tickAlong(changes, new Set([keyOf(2)]))).toEqual(new Set());
});

test('a pick of a memory takes every op of its life that the target does not have, once', () => {
  const step = (changesetId: string, ordinal: number) =>
    lineageStepSchema.parse({
      ...{ changeset_id: changesetId, ordinal, op_type: 'correct_memory', memory_id: 'a', author_principal: ids.agent },
      ...{ message: 'm', created_at: noon, before: null, after: null },
    });
  const atHead = [step(ids.base, 0), step(ids.head, 0), step(ids.head, 0), step(ids.head, 4)];
  expect(opsBeyond(atHead, [step(ids.base, 0)])).toEqual([
    { changeset_id: ids.head, ordinal: 0 },
    { changeset_id: ids.head, ordinal: 4 },
  ]);
});
