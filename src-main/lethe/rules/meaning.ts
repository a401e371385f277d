import type { JsonObject } from '../../../src-preload/contract/json.ts';
import type { AcceptedMemory } from '../../../src-preload/contract/memory.ts';
import { encodeCanonical } from '../../canonical/json.ts';

/** What a state says, apart from the changesets that made it so: equal meanings are no conflict (`lethe.md` §0.3). */
export function meaningOf(memory: AcceptedMemory): JsonObject {
  const { introduced_changeset_id: _introduced, last_changeset_id: _last, ...meaning } = memory;
  return meaning;
}

/** Whether two sides say the same of a memory; absent on both is the same. */
export function meansSame(left: AcceptedMemory | null, right: AcceptedMemory | null): boolean {
  if (left === null || right === null) return left === right;
  return encodeCanonical(meaningOf(left)) === encodeCanonical(meaningOf(right));
}
