import type { JsonObject } from '../../../src-preload/contract/json.ts';
import type { AcceptedMemory } from '../../../src-preload/contract/memory.ts';
import { encodeCanonical } from '../../canonical/json.ts';

/** What a state says, apart from the changesets that made it so: equal meanings are no conflict (`lethe.md` §0.3). */
export function meaningOf(memory: AcceptedMemory): JsonObject {
  const meaning: Record<string, JsonObject[string]> = {};
  for (const [name, value] of Object.entries(memory)) {
    if (value !== undefined && name !== 'introduced_changeset_id' && name !== 'last_changeset_id')
      meaning[name] = value;
  }
  return meaning;
}

/** Whether two sides say the same of a memory; absent on both is the same. */
export function meansSame(left: AcceptedMemory | null, right: AcceptedMemory | null): boolean {
  if (left === null || right === null) return left === right;
  return encodeCanonical(meaningOf(left)) === encodeCanonical(meaningOf(right));
}
