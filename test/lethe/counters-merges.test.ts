import { describe, expect, test } from 'vitest';
import { readContext } from '../../src-main/lethe/context.ts';
import { readDiff } from '../../src-main/lethe/diff.ts';
import { readMemory } from '../../src-main/lethe/memory.ts';
import { contestedMemories } from '../../src-main/lethe/projection/contested.ts';
import { parentsView } from '../../src-main/lethe/projection/view.ts';
import { findPlace } from '../../src-main/lethe/tables/chains.ts';
import { changesetIdSchema, memoryIdSchema, refNameSchema } from '../../src-preload/contract/ids.ts';
import { type HistoryStore, historyProject, type OpDraft, openHistoryStore } from '../fuzz/history-store.ts';
import { add, addAs, attachEvidence, correct, relate, restore, supersede } from '../support/history-builder.ts';

const sizes = [1_000, 20_000] as const;
const branches = 200;
const contested = 10;
const refName = refNameSchema.parse('refs/topics/fuzz');
const ids = Array.from({ length: contested }, (_, index) => `plan-${index}`);

/** A history of `size` changesets over some memories that two sides will change; answers its head. */
type Grow = (store: HistoryStore, size: number) => number;

function start(store: HistoryStore): number {
  const first = store.commit([store.commit([], [])], [...ids.map((id) => addAs(id, `the ${id}`)), addAs('one', 'one')]);
  return store.commit([first], [relate('one', 'kept', 'plan-0')]);
}

const histories: Readonly<Record<string, Grow>> = {
  'many memories': (store, size) => {
    let head = start(store);
    for (let step = 0; step < size; step += 1) head = store.commit([head], [add(`memory ${step}`)]);
    return head;
  },
  'one memory corrected over and over': (store, size) => {
    let head = start(store);
    for (let step = 0; step < size; step += 1)
      head = store.commit([head], [correct('plan-0', { content: `corrected ${step}` })]);
    return head;
  },
  'a chain of branches, each made from the last': (store, size) => {
    let head = start(store);
    for (let branch = 0; branch < branches; branch += 1) {
      const fork = head;
      for (let step = 0; step < size / branches; step += 1) head = store.commit([head], [add(`m ${branch}.${step}`)]);
      store.commit([fork], [add(`left behind ${branch}`)]);
    }
    return head;
  },
};

/** On to a recency page, so that the next one is equally far at every size. */
function toPage(store: HistoryStore, from: number): number {
  let head = from;
  do head = store.commit([head], [add('on to the next page')]);
  while (findPlace(store.db, head)?.steps !== 0);
  return head;
}

/** Rows read by what merges, restores and their readers do at the end of a history. */
function measure(grow: Grow, size: number): Readonly<Record<string, number>> {
  const store = openHistoryStore();
  try {
    const fork = toPage(store, grow(store, size));
    return costsOf(store, fork);
  } finally {
    store.close();
  }
}

function costsOf(store: HistoryStore, fork: number): Readonly<Record<string, number>> {
  const rows = (work: () => void): number => {
    const before = store.db.counters.rowsRead;
    work();
    return store.db.counters.rowsRead - before;
  };
  const change = (side: string): readonly OpDraft[] =>
    ids.flatMap((id, index) => [correct(id, index < 5 ? { scope: side } : { scope: 'the same' })]);
  const left = store.commit([fork], change('left'));
  const right = store.commit([fork], [...change('right'), attachEvidence('plan-0', { note: 'right' })]);
  const preview = rows(() => {
    expect(contestedMemories(store.db, left, right, 100).total).toBe(5);
  });
  const validation = rows(() => {
    const view = parentsView(store.db, historyProject, [left, right]);
    expect(view.isActive('plan-0')).toBe(true);
    expect(view.findPast('plan-1', store.idOf(right))).toBe('active');
    expect(view.findPast('plan-1', store.idOf(1))).toBe('unknown');
  });
  const decisions = [
    correct('plan-0', { content: 'of both' }),
    restore('plan-1', store.idOf(left)),
    restore('plan-2', store.idOf(right)),
    restore('plan-3', store.idOf(2)),
    supersede('plan-4'),
  ];
  let merged = left;
  const merge = rows(() => {
    merged = store.commit([left, right], decisions);
  });
  const silent = rows(() => store.commit([left, right], [], 'override'));
  let revert = merged;
  const restoring = rows(() => {
    revert = store.commit([merged], [restore('one', store.idOf(2)), restore('plan-0', store.idOf(fork))]);
  });
  return { preview, validation, merge, silent, restoring, ...readingOf(store, rows, fork, merged, revert) };
}

function readingOf(
  store: HistoryStore,
  rows: (work: () => void) => number,
  fork: number,
  merged: number,
  revert: number,
): Readonly<Record<string, number>> {
  const at = '2027-01-15T08:00:00Z';
  store.db
    .command<[string, string, number, string, string]>(
      "INSERT INTO memory_refs (project_id, ref_name, head_seq, protected, created_at, updated_at, created_by_principal) VALUES (?, ?, ?, 0, ?, ?, 'someone')",
    )
    .run(historyProject, refName, revert, at, at);
  const id = (seq: number): ReturnType<typeof changesetIdSchema.parse> => changesetIdSchema.parse(store.idOf(seq));
  const memory = rows(() => {
    const { relationships } = readMemory(store.db, {
      projectId: historyProject,
      memoryId: memoryIdSchema.parse('one'),
      headChangesetId: id(revert),
      limit: 20,
    });
    expect(relationships).toEqual([]);
  });
  const diff = rows(() => {
    const input = { baseChangesetId: id(fork), targetChangesetId: id(merged), side: 'both', limit: 50 } as const;
    expect(readDiff(store.db, input).corrections_proposed.length).toBeGreaterThan(3);
  });
  const context = rows(() => {
    const page = readContext(store.db, { projectId: historyProject, refName, limit: 8 });
    expect(page.memories.map(({ memory_id }) => memory_id).slice(0, 2)).toEqual(['plan-0', 'one']);
    expect(new Set(page.memories.map(({ memory_id }) => memory_id)).size).toBe(8);
  });
  return { memory, diff, context };
}

describe.each(Object.entries(histories))('merges and restores behind %s', (_, grow) => {
  test('L154 previewing, validating, deciding, restoring and reading cost the same after 1 000 and 20 000 changesets', () => {
    const [small, large] = sizes.map((size) => measure(grow, size));
    // A jump up a line reads a row more at some depths than at others.
    for (const [name, rows] of Object.entries(large ?? {}))
      expect(Math.abs(rows - (small?.[name] ?? 0)), `${name}: ${rows}, ${small?.[name]}`).toBeLessThanOrEqual(1);
    expect(Math.max(...Object.values(small ?? {}))).toBeLessThan(300);
  }, 180_000);
});

test('L154 what the other side did to other memories does not make a contested one dearer to find', () => {
  const cost = (beside: number): number => {
    const store = openHistoryStore();
    try {
      const fork = start(store);
      const left = store.commit([fork], [correct('plan-0', { scope: 'left' })]);
      let right = store.commit([fork], [correct('plan-0', { scope: 'right' })]);
      for (let step = 0; step < beside; step += 1) right = store.commit([right], [add(`beside ${step}`)]);
      const before = store.db.counters.rowsRead;
      expect(parentsView(store.db, historyProject, [left, right]).isActive('plan-0')).toBe(true);
      return store.db.counters.rowsRead - before;
    } finally {
      store.close();
    }
  };
  expect(cost(2_000)).toBe(cost(20));
});
