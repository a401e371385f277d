import { type ChangesetId, memoryIdSchema, type ProjectId } from '../../src-preload/contract/ids.ts';
import { Fault } from '../base/fault.ts';
import type { Lethe } from '../lethe/api.ts';

/** A memory at a changeset with the newest of its relationships; undefined when that has never known it. */
export function findMemory(
  lethe: Lethe,
  projectId: ProjectId,
  memoryId: string,
  headChangesetId: ChangesetId,
  limit = 1,
): ReturnType<Lethe['getMemory']> | undefined {
  const known = memoryIdSchema.safeParse(memoryId);
  if (!known.success) return undefined;
  try {
    return lethe.getMemory({ projectId, memoryId: known.data, headChangesetId, limit });
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.code === 'MEMORY_NOT_FOUND') return undefined;
    throw thrown;
  }
}
