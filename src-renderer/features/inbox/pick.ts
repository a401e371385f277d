import type { LineageStep } from '../../../src-preload/contract/memory.ts';
import { type Change, findOther } from '../../ui/changes.ts';

/** An op that a cherry-pick takes. */
export interface PickedOp {
  readonly changeset_id: string;
  readonly ordinal: number;
}

/**
 * The changes that have to come along with the ticked ones: what they are about and the proposal itself adds. Keys of
 * changes, the ticked ones not among them.
 */
export function tickAlong(changes: readonly Change[], ticked: ReadonlySet<string>): ReadonlySet<string> {
  const addedBy = new Map(
    changes
      .filter(({ item }) => item.before === null && item.after !== null && item.op_type !== 'add_relationship')
      .map((change) => [String(change.item.memory_id), change]),
  );
  const along = new Set<string>();
  const waiting = changes.filter(({ key }) => ticked.has(key));
  for (let change = waiting.pop(); change !== undefined; change = waiting.pop()) {
    for (const memoryId of needsOf(change)) {
      const adds = addedBy.get(memoryId);
      if (adds === undefined || ticked.has(adds.key) || along.has(adds.key)) continue;
      along.add(adds.key);
      waiting.push(adds);
    }
  }
  return along;
}

/** The memories that must be there for a change to be about them. */
function needsOf({ item }: Change): readonly string[] {
  const other = findOther(item)?.memoryId;
  return [item.memory_id, item.target_event_id, other].filter((id): id is string => id !== undefined);
}

/** The ops in the life of a memory that its life at the target does not have, oldest first: what a pick of it takes. */
export function opsBeyond(atHead: readonly LineageStep[], atTarget: readonly LineageStep[]): readonly PickedOp[] {
  const there = new Set(atTarget.map(nameOf));
  const taken = new Map<string, PickedOp>();
  for (const step of atHead) {
    if (!there.has(nameOf(step))) taken.set(nameOf(step), { changeset_id: step.changeset_id, ordinal: step.ordinal });
  }
  return [...taken.values()];
}

function nameOf({ changeset_id: changeset, ordinal }: LineageStep): string {
  return `${changeset} ${ordinal}`;
}
