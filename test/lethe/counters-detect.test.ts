import { beforeAll, describe, expect, test } from 'vitest';
import { detectConflicts } from '../../src-main/lethe/detection.ts';
import { changesetIdSchema } from '../../src-preload/contract/ids.ts';
import type { JsonObject } from '../../src-preload/contract/json.ts';
import { type HistoryStore, historyProject, type OpDraft, openHistoryStore } from '../fuzz/history-store.ts';

const sizes = [1_000, 20_000] as const;
const branches = 200;

function add(content: string, more: JsonObject = {}): OpDraft {
  return { op_type: 'add_memory', payload: { content, ...more } };
}

function addAs(id: string, content: string, more: JsonObject = {}): OpDraft {
  return { ...add(content, more), resulting_event_id: id };
}

function correct(id: string, payload: JsonObject): OpDraft {
  return { op_type: 'correct_memory', target_event_id: id, payload };
}

/** What the two sides will not go together with: it lies at the beginning of every history. */
const claims: readonly OpDraft[] = [
  addAs('decision', 'use one', { kind: 'decision', scope: 'net' }),
  addAs('fact', 'it is 7', { kind: 'fact', fact_key: 'size' }),
  addAs('note', 'said before'),
  addAs('one', 'first'),
];

/** A history of about `size` changesets after its claims; answers its head. */
type Grow = (store: HistoryStore, head: number, size: number) => number;

const histories: Readonly<Record<string, Grow>> = {
  'many memories, of scopes and keys of their own': (store, start, size) => {
    let head = start;
    for (let step = 0; step < size; step += 1) {
      const kind = step % 2 === 0 ? { kind: 'decision', scope: `s${step}` } : { kind: 'fact', fact_key: `k${step}` };
      head = store.commit([head], [add(`memory ${step}`, kind)]);
    }
    return head;
  },
  'one memory corrected over and over': (store, start, size) => {
    let head = start;
    for (let step = 0; step < size; step += 1)
      head = store.commit([head], [correct('one', { content: `corrected ${step}`, subject: `s${step}` })]);
    return head;
  },
  'a chain of branches, each made from the last': (store, start, size) => {
    let head = start;
    for (let branch = 0; branch < branches; branch += 1) {
      const fork = head;
      for (let step = 0; step < size / branches; step += 1)
        head = store.commit([head], [add(`memory ${branch}.${step}`)]);
      store.commit([fork], [add('the line that is left behind', { kind: 'decision', scope: 'net' })]);
    }
    return head;
  },
};

interface Costs {
  readonly detection: number;
  readonly statements: number;
  readonly commit: number;
}

function measure(grow: Grow, size: number): Costs {
  const store = openHistoryStore();
  try {
    const head = grow(store, store.commit([store.commit([], [])], claims), size);
    return costsOf(store, head);
  } finally {
    store.close();
  }
}

function costsOf(store: HistoryStore, head: number): Costs {
  const { counters } = store.db;
  const before = counters.rowsRead;
  let left = store.commit([head], [correct('one', { content: 'left', scope: 'desk' }), add('left 0')]);
  const commit = counters.rowsRead - before;
  let right = store.commit(
    [head],
    [
      correct('one', { content: 'right' }),
      add('use two', { kind: 'decision', scope: 'net' }),
      add('it is 8', { kind: 'fact', fact_key: 'size' }),
      add(' said before'),
    ],
  );
  for (let step = 1; step < 10; step += 1) left = store.commit([left], [add(`left ${step}`)]);
  for (let step = 1; step < 10; step += 1) right = store.commit([right], [add(`right ${step}`)]);
  const id = (seq: number): ReturnType<typeof changesetIdSchema.parse> => changesetIdSchema.parse(store.idOf(seq));
  const [rows, statements] = [counters.rowsRead, counters.statements];
  const found = detectConflicts(store.db, {
    projectId: historyProject,
    baseChangesetId: id(head),
    leftChangesetId: id(left),
    rightChangesetId: id(right),
  });
  expect(found.map(({ conflict_type }) => conflict_type)).toEqual([
    'concurrent_edit',
    'contradictory_decision',
    'incompatible_fact',
    'duplicate_content',
  ]);
  return { detection: counters.rowsRead - rows, statements: counters.statements - statements, commit };
}

describe.each(Object.entries(histories))('%s', (_, grow) => {
  let costs: readonly Costs[] = [];
  beforeAll(() => {
    costs = sizes.map((size) => measure(grow, size));
  }, 300_000);

  test('L178 detection and a commit read the same rows at both sizes', () => {
    const [small, large] = costs;
    expect(large).toEqual(small);
    expect(small?.commit).toBeLessThan(100);
  });
});
