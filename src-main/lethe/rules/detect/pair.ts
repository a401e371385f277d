import type { JsonObject } from '../../../../src-preload/contract/json.ts';
import type { AcceptedMemory } from '../../../../src-preload/contract/memory.ts';
import { encodeCanonical } from '../../../canonical/json.ts';
import { meaningOf } from '../meaning.ts';
import type { Finding } from './finding.ts';

/** A memory at the left of a comparison and another one at the right of it, with the changesets whose states they are. */
export interface Pair {
  readonly left: AcceptedMemory;
  readonly right: AcceptedMemory;
  readonly leftChangesetId: string;
  readonly rightChangesetId: string;
}

/** Which memories a finding about a pair names. */
export function eventsOf({ left, right }: Pair): JsonObject {
  return { left_event: left.memory_id, right_event: right.memory_id };
}

/**
 * The memories of a pair and what each position says of its own: the other one's is left out, so that the key stays when a
 * memory becomes common to both sides (`lethe.md` §0.3).
 */
export function statesOf({ left, right }: Pair): Pick<Finding, 'memoryIds' | 'left' | 'right'> {
  return {
    memoryIds: [left.memory_id, right.memory_id],
    left: new Map([[left.memory_id, meaningOf(left)]]),
    right: new Map([[right.memory_id, meaningOf(right)]]),
  };
}

/** Fields of a memory that are no statement of its own: what was attached, what is to become of it, who made it so. */
const besides: ReadonlySet<string> = new Set([
  'status',
  'introduced_changeset_id',
  'last_changeset_id',
  'evidence',
  'evidence_total',
  'verification',
  'verification_total',
]);

/** Whether two states of one memory say the same, whatever was attached to them and whether or not they are to be given up. */
export function statesSame(one: AcceptedMemory, other: AcceptedMemory): boolean {
  return one.content === other.content && statementOf(one) === statementOf(other);
}

function statementOf(memory: AcceptedMemory): string {
  const said = Object.entries(meaningOf(memory)).filter(([field]) => !besides.has(field));
  return encodeCanonical(Object.fromEntries(said));
}
