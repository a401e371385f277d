import type { HeadSelector, Lethe } from '../../src-main/lethe/api.ts';
import type { ChangesetId, MemoryId } from '../../src-preload/contract/ids.ts';
import type { Contestant } from './measure.ts';
import { benchProject } from './store.ts';
import { pick, type Random } from './texts.ts';

/** Memories of one page of a context. */
export const pageSize = 20;

/** Reading one memory whole, with its lineage, another one each time. */
export function memoryReader(
  name: string,
  lethe: Lethe,
  at: { readonly head: ChangesetId; readonly memoryIds: readonly MemoryId[]; readonly random: Random },
): Contestant {
  return {
    name,
    workers: 1,
    once: () => {
      const memoryId = at.memoryIds[pick(at.random, at.memoryIds.length)];
      if (memoryId === undefined) throw new Error('a history names memories to read');
      lethe.getMemory({ projectId: benchProject, memoryId, headChangesetId: at.head, limit: pageSize });
    },
  };
}

/** Reading the first page of a context. */
export function contextReader(name: string, lethe: Lethe, at: Omit<HeadSelector, 'projectId'>): Contestant {
  return {
    name,
    workers: 1,
    once: () => {
      const { memories } = lethe.context({ projectId: benchProject, ...at, limit: pageSize });
      if (memories.length !== pageSize) throw new Error(`a page of ${pageSize} has ${memories.length} memories`);
    },
  };
}
