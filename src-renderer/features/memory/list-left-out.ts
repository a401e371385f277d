import type { MemoryContext } from '../../../src-preload/contract/memory.ts';

export interface LeftOutRow {
  readonly memoryId: string;
  readonly reason: string;
}

/** The reason of what is accepted, and only not on the page: no reason to list it here. */
const beyondLimit = 'outside selected context limit';

/** Memories that contexts left out for a reason of their own, each once, in the order in which they were told. */
export function listLeftOut(pages: readonly Pick<MemoryContext, 'exclusion_reasons'>[]): readonly LeftOutRow[] {
  const reasons = new Map<string, string>();
  for (const page of pages) {
    for (const [memoryId, reason] of Object.entries(page.exclusion_reasons ?? {})) {
      if (reason !== beyondLimit && !reasons.has(memoryId)) reasons.set(memoryId, reason);
    }
  }
  return [...reasons].map(([memoryId, reason]) => ({ memoryId, reason }));
}
