import { expect, test } from 'vitest';
import { relationshipSchema } from '../../../src-preload/contract/memory.ts';
import { listRelated } from '../../../src-renderer/features/memory/related.ts';
import { ids } from '../fixtures.ts';

const relate = (from: string, kind: string | undefined, to: string) =>
  relationshipSchema.parse({
    from_memory_id: from,
    to_memory_id: to,
    ...(kind === undefined ? {} : { kind }),
    changeset_id: ids.head,
  });

test('relationships are lines in both directions, equal ones once with how often', () => {
  const lines = listRelated('a', [
    relate('a', 'supports', 'b'),
    relate('b', 'supports', 'a'),
    relate('a', 'supports', 'b'),
    relate('c', undefined, 'a'),
  ]);
  expect(lines.map(({ outgoing, kind, other, times }) => [outgoing, kind, other, times])).toEqual([
    [true, 'supports', 'b', 2],
    [false, 'supports', 'b', 1],
    [false, 'related to', 'c', 1],
  ]);
  expect(new Set(lines.map(({ key }) => key)).size).toBe(3);
});
