import { expect, test } from 'vitest';
import { candidateBounds } from '../../src-main/lethe/text-candidates.ts';
import { tidyTextIndex } from '../../src-main/lethe/text-indexing.ts';
import { contextHoldersMax, matchContext, searchMemories } from '../../src-main/lethe/text-search.ts';
import { openTextModel, type TextModel } from './text-model.ts';

/** Rows read and states asked for by one search and one context query at the newest head. */
function costOf(
  model: TextModel,
  query: string,
): { search: { rows: number; states: number }; context: { rows: number; states: number } } {
  const view = model.head();
  const measure = (work: () => unknown) => {
    const rows = model.db.counters.rowsRead;
    const states = model.asked.states;
    work();
    return { rows: model.db.counters.rowsRead - rows, states: model.asked.states - states };
  };
  return {
    search: measure(() => searchMemories(model.db, view, { query, filter: {}, offset: 0, limit: 20 })),
    context: measure(() => matchContext(model.db, view, query, {})),
  };
}

function manyMemories(count: number): TextModel {
  const model = openTextModel();
  for (let memory = 0; memory < count; memory += 1) {
    const rare = memory === count - 5 ? ' zebra' : '';
    model.write(memory, { content: `common plain ${memory % 2 === 0 ? 'even' : 'odd'} w${memory}${rare}` });
  }
  model.index();
  return model;
}

test('L71 a search reads as many rows in 20 000 memories as in 5 000, for rare words, frequent words and a miss', () => {
  const [small, large] = [manyMemories(5_000), manyMemories(20_000)];
  for (const query of ['zebra', 'common', 'common plain even', 'even zebra', 'zebra common', 'absent', 'plai']) {
    expect(costOf(large, query), query).toEqual(costOf(small, query));
  }
  expect(costOf(large, 'zebra').search.rows).toBeLessThan(10);
  expect(costOf(large, 'common').search.states).toBeLessThanOrEqual(1_000);
  expect(costOf(large, 'common').context.states).toBe(contextHoldersMax);
});

test.each([
  [1, true],
  [50_000_000, false],
])(
  'L71 L73 parts that many memories hold are looked for together, but not through all history: %d versions back',
  (gap, within) => {
    const model = openTextModel();
    model.write(0, { content: 'even odd' });
    for (let memory = 1; memory < 2_000; memory += 1) {
      model.write(memory, { content: memory % 2 === 0 ? 'even' : 'odd' }, { gap: memory === 1 ? gap : 1 });
    }
    model.index();
    const page = { query: 'odd even', filter: {}, offset: 0, limit: 5 };
    const { matches, complete } = searchMemories(model.db, model.head(), page);
    expect(matches[0]?.state.memory === 0).toBe(within);
    expect(complete).toBe(within);
  },
);

test('L72 one memory corrected over and over does not stand in the way of others, at the newest head or on a branch', () => {
  const build = (corrections: number): TextModel => {
    const model = openTextModel();
    model.write(1, { content: 'status of the old server' });
    for (let count = 0; count < corrections; count += 1) {
      model.write(2, { content: `status now ${count % 7}` });
      model.write(3, { content: `status there ${count % 7}` }, { branch: 'side' });
    }
    model.index();
    return model;
  };
  const [small, large] = [build(500), build(8_000)];
  for (const query of ['status', 'status server', 'statu'])
    expect(costOf(large, query), query).toEqual(costOf(small, query));
  const matches = (branch: string) =>
    searchMemories(large.db, large.head({ branch }), { query: 'status', filter: {}, offset: 0, limit: 9 });
  expect([...matches('main').matches.map((match) => match.state.memory)].sort()).toEqual([1, 2]);
  expect([...matches('side').matches.map((match) => match.state.memory)].sort()).toEqual([1, 2, 3]);
  expect(matches('main').complete).toBe(true);
  expect(costOf(large, 'status').search.rows).toBeLessThan(100);
});

test('L71 what the index holds is found by lookups: no row of it is scanned', () => {
  const model = openTextModel();
  const plan = model.db.explain(
    `SELECT text_versions.version, text_versions.memory FROM text_index CROSS JOIN text_versions ON text_versions.version = text_index.rowid
      WHERE text_index MATCH '"1wx"' AND text_index.rowid BETWEEN CAST(0 AS INTEGER) AND CAST(9 AS INTEGER) ORDER BY text_index.rowid DESC`,
  );
  expect(plan).toHaveLength(2);
  expect(plan[0]).toMatch(/^SCAN text_index VIRTUAL TABLE INDEX \d+:.*M/);
  expect(plan[1]).toMatch(/^SEARCH text_versions USING INTEGER PRIMARY KEY/);
});

test('L61 a batch takes few long states or many short ones, and goes on where it stopped', () => {
  const model = openTextModel();
  for (let memory = 0; memory < 20; memory += 1)
    model.write(memory, { content: `long${memory} ${'x y '.repeat(4_000)}` });
  const tail = () =>
    searchMemories(
      model.db,
      model.head(),
      { query: 'long0', filter: {}, offset: 0, limit: 9 },
      { ...candidateBounds, tailMax: 17 },
    ).complete;
  expect(tail()).toBe(false);
  model.index(300);
  expect(tail()).toBe(true);
  model.index();
  expect(
    searchMemories(model.db, model.head(), { query: 'long19', filter: {}, offset: 0, limit: 9 }).matches,
  ).toHaveLength(1);
});

test('L78 tidying comes to an end, in bounded steps', () => {
  const model = openTextModel();
  for (let memory = 0; memory < 400; memory += 1) {
    model.write(memory, { content: `word${memory} and more of it` });
    if (memory % 4 === 3) model.index(4);
  }
  let steps = 0;
  while (model.transact((db) => tidyTextIndex(db))) steps += 1;
  expect(steps).toBeLessThan(50);
  expect(model.transact((db) => tidyTextIndex(db))).toBe(false);
  expect(
    searchMemories(model.db, model.head(), { query: 'word7', filter: {}, offset: 0, limit: 9 }).matches[0]?.state
      .memory,
  ).toBe(7);
});
