import { expect } from 'vitest';
import { readContext } from '../../src-main/lethe/context.ts';
import { readDiff } from '../../src-main/lethe/diff.ts';
import { readMemory } from '../../src-main/lethe/memory.ts';
import { contestedMemories } from '../../src-main/lethe/projection/contested.ts';
import { parentsView } from '../../src-main/lethe/projection/view.ts';
import { memoryIdSchema } from '../../src-preload/contract/ids.ts';
import { type HistoryStore, historyProject } from '../fuzz/history-store.ts';
import { attachEvidence, correct, type OpDraft, restore, supersede } from '../support/history-builder.ts';
import { historyRef, idOf, makeRef, rowsOf } from './cost-of-reads.ts';
import { claimsSeq, contestedIds, mostCorrected, toPage } from './long-histories.ts';

/** Rows read by what merges, restores and their readers do at the end of a history. */
export function mergeCosts(store: HistoryStore, head: number): Readonly<Record<string, number>> {
  const fork = toPage(store, head);
  const change = (side: string): readonly OpDraft[] =>
    contestedIds.map((id, index) => correct(id, index < 5 ? { scope: side } : { scope: 'the same' }));
  const left = store.commit([fork], change('left'));
  const right = store.commit([fork], [...change('right'), attachEvidence(mostCorrected, { note: 'right' })]);
  const preview = rowsOf(store, () => {
    expect(contestedMemories(store.db, left, right, 100).total).toBe(5);
  });
  const validation = rowsOf(store, () => {
    const view = parentsView(store.db, historyProject, [left, right]);
    expect(view.isActive(mostCorrected)).toBe(true);
    expect(view.findPast('plan-1', store.idOf(right))).toBe('active');
    expect(view.findPast('plan-1', store.idOf(1))).toBe('unknown');
  });
  const decisions = [
    correct(mostCorrected, { content: 'of both' }),
    restore('plan-1', store.idOf(left)),
    restore('plan-2', store.idOf(right)),
    restore('plan-3', store.idOf(claimsSeq)),
    supersede('plan-4'),
  ];
  let merged = left;
  const merge = rowsOf(store, () => {
    merged = store.commit([left, right], decisions);
  });
  const silent = rowsOf(store, () => store.commit([left, right], [], 'override'));
  let revert = merged;
  const restoring = rowsOf(store, () => {
    const ops = [restore('anchor', store.idOf(claimsSeq)), restore(mostCorrected, store.idOf(fork))];
    revert = store.commit([merged], ops);
  });
  return { preview, validation, merge, silent, restoring, ...readingCosts(store, fork, merged, revert) };
}

function readingCosts(
  store: HistoryStore,
  fork: number,
  merged: number,
  revert: number,
): Readonly<Record<string, number>> {
  makeRef(store, revert);
  const memory = rowsOf(store, () => {
    const { relationships } = readMemory(store.db, {
      projectId: historyProject,
      memoryId: memoryIdSchema.parse('anchor'),
      headChangesetId: idOf(store, revert),
      limit: 20,
    });
    expect(relationships).toEqual([]);
  });
  const diff = rowsOf(store, () => {
    const sides = { baseChangesetId: idOf(store, fork), targetChangesetId: idOf(store, merged) };
    expect(readDiff(store.db, { ...sides, side: 'both', limit: 50 }).corrections_proposed.length).toBeGreaterThan(3);
  });
  const context = rowsOf(store, () => {
    const page = readContext(store.db, { projectId: historyProject, refName: historyRef, limit: 8 });
    expect(page.memories.map(({ memory_id }) => memory_id).slice(0, 2)).toEqual([mostCorrected, 'anchor']);
    expect(new Set(page.memories.map(({ memory_id }) => memory_id)).size).toBe(8);
  });
  return { memory, diff, context };
}
