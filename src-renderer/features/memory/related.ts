import type { Relationship } from '../../../src-preload/contract/memory.ts';

/** What relates a memory to another, one line. */
export interface Related {
  readonly key: string;
  /** Whether it starts at the memory that is looked at. */
  readonly outgoing: boolean;
  readonly kind: string;
  readonly other: string;
  /** How often the same was said. */
  readonly times: number;
}

/** The relationships of a memory as lines, in their order, equal ones once. */
export function listRelated(memoryId: string, relationships: readonly Relationship[]): readonly Related[] {
  const byKey = new Map<string, Related>();
  for (const relationship of relationships) {
    const outgoing = relationship.from_memory_id === memoryId;
    const other = outgoing ? relationship.to_memory_id : relationship.from_memory_id;
    const kind = relationship.kind ?? 'related to';
    const key = JSON.stringify([outgoing, kind, other]);
    byKey.set(key, { key, outgoing, kind, other, times: (byKey.get(key)?.times ?? 0) + 1 });
  }
  return [...byKey.values()];
}
