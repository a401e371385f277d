import type { Op } from '../../../src-preload/contract/changeset.ts';
import type { JsonValue } from '../../../src-preload/contract/json.ts';

/** The memory that an op makes active (`lethe.md` §5.6): under the id that it names, else under the store's own; undefined when it makes none. */
export function findMadeMemory(changesetId: string, op: Op): string | undefined {
  if (op.op_type === 'correct_memory') return op.resulting_event_id;
  if (op.op_type !== 'add_memory' && op.op_type !== 'supersede_memory') return undefined;
  if (op.op_type === 'supersede_memory' && !isNamed(op.payload?.content)) return undefined;
  const named = [op.resulting_event_id, op.payload?.memory_id, op.payload?.event_id].find(isNamed);
  return named ?? `mem:${changesetId}:${op.ordinal}`;
}

/** The memories that must be there for the op to say something of them: its target, or both of its ends. */
export function listNeededMemories(op: Op): readonly string[] {
  const { payload, target_event_id: target, resulting_event_id: resulting } = op;
  if (op.op_type === 'add_memory') return [];
  if (op.op_type === 'mark_duplicate')
    return firstsOf([target, payload?.duplicate_id], [payload?.duplicate_of, resulting]);
  if (op.op_type === 'add_relationship')
    return firstsOf([target, payload?.from_memory_id], [resulting, payload?.to_memory_id]);
  return firstsOf([target]);
}

/** The memory that an op changes or retires, apart from one that it makes: where a relationship leads is not changed by it. */
export function findTouchedMemory(op: Op): string | undefined {
  return op.op_type === 'add_memory' ? undefined : listNeededMemories(op)[0];
}

/** What an op put in the place of a memory that it retired; undefined when it retired another one, or put nothing there. */
export function findReplacement(changesetId: string, op: Op, memoryId: string): string | undefined {
  if (op.op_type !== 'supersede_memory' && op.op_type !== 'correct_memory') return undefined;
  return op.target_event_id === memoryId ? findMadeMemory(changesetId, op) : undefined;
}

function firstsOf(...ends: readonly (readonly (JsonValue | undefined)[])[]): readonly string[] {
  return ends.flatMap((channels) => channels.filter(isNamed).slice(0, 1));
}

function isNamed(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value !== '';
}
