import type { JsonObject } from '../../../src-preload/contract/json.ts';
import type { AcceptedMemory } from '../../../src-preload/contract/memory.ts';
import { encodeCanonical } from '../../canonical/json.ts';

/**
 * What a state says, apart from the changesets that made it so and from whether it was picked from another line: equal
 * meanings are no conflict (`lethe.md` §0.3).
 */
export function meaningOf(memory: AcceptedMemory): JsonObject {
  const { introduced_changeset_id: _introduced, last_changeset_id: _last, ...shown } = memory;
  const { payload = {}, evidence = [], verification = [], ...fields } = shown;
  const said = unpicked(payload);
  const meaning = {
    ...fields,
    ...(Object.keys(said).length === 0 ? {} : { payload: said }),
    ...(evidence.length === 0 ? {} : { evidence: evidence.map(unpicked) }),
    ...(verification.length === 0 ? {} : { verification: verification.map(unpicked) }),
  };
  const stated: Record<string, JsonObject[string]> = {};
  for (const [name, value] of Object.entries(meaning)) if (value !== undefined) stated[name] = value;
  return stated;
}

function unpicked({ cherrypicked_from: _, ...said }: JsonObject): JsonObject {
  return said;
}

/** Whether two sides say the same of a memory; absent on both is the same. */
export function meansSame(left: AcceptedMemory | null, right: AcceptedMemory | null): boolean {
  if (left === null || right === null) return left === right;
  return encodeCanonical(meaningOf(left)) === encodeCanonical(meaningOf(right));
}
