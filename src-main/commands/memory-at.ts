import { type ChangesetId, memoryIdSchema, type ProjectId } from '../../src-preload/contract/ids.ts';
import { Fault } from '../base/fault.ts';
import type { MemoryAnswer } from '../lethe/memory.ts';
import type { MemoryStore } from './memory-store.ts';

/** A memory at a changeset with the newest of its relationships; undefined when that has never known it. */
export async function findMemory(
  lethe: MemoryStore,
  projectId: ProjectId,
  memoryId: string,
  headChangesetId: ChangesetId,
  limit = 1,
): Promise<MemoryAnswer | undefined> {
  const known = memoryIdSchema.safeParse(memoryId);
  if (!known.success) return undefined;
  try {
    return await lethe.getMemory({ projectId, memoryId: known.data, headChangesetId, limit });
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.code === 'MEMORY_NOT_FOUND') return undefined;
    throw thrown;
  }
}
