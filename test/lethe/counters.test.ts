import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readContext } from '../../src-main/lethe/context.ts';
import { parentsView } from '../../src-main/lethe/projection/view.ts';
import { type HistoryStore, historyProject, openHistoryStore } from '../fuzz/history-store.ts';
import { add, addAs, correct } from '../support/history-builder.ts';
import { historyRef, makeRef, rowsOf } from './cost-of-reads.ts';

describe('a stale branch beside a memory corrected over and over', () => {
  let store: HistoryStore;
  beforeAll(() => {
    store = openHistoryStore();
  });
  afterAll(() => store.close());

  test('L86 the state there costs the same after 100 and after 3 000 corrections made elsewhere', () => {
    const fork = store.commit([store.commit([], [])], [addAs('one', 'first')]);
    const stale = store.commit([fork], [add('on the stale branch')]);
    const cost = (): number => {
      const before = store.db.counters.rowsRead;
      expect(parentsView(store.db, historyProject, [stale]).isActive('one')).toBe(true);
      return store.db.counters.rowsRead - before;
    };
    let head = fork;
    const correctElsewhere = (times: number): void => {
      for (let step = 0; step < times; step += 1) {
        head = store.commit([head], [correct('one', { content: `corrected ${step}` })]);
      }
    };
    correctElsewhere(100);
    const after100 = cost();
    correctElsewhere(2_900);
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
        let branch = store.commit([main], [addAs('one', 'first')]);
        for (let step = 0; step < corrections; step += 1) {
          branch = store.commit([branch], [correct('one', { content: `corrected ${step}` })]);
        }
        for (let step = 0; step < 300; step += 1) main = store.commit([main], [add(`later on main ${step}`)]);
        makeRef(store, store.commit([main, branch], []));
        let cursor: string | undefined;
        let shown = 0;
        do {
          const before = store.db.counters.rowsRead;
          const page = readContext(store.db, { projectId: historyProject, refName: historyRef, limit: 100, cursor });
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
      const ids = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'];
      const made = Array.from({ length: 14 }, (_, number) => add(`made ${number}`));
      const first = store.commit([store.commit([], [])], [...ids.map((id) => addAs(id, `memory ${id}`)), ...made]);
      makeRef(
        store,
        store.commit(
          [first],
          ids.map((id) => correct(id, { scope: `of ${id}` })),
        ),
      );
      const statements = (limit: number): number => {
        const before = store.db.counters.statements;
        const page = readContext(store.db, { projectId: historyProject, refName: historyRef, limit });
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

test('L154 what the other side did to other memories does not make a contested one dearer to find', () => {
  const cost = (beside: number): number => {
    const store = openHistoryStore();
    try {
      const fork = store.commit([store.commit([], [])], [addAs('plan', 'the plan')]);
      const left = store.commit([fork], [correct('plan', { scope: 'left' })]);
      let right = store.commit([fork], [correct('plan', { scope: 'right' })]);
      for (let step = 0; step < beside; step += 1) right = store.commit([right], [add(`beside ${step}`)]);
      return rowsOf(store, () => {
        expect(parentsView(store.db, historyProject, [left, right]).isActive('plan')).toBe(true);
      });
    } finally {
      store.close();
    }
  };
  expect(cost(2_000)).toBe(cost(20));
});
