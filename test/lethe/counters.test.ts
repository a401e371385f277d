import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ContextInput } from '../../src-main/lethe/api.ts';
import { readContext } from '../../src-main/lethe/context.ts';
import { readDiff } from '../../src-main/lethe/diff.ts';
import { readMemory } from '../../src-main/lethe/memory.ts';
import { previewMerge } from '../../src-main/lethe/preview.ts';
import { isAncestor, parentsView } from '../../src-main/lethe/projection/view.ts';
import { findPlace } from '../../src-main/lethe/tables/chains.ts';
import { changesetIdSchema, memoryIdSchema, refNameSchema } from '../../src-preload/contract/ids.ts';
import { type HistoryStore, historyProject, type OpDraft, openHistoryStore } from '../fuzz/history-store.ts';

const sizes = [1_000, 20_000] as const;
const branches = 200;
const refName = refNameSchema.parse('refs/topics/fuzz');

function add(content: string): OpDraft {
  return { op_type: 'add_memory', payload: { content } };
}

/**
 * A history of `size` changesets; answers its head. It goes on to the next recency page and then with the same 40 adds, so
 * that the newest page is equally near at every size.
 */
type Grow = (store: HistoryStore, size: number) => number;

function growTail(store: HistoryStore, head: number): number {
  let at = head;
  do at = store.commit([at], [add('on to the next page')]);
  while (findPlace(store.db, at)?.steps !== 0);
  for (let step = 0; step < 40; step += 1) at = store.commit([at], [add(`recent ${step}`)]);
  return at;
}

/** A changeset in the middle of the history of a head, 40 steps after a recency page. */
function middleOf(store: HistoryStore, head: number, size: number): number {
  for (let seq = Math.floor(size / 2); seq > 0; seq -= 1) {
    if (findPlace(store.db, seq)?.steps === 40 && isAncestor(store.db, seq, head)) return seq;
  }
  throw new Error('no changeset in the middle is 40 steps after a page');
}

const histories: Readonly<Record<string, Grow>> = {
  'many memories': (store, size) => {
    let head = store.commit([], []);
    for (let step = 0; step < size; step += 1) head = store.commit([head], [add(`memory ${step}`)]);
    return growTail(store, head);
  },
  'one memory corrected over and over': (store, size) => {
    let head = store.commit([store.commit([], [])], [{ ...add('first'), resulting_event_id: 'one' }]);
    for (let step = 0; step < size; step += 1) {
      head = store.commit(
        [head],
        [{ op_type: 'correct_memory', target_event_id: 'one', payload: { content: `corrected ${step}` } }],
      );
    }
    return growTail(store, head);
  },
  'a chain of branches, each made from the last': (store, size) => {
    let head = store.commit([], []);
    for (let branch = 0; branch < branches; branch += 1) {
      const fork = head;
      for (let step = 0; step < size / branches; step += 1)
        head = store.commit([head], [add(`memory ${branch}.${step}`)]);
      store.commit([fork], [add(`the line that is left behind ${branch}`)]);
    }
    return growTail(store, head);
  },
};

interface Costs {
  readonly context: number;
  readonly pageAfterPages: number;
  readonly validation: number;
  readonly commit: number;
  readonly diff: number;
  readonly preview: number;
  readonly oldContext: number;
  readonly memory: number;
  readonly oldestMemory: number;
  readonly reachability: number;
}

function measure(grow: Grow, size: number): Costs {
  const store = openHistoryStore();
  try {
    const head = grow(store, size);
    return costsOf(store, head, middleOf(store, head, size));
  } finally {
    store.close();
  }
}

function costsOf(store: HistoryStore, head: number, old: number): Costs {
  const rows = (work: () => void): number => {
    const before = store.db.counters.rowsRead;
    work();
    return store.db.counters.rowsRead - before;
  };
  const id = (seq: number): ReturnType<typeof changesetIdSchema.parse> => changesetIdSchema.parse(store.idOf(seq));
  makeRef(store, head);
  const input: ContextInput = { projectId: historyProject, refName, limit: 20 };
  let cursor: string | undefined;
  const context = rows(() => {
    cursor = readContext(store.db, input).next_cursor;
  });
  const pageAfterPages = rows(() => {
    cursor = readContext(store.db, { ...input, cursor }).next_cursor;
  });
  const oldContext = rows(() => readContext(store.db, { ...input, headChangesetId: id(old) }));
  const validation = rows(() => {
    const view = parentsView(store.db, historyProject, [head]);
    expect(view.isActive(`mem:${store.idOf(head)}:0`)).toBe(true);
    expect(view.isActive(oldestOf(store))).toBe(true);
    expect(view.isActive('never heard of')).toBe(false);
  });
  let [left, right] = [head, head];
  const commit = rows(() => {
    left = store.commit(
      [left],
      [{ op_type: 'correct_memory', target_event_id: `mem:${store.idOf(head)}:0`, payload: { scope: 'desk' } }],
    );
  });
  for (let step = 0; step < 9; step += 1) left = store.commit([left], [add(`left ${step}`)]);
  for (let step = 0; step < 10; step += 1) right = store.commit([right], [add(`right ${step}`)]);
  const diff = rows(() => {
    const found = readDiff(store.db, {
      baseChangesetId: id(left),
      targetChangesetId: id(right),
      side: 'both',
      limit: 100,
    });
    expect(found.memories_added).toHaveLength(10);
    expect(found.records_superseded).toHaveLength(9);
    expect(found.corrections_proposed).toHaveLength(1);
  });
  const preview = rows(() =>
    previewMerge(store.db, { projectId: historyProject, targetHead: id(left), head: id(right) }),
  );
  const read = (memoryId: string) =>
    readMemory(store.db, {
      projectId: historyProject,
      memoryId: memoryIdSchema.parse(memoryId),
      headChangesetId: id(left),
      limit: 20,
    });
  const memory = rows(() => read(`mem:${store.idOf(head)}:0`));
  const oldestMemory = rows(() => expect(read(oldestOf(store)).memory.status).toBe('active'));
  const [first = 0] = store.history.keys();
  const reachability = rows(() => {
    expect(isAncestor(store.db, first, left)).toBe(true);
    expect(isAncestor(store.db, old, right)).toBe(true);
    expect(isAncestor(store.db, left, right)).toBe(false);
  });
  return { context, pageAfterPages, validation, commit, diff, preview, oldContext, memory, oldestMemory, reachability };
}

/** The memory that the second changeset of a history made: in one of them it was corrected by every changeset since. */
function oldestOf({ history }: HistoryStore): string {
  const [, second] = history.values();
  return second?.ops[0]?.resulting_event_id ?? `mem:${second?.changesetId}:0`;
}

function makeRef(store: HistoryStore, head: number): void {
  const at = '2027-01-15T08:00:00Z';
  store.db
    .command<[string, string, number, string, string]>(
      "INSERT INTO memory_refs (project_id, ref_name, head_seq, protected, created_at, updated_at, created_by_principal) VALUES (?, ?, ?, 0, ?, ?, 'someone')",
    )
    .run(historyProject, refName, head, at, at);
}

describe.each(Object.entries(histories))('%s', (_, grow) => {
  let costs: readonly Costs[] = [];
  beforeAll(() => {
    costs = sizes.map((size) => measure(grow, size));
  }, 300_000);

  test('L84 L101 L108 L116 context, memories, validation, commit, diff, preview and reachability read the same rows at both sizes', () => {
    const [small, large] = costs;
    expect(large).toEqual(small);
    expect(small?.context).toBeLessThan(200);
    expect(small?.validation).toBeLessThan(10);
  });
});

describe('a stale branch beside a memory corrected over and over', () => {
  let store: HistoryStore;
  beforeAll(() => {
    store = openHistoryStore();
  });
  afterAll(() => store.close());

  test('L86 the state there costs the same after 100 and after 3 000 corrections made elsewhere', () => {
    const fork = store.commit([store.commit([], [])], [{ ...add('first'), resulting_event_id: 'one' }]);
    const stale = store.commit([fork], [add('on the stale branch')]);
    const cost = (): number => {
      const before = store.db.counters.rowsRead;
      expect(parentsView(store.db, historyProject, [stale]).isActive('one')).toBe(true);
      return store.db.counters.rowsRead - before;
    };
    let head = fork;
    const correct = (times: number): void => {
      for (let step = 0; step < times; step += 1) {
        head = store.commit(
          [head],
          [{ op_type: 'correct_memory', target_event_id: 'one', payload: { content: `corrected ${step}` } }],
        );
      }
    };
    correct(100);
    const after100 = cost();
    correct(2_900);
    expect(cost()).toBe(after100);
    expect(after100).toBeLessThan(30);
  });
});

describe('branches that were merged', () => {
  test.each([600, 3_000])(
    'L95 L101 a page after a merge of a branch of %i corrections, and deep pages, stay within a few hundred rows',
    (corrections) => {
      const store = openHistoryStore();
      try {
        let main = store.commit([], []);
        for (let step = 0; step < 600; step += 1) main = store.commit([main], [add(`on main ${step}`)]);
        let branch = store.commit([main], [{ ...add('first'), resulting_event_id: 'one' }]);
        for (let step = 0; step < corrections; step += 1) {
          branch = store.commit(
            [branch],
            [{ op_type: 'correct_memory', target_event_id: 'one', payload: { content: `corrected ${step}` } }],
          );
        }
        for (let step = 0; step < 300; step += 1) main = store.commit([main], [add(`later on main ${step}`)]);
        makeRef(store, store.commit([main, branch], []));
        let cursor: string | undefined;
        let shown = 0;
        do {
          const before = store.db.counters.rowsRead;
          const page = readContext(store.db, { projectId: historyProject, refName, limit: 100, cursor });
          expect(store.db.counters.rowsRead - before).toBeLessThan(1_000);
          expect(page.memories).toHaveLength(Math.min(100, 901 - shown));
          shown += page.memories.length;
          cursor = page.next_cursor;
        } while (cursor !== undefined);
        expect(shown).toBe(901);
      } finally {
        store.close();
      }
    },
  );
});

describe('the memories of one page', () => {
  test('L150 a page of 20 runs as many statements as one of 10, corrected memories and chosen ids among them', () => {
    const store = openHistoryStore();
    try {
      const chosen = (id: string): OpDraft => ({ ...add(`memory ${id}`), resulting_event_id: id });
      const correct = (id: string): OpDraft => ({
        op_type: 'correct_memory',
        target_event_id: id,
        payload: { scope: `of ${id}` },
      });
      const ids = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'];
      const made = Array.from({ length: 14 }, (_, number) => add(`made ${number}`));
      const first = store.commit([store.commit([], [])], [...ids.map(chosen), ...made]);
      makeRef(store, store.commit([first], ids.map(correct)));
      const statements = (limit: number): number => {
        const before = store.db.counters.statements;
        const page = readContext(store.db, { projectId: historyProject, refName, limit });
        expect(page.memories.map(({ scope }) => scope).slice(0, 3)).toEqual(['of eight', 'of seven', 'of six']);
        expect(page.memories).toHaveLength(limit);
        return store.db.counters.statements - before;
      };
      const few = statements(10);
      expect(statements(20)).toBe(few);
      expect(few).toBeLessThan(15);
    } finally {
      store.close();
    }
  });
});
