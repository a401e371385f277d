import type { MemoryContext, Relationship } from '../../src-preload/contract/memory.ts';
import { utf8Length } from '../canonical/text.ts';
import type { AcceptedReader } from './projection/accepted.ts';
import { listRelatedOps, readRelationship } from './projection/relationships.ts';
import type { Sight } from './projection/sight.ts';
import type { Place } from './tables/chains.ts';
import { findRelationship, listRelatedMemories } from './tables/relationships.ts';

/** Relationships that a page of context shows: of one memory, of all of them, and the bytes of all of them. */
export const relatedPerMemoryMax = 8;
export const relatedPerPageMax = 200;
export const relatedBytesMax = 16_384;

/**
 * What is related to the memories of a page (`L136`): of each the newest relationships that the head sees, together newest
 * first, within the bounds, but for those with a withheld memory (`L213`); `readMemory` has every one. Absent when there
 * are none.
 * @param memories numbers of the memories of the page
 * @param withheld numbers of the memories that are not shown
 */
export function readRelationshipsOf(
  sight: Sight,
  head: Place,
  accepted: AcceptedReader,
  memories: readonly number[],
  withheld: Pick<ReadonlyMap<number, unknown>, 'has' | 'size'> = new Set(),
): Pick<MemoryContext, 'relationships'> {
  const ops = new Set<number>();
  for (const memory of listRelatedMemories(sight.db, memories))
    for (const op of listRelatedOps(sight, head, memory, Number.MAX_SAFE_INTEGER, relatedPerMemoryMax)) ops.add(op);
  const touchesWithheld = (op: number): boolean => {
    const related = withheld.size === 0 ? undefined : findRelationship(sight.db, op);
    return related !== undefined && (withheld.has(related.from) || withheld.has(related.to));
  };
  const told = [...ops].filter((op) => !touchesWithheld(op));
  const newest = told.toSorted((one, other) => other - one).slice(0, relatedPerPageMax);
  const relationships: Relationship[] = [];
  let bytes = 0;
  for (const op of newest) {
    const relationship = readRelationship(sight, accepted, op);
    bytes += utf8Length(JSON.stringify(relationship));
    if (relationships.length > 0 && bytes > relatedBytesMax) break;
    relationships.push(relationship);
  }
  return relationships.length === 0 ? {} : { relationships };
}
