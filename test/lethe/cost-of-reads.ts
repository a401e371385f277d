import { expect } from 'vitest';
import type { ContextInput } from '../../src-main/lethe/api.ts';
import { readContext } from '../../src-main/lethe/context.ts';
import { readDiff } from '../../src-main/lethe/diff.ts';
import { readMemory } from '../../src-main/lethe/memory.ts';
import { previewMerge } from '../../src-main/lethe/preview.ts';
import { isAncestor, parentsView } from '../../src-main/lethe/projection/view.ts';
import { type ChangesetId, changesetIdSchema, memoryIdSchema, refNameSchema } from '../../src-preload/contract/ids.ts';
import { type HistoryStore, historyProject } from '../fuzz/history-store.ts';
import { add, correct } from '../support/history-builder.ts';
import { mostCorrected } from './long-histories.ts';

/** The ref that the histories of these tests are read through. */
export const historyRef = refNameSchema.parse('refs/topics/fuzz');

/** Lets that ref stand at a changeset. */
export function makeRef(store: HistoryStore, head: number): void {
  const at = '2027-01-15T08:00:00Z';
  store.db
    .command<[string, string, number, string, string]>(
      "INSERT INTO memory_refs (project_id, ref_name, head_seq, protected, created_at, updated_at, created_by_principal) VALUES (?, ?, ?, 0, ?, ?, 'someone')",
    )
    .run(historyProject, historyRef, head, at, at);
}

/** The id of a changeset by its number. */
export function idOf(store: HistoryStore, seq: number): ChangesetId {
  return changesetIdSchema.parse(store.idOf(seq));
}

/** How many rows some work reads. */
export function rowsOf(store: HistoryStore, work: () => void): number {
  const before = store.db.counters.rowsRead;
  work();
  return store.db.counters.rowsRead - before;
}

/** Rows read by contexts, validation, a commit, a diff, a preview, memories and reachability behind a history. */
export function readCosts(store: HistoryStore, head: number, old: number): Readonly<Record<string, number>> {
  const contexts = contextCosts(store, head, old);
  const validation = rowsOf(store, () => {
    const view = parentsView(store.db, historyProject, [head]);
    expect(view.isActive(`mem:${store.idOf(head)}:0`)).toBe(true);
    expect(view.isActive(mostCorrected)).toBe(true);
    expect(view.isActive('never heard of')).toBe(false);
  });
  let [left, right] = [head, head];
  const commit = rowsOf(store, () => {
    left = store.commit([left], [correct(`mem:${store.idOf(head)}:0`, { scope: 'desk' })]);
  });
  for (let step = 0; step < 9; step += 1) left = store.commit([left], [add(`left ${step}`)]);
  for (let step = 0; step < 10; step += 1) right = store.commit([right], [add(`right ${step}`)]);
  return { ...contexts, validation, commit, ...comparingCosts(store, head, left, right, old) };
}

function contextCosts(store: HistoryStore, head: number, old: number): Readonly<Record<string, number>> {
  makeRef(store, head);
  const input: ContextInput = { projectId: historyProject, refName: historyRef, limit: 20 };
  let cursor: string | undefined;
  const context = rowsOf(store, () => {
    cursor = readContext(store.db, input).next_cursor;
  });
  const pageAfterPages = rowsOf(store, () => {
    cursor = readContext(store.db, { ...input, cursor }).next_cursor;
  });
  const oldContext = rowsOf(store, () => readContext(store.db, { ...input, headChangesetId: idOf(store, old) }));
  return { context, pageAfterPages, oldContext };
}

function comparingCosts(
  store: HistoryStore,
  head: number,
  left: number,
  right: number,
  old: number,
): Readonly<Record<string, number>> {
  const diff = rowsOf(store, () => {
    const found = readDiff(store.db, {
      baseChangesetId: idOf(store, left),
      targetChangesetId: idOf(store, right),
      side: 'both',
      limit: 100,
    });
    expect(found.memories_added).toHaveLength(10);
    expect(found.records_superseded).toHaveLength(9);
    expect(found.corrections_proposed).toHaveLength(1);
  });
  const sides = { targetHead: idOf(store, left), head: idOf(store, right) };
  const preview = rowsOf(store, () => previewMerge(store.db, { projectId: historyProject, ...sides }));
  const read = (memoryId: string) =>
    readMemory(store.db, {
      projectId: historyProject,
      memoryId: memoryIdSchema.parse(memoryId),
      headChangesetId: idOf(store, left),
      limit: 20,
    });
  const memory = rowsOf(store, () => read(`mem:${store.idOf(head)}:0`));
  const oldestMemory = rowsOf(store, () => expect(read(mostCorrected).memory.status).toBe('active'));
  const [first = 0] = store.history.keys();
  const reachability = rowsOf(store, () => {
    expect(isAncestor(store.db, first, left)).toBe(true);
    expect(isAncestor(store.db, old, right)).toBe(true);
    expect(isAncestor(store.db, left, right)).toBe(false);
  });
  return { diff, preview, memory, oldestMemory, reachability };
}
