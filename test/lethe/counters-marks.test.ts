import { expect, test } from 'vitest';
import { readContext } from '../../src-main/lethe/context.ts';
import { readDiff } from '../../src-main/lethe/diff.ts';
import { readMemory } from '../../src-main/lethe/memory.ts';
import { changesetIdSchema, memoryIdSchema, refNameSchema } from '../../src-preload/contract/ids.ts';
import { type HistoryStore, historyProject, type OpDraft, openHistoryStore } from '../fuzz/history-store.ts';

const sizes = [1_000, 20_000] as const;
const refName = refNameSchema.parse('refs/topics/fuzz');

const attach = (step: number): OpDraft => ({
  op_type: step % 2 === 0 ? 'attach_evidence' : 'attach_verification',
  target_event_id: 'one',
  payload: { note: `attached ${step}` },
});
const relate = (step: number): OpDraft => ({
  op_type: 'add_relationship',
  target_event_id: step % 2 === 0 ? 'one' : 'two',
  resulting_event_id: step % 2 === 0 ? 'two' : 'one',
  payload: { kind: `kind ${step}` },
});
const add = (id: string): OpDraft => ({
  op_type: 'add_memory',
  resulting_event_id: id,
  payload: { content: `memory ${id}` },
});

/** Rows read by a page of context, one memory, a commit that attaches and relates, and the diff of that commit. */
function measure(size: number): readonly number[] {
  const store = openHistoryStore();
  try {
    let head = store.commit([store.commit([], [])], [add('one'), add('two')]);
    for (let step = 0; step < size; step += 1) head = store.commit([head], [attach(step), relate(step)]);
    for (let step = 0; step < 300; step += 1) head = store.commit([head], [add(`later ${step}`)]);
    head = store.commit([head], [attach(0), relate(0)]);
    return costsOf(store, head);
  } finally {
    store.close();
  }
}

function costsOf(store: HistoryStore, head: number): readonly number[] {
  const rows = (work: () => void): number => {
    const before = store.db.counters.rowsRead;
    work();
    return store.db.counters.rowsRead - before;
  };
  const at = '2027-01-15T08:00:00Z';
  store.db
    .command<[string, string, number, string, string]>(
      "INSERT INTO memory_refs (project_id, ref_name, head_seq, protected, created_at, updated_at, created_by_principal) VALUES (?, ?, ?, 0, ?, ?, 'someone')",
    )
    .run(historyProject, refName, head, at, at);
  const id = (seq: number): ReturnType<typeof changesetIdSchema.parse> => changesetIdSchema.parse(store.idOf(seq));
  const context = rows(() => {
    const { memories, relationships } = readContext(store.db, { projectId: historyProject, refName, limit: 5 });
    expect(memories[0]).toMatchObject({ memory_id: 'one', evidence: expect.arrayContaining([{ note: 'attached 0' }]) });
    expect(relationships?.length).toBeGreaterThan(0);
  });
  const memory = rows(() => {
    const answer = readMemory(store.db, {
      projectId: historyProject,
      memoryId: memoryIdSchema.parse('one'),
      headChangesetId: id(head),
      limit: 20,
    });
    expect(answer.relationships.length + answer.lineage.length).toBeGreaterThan(20);
  });
  let next = head;
  const commit = rows(() => {
    next = store.commit([head], [attach(1), relate(1), { ...attach(2), target_event_id: 'two' }]);
  });
  const diff = rows(() => {
    const input = { baseChangesetId: id(head), targetChangesetId: id(next), side: 'both', limit: 50 } as const;
    const found = readDiff(store.db, input);
    expect(found.relationships_added).toHaveLength(1);
    expect(found.evidence_added_or_removed).toHaveLength(2);
  });
  return [context, memory, commit, diff];
}

test('L101 L108 L116 L132 L135 behind 1 000 and behind 20 000 changesets that attach to one memory and relate it, context, memory, commit and diff read the same rows', () => {
  const [small, large] = sizes.map(measure);
  expect(large).toEqual(small);
  expect(Math.max(...(small ?? []))).toBeLessThan(500);
}, 120_000);

test('L135 what was related on another branch, however often, makes one memory no dearer to read', () => {
  const store = openHistoryStore();
  try {
    const fork = store.commit([store.commit([], [])], [add('one'), add('two')]);
    let mine = fork;
    for (let step = 0; step < 30; step += 1) mine = store.commit([mine], [relate(step)]);
    const cost = (): number => {
      const before = store.db.counters.rowsRead;
      const { relationships } = readMemory(store.db, {
        projectId: historyProject,
        memoryId: memoryIdSchema.parse('one'),
        headChangesetId: changesetIdSchema.parse(store.idOf(mine)),
        limit: 20,
      });
      expect(relationships.map(({ kind }) => kind)).toEqual(
        Array.from({ length: 20 }, (_, index) => `kind ${29 - index}`),
      );
      return store.db.counters.rowsRead - before;
    };
    let other = fork;
    const relateElsewhere = (times: number): void => {
      for (let step = 0; step < times; step += 1) other = store.commit([other], [relate(step)]);
    };
    relateElsewhere(100);
    const after100 = cost();
    relateElsewhere(2_900);
    expect(cost()).toBe(after100);
  } finally {
    store.close();
  }
}, 60_000);
