import { expect } from 'vitest';
import { readDiff } from '../../src-main/lethe/diff.ts';
import { type MemoryAnswer, readMemory } from '../../src-main/lethe/memory.ts';
import { type SemanticDiff, semanticDiffSchema } from '../../src-preload/contract/diff.ts';
import { type ChangesetId, memoryIdSchema } from '../../src-preload/contract/ids.ts';
import { lineageStepSchema, relationshipSchema } from '../../src-preload/contract/memory.ts';
import type { HistoryBuilder, TempLethe } from './history-builder.ts';

export interface DiffPage {
  readonly side?: 'both' | 'target';
  readonly limit?: number;
  readonly cursor?: string | undefined;
}

/** A diff as the store reads it, after it was found to be what the contract says. */
export function readCheckedDiff(temp: TempLethe, base: ChangesetId, target: ChangesetId, more: DiffPage): SemanticDiff {
  const found = readDiff(temp.db, {
    baseChangesetId: base,
    targetChangesetId: target,
    side: more.side ?? 'both',
    limit: more.limit ?? 100,
    cursor: more.cursor,
  });
  expect(semanticDiffSchema.parse(found)).toEqual(found);
  return found;
}

export interface MemoryPage {
  readonly head: ChangesetId;
  readonly limit?: number;
  readonly cursor?: string | undefined;
}

/** One memory as the store reads it, after each step and relationship was found to be what the contract says. */
export function readCheckedMemory(
  temp: TempLethe,
  history: HistoryBuilder,
  memoryId: string,
  page: MemoryPage,
): MemoryAnswer {
  const answer = readMemory(temp.db, {
    projectId: history.project,
    memoryId: memoryIdSchema.parse(memoryId),
    headChangesetId: page.head,
    limit: page.limit ?? 50,
    cursor: page.cursor,
  });
  for (const step of answer.lineage) expect(lineageStepSchema.parse(step)).toEqual(step);
  for (const one of answer.relationships) expect(relationshipSchema.parse(one)).toEqual(one);
  return answer;
}
