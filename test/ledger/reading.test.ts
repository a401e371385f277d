import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ListInput } from '../../src-main/ledger/api.ts';
import { headQueries } from '../../src-main/ledger/tables/heads.ts';
import { versionQueries } from '../../src-main/ledger/tables/versions.ts';
import { agent, key, openTempLedger, other, type TempLedger } from './temp-ledger.ts';

let temp: TempLedger;
beforeEach(() => {
  temp = openTempLedger();
});
afterEach(() => temp.discard());

const list = (more: Partial<ListInput> = {}) => {
  const { entries, total } = temp.ledger.list({ agentId: agent, page: 1, perPage: 50, ...more });
  return { keys: entries.map((entry) => entry.key as string), total };
};

describe('lists', () => {
  beforeEach(async () => {
    for (const name of ['b:2', 'a', 'b:1', 'b', 'c', 'B:9']) await temp.put(name, name);
    await temp.put('b:3', 1, { importance: 'low' });
    await temp.put('gone', 1);
    await temp.remove('gone');
    await temp.put('b:theirs', 1, { agentId: other });
  });

  test('G8 pages in key order, with the number of all that match and no values', () => {
    expect(list()).toEqual({ keys: ['B:9', 'a', 'b', 'b:1', 'b:2', 'b:3', 'c'], total: 7 });
    expect(list({ page: 2, perPage: 3 })).toEqual({ keys: ['b:1', 'b:2', 'b:3'], total: 7 });
    expect(list({ page: 4, perPage: 3 })).toEqual({ keys: [], total: 7 });
    expect(temp.ledger.list({ agentId: agent, page: 1, perPage: 1 }).entries[0]).not.toHaveProperty('value');
  });

  test('G8 a prefix is text, not a pattern, and an importance is exactly that one', () => {
    expect(list({ prefix: 'b' })).toEqual({ keys: ['b', 'b:1', 'b:2', 'b:3'], total: 4 });
    expect(list({ prefix: 'b:' }).total).toBe(3);
    expect(list({ prefix: 'b%' }).total).toBe(0);
    expect(list({ prefix: '_' }).total).toBe(0);
    expect(list({ importance: 'low' })).toEqual({ keys: ['b:3'], total: 1 });
    expect(list({ importance: 'normal' }).total).toBe(6);
    expect(list({ importance: 'normal', prefix: 'b:', perPage: 1, page: 2 })).toEqual({ keys: ['b:2'], total: 2 });
    expect(list({ importance: 'critical' })).toEqual({ keys: [], total: 0 });
  });
});

test('G8 G9 a page and its total cost what the page has, however many keys and versions there are', async () => {
  const cost = async (keys: number): Promise<number> => {
    for (let number = 0; number < keys; number += 1) await temp.put(`k${number}`, number);
    const before = temp.db.counters.rowsRead;
    temp.ledger.list({ agentId: agent, page: 1, perPage: 20 });
    temp.ledger.list({ agentId: agent, page: 1, perPage: 20, importance: 'normal' });
    temp.ledger.context({ agentId: agent, limit: 20 });
    temp.ledger.usage(agent);
    temp.ledger.get(agent, key('k1'));
    return temp.db.counters.rowsRead - before;
  };
  const few = await cost(40);
  expect(await cost(400)).toBe(few);
});

describe('context', () => {
  test('G9 by importance, then newest, then key; the floor leaves out what is less important', async () => {
    for (const [name, importance] of [
      ['n2', 'normal'],
      ['n1', 'normal'],
      ['old', 'critical'],
      ['low', 'low'],
    ] as const)
      await temp.put(name, name, { importance });
    temp.clock.advance(1_000);
    for (const name of ['new', 'high'])
      await temp.put(name, name, { importance: name === 'new' ? 'critical' : 'high' });
    const context = (limit: number, importance?: 'critical' | 'high' | 'normal' | 'low') =>
      temp.ledger.context({ agentId: agent, limit, importance }).map((entry) => entry.key);
    expect(context(50)).toEqual(['new', 'old', 'high', 'n1', 'n2', 'low']);
    expect(context(3)).toEqual(['new', 'old', 'high']);
    expect(context(50, 'high')).toEqual(['new', 'old', 'high']);
    expect(context(50, 'critical')).toEqual(['new', 'old']);
    await temp.put('old', 'again', { importance: 'low' });
    expect(context(50, 'critical')).toEqual(['new']);
    expect(temp.ledger.context({ agentId: agent, limit: 1 })).toMatchObject([{ key: 'new', value: 'new' }]);
    expect(temp.ledger.context({ agentId: other, limit: 5 })).toEqual([]);
  });
});

test('G10 usage counts latest-live bytes, and beside them all that was ever written', async () => {
  expect(temp.ledger.usage(agent)).toEqual({ ops: 0, bytes: 0, live_keys: 0, ledger_rows: 0, ledger_bytes: 0 });
  await temp.put('a', 'x'.repeat(98));
  await temp.put('a', 'x');
  await temp.put('b', 'é', { importance: 'low' });
  const { usage } = await temp.put('c', 12345);
  expect(usage).toEqual({ ops: 4, bytes: 3 + 4 + 5, live_keys: 3, ledger_rows: 4, ledger_bytes: 100 + 3 + 4 + 5 });
  await temp.remove('b');
  await temp.put('a', null, { importance: 'critical' });
  expect(temp.ledger.usage(agent)).toEqual({ ops: 6, bytes: 4 + 5, live_keys: 2, ledger_rows: 6, ledger_bytes: 116 });
  expect(temp.ledger.usage(other).ops).toBe(0);
});

describe('plans', () => {
  const usesIndex = (sql: string, index: string): void => {
    const plan = temp.db.explain(sql.replaceAll('?', '1')).join('\n');
    expect(plan).toContain(index);
    // `p` is the page itself, found by the index and joined row by row.
    expect(plan).not.toMatch(/SCAN (?!p\b)/);
    expect(plan).not.toContain('TEMP B-TREE');
  };

  test.each([
    ['list', headQueries.list, 'COVERING INDEX ledger_heads_live'],
    ['list of an importance', headQueries.listOfImportance, 'COVERING INDEX ledger_heads_by_importance'],
    ['count', headQueries.count, 'COVERING INDEX ledger_heads_live'],
    ['count of an importance', headQueries.countOfImportance, 'COVERING INDEX ledger_heads_by_importance'],
    ['context', headQueries.context, 'ledger_heads_in_context'],
    ['due', headQueries.due, 'ledger_heads_due'],
    ['ended', headQueries.ended, 'COVERING INDEX ledger_heads_ending'],
    ['keys', headQueries.keys, 'sqlite_autoindex_ledger_heads_1'],
    ['unindexed', headQueries.unindexed, 'INTEGER PRIMARY KEY'],
    ['at a moment', versionQueries.atMoment, 'ledger_versions_by_moment'],
    ['history', versionQueries.before, 'sqlite_autoindex_ledger_versions_1'],
  ])('G8 G9 G31 %s is read by its index, in its order', (_, sql, index) => {
    if (sql === headQueries.ended) expect(temp.db.explain(sql.replaceAll('?', '1')).join('\n')).toContain(index);
    else usesIndex(sql, index);
  });
});
