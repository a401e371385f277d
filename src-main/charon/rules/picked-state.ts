import type { JsonObject, JsonValue } from '../../../src-preload/contract/json.ts';
import type { AcceptedMemory } from '../../../src-preload/contract/memory.ts';

type Fields = { -readonly [Key in keyof AcceptedMemory]: AcceptedMemory[Key] };

/**
 * A memory with what an op says laid over it (`lethe.md` §5.6): every payload key is merged; texts that are not empty, tags
 * and a number replace what was there.
 */
export function overlay(before: AcceptedMemory, payload: JsonObject): AcceptedMemory {
  const after: Fields = { ...before, status: 'active', source: 'memory_git' };
  for (const field of ['content', 'event_type', 'kind', 'scope', 'visibility'] as const) {
    const value = payload[field];
    if (typeof value === 'string' && value !== '') after[field] = value;
  }
  if (typeof payload.confidence === 'number') after.confidence = payload.confidence;
  if (payload.tags !== undefined) {
    const tags = tagsOf(payload.tags);
    delete after.tags;
    if (tags.length > 0) after.tags = tags;
  }
  if (Object.keys(payload).length > 0) after.payload = { ...before.payload, ...payload };
  return after;
}

/** The memory that an op starts, and nothing but what its payload says. */
export function begin(memoryId: AcceptedMemory['memory_id'], payload: JsonObject): AcceptedMemory {
  return overlay({ memory_id: memoryId, content: '', status: 'active', source: 'memory_git' }, payload);
}

function tagsOf(value: JsonValue): string[] {
  if (typeof value === 'string') return value.split(/[,\s]+/).filter((tag) => tag !== '');
  if (!Array.isArray(value)) return [];
  return value.flatMap((tag: JsonValue) => (typeof tag === 'string' && tag !== '' ? [tag] : []));
}
