import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AssertionFailed } from '../../src-main/base/assert.ts';
import { Fault } from '../../src-main/base/fault.ts';
import { openFindings } from '../../src-main/base/findings.ts';
import { indexTokens, memoryText } from '../../src-main/lethe/rules/segment.ts';
import { rebuildsMax } from '../../src-main/lethe/text-upkeep.ts';
import { verifyProjectText } from '../../src-main/lethe/text-verify.ts';
import { isDamage, openTextHealth } from '../../src-main/text/health.ts';
import {
  add,
  correct,
  type HistoryBuilder,
  historyBuilder,
  memoryIdOf,
  openTempLethe,
  refName,
  type TempLethe,
} from '../support/history-builder.ts';

const work = 'refs/agents/a/main';
const words = ['alpha', 'beta', 'gamma', 'delta', 'omega'] as const;
let temp: TempLethe;
let history: HistoryBuilder;

beforeEach(async () => {
  temp = openTempLethe();
  history = historyBuilder(temp);
  await history.init();
  await history.branch(work);
  for (let step = 0; step < 12; step += 1)
    await history.commit(
      work,
      words.map((word, index) => add(`${word} ${words[(index + step) % 5]} number ${step} of many words`)),
    );
  const made = await history.commit(work, [add('alpha to be changed')]);
  await history.commit(work, [correct(memoryIdOf(made), { content: 'omega instead' })]);
  await maintain();
});
afterEach(() => temp.remove());

/** Maintenance until it has nothing more to do; answers how many steps that took. */
async function maintain(): Promise<number> {
  let steps = 1;
  while (await temp.lethe.maintain()) steps += 1;
  return steps;
}

const question = () => ({ projectId: history.project, refName: refName(work) });

function search(query: string): readonly string[] {
  return temp.lethe.search({ ...question(), query, limit: 100 }).matches.map(({ memory }) => memory.memory_id);
}

/** What readers are told of every word, by search and by context. */
function told(): readonly unknown[] {
  return words.map((word) => [
    [...search(word)].sort(),
    temp.lethe.context({ ...question(), query: word, limit: 100 }).memories.map((memory) => memory.memory_id),
  ]);
}

/** Changes the tables below the index as a damaged disk or another program might: SQLite itself protects them. */
function damage(...statements: readonly string[]): void {
  const raw = new Database(temp.path);
  raw.unsafeMode(true);
  for (const statement of statements) raw.exec(statement);
  raw.close();
}

async function isSound(): Promise<boolean> {
  return (await temp.lethe.verifyChain(history.project)).ok;
}

describe('damage that the index shows', () => {
  test.each([
    ['its structure is gone', 'DELETE FROM text_index_data WHERE id = 10'],
    ['its pages are gone', 'DELETE FROM text_index_data WHERE id > 10'],
    ['its pages are empty', 'UPDATE text_index_data SET block = zeroblob(30) WHERE id > 10'],
    ['its pages are cut', 'UPDATE text_index_data SET block = substr(block, 1, 40) WHERE id > 10'],
  ])('L225 %s: readers get their answer, a commit is taken, and the index is made anew', async (_, statement) => {
    const before = told();
    damage(statement);
    expect(told()).toEqual(before);
    await history.commit(work, [add('beta as well')]);
    expect(search('beta as well')).toHaveLength(search('beta').length);
    const after = told();
    expect(await maintain()).toBeGreaterThan(1);
    expect(told()).toEqual(after);
    expect(await isSound()).toBe(true);
    expect(indexed('alpha')).toBeGreaterThan(0);
  });

  test('L225 a commit meets it first: indexing fails behind it, and the index is made anew', async () => {
    damage("UPDATE text_index_data SET block = x'ffffffff' WHERE id = 10");
    await history.commit(work, [add('beta once more')]);
    await maintain();
    expect(search('once more')).toHaveLength(1);
    expect(await isSound()).toBe(true);
  });

  test('L225 flipped bytes in the file itself are met after it is opened again, and mended', async () => {
    const before = told();
    const raw = new Database(temp.path, { readonly: true });
    const blocks = raw.prepare<[], { block: Buffer }>('SELECT block FROM text_index_data WHERE id > 10').all();
    raw.close();
    temp.lethe.close();
    const bytes = readFileSync(temp.path);
    const file = openSync(temp.path, 'r+');
    for (const { block } of blocks) {
      const at = bytes.indexOf(block.subarray(0, 64));
      expect(at).toBeGreaterThan(0);
      writeSync(file, Buffer.alloc(8, 0xff), 0, 8, at);
    }
    closeSync(file);
    temp = temp.reopen();
    history = historyBuilder(temp, 'demo', 'principal_00000000000000b2');
    expect(told()).toEqual(before);
    await maintain();
    expect(told()).toEqual(before);
    expect(await isSound()).toBe(true);
  });
});

/** Versions that the index itself finds for a word. */
function indexed(word: string): number {
  const raw = new Database(temp.path, { readonly: true });
  const found = raw
    .prepare<[string], { count: number }>('SELECT count(*) AS count FROM text_index WHERE text_index MATCH ?')
    .get(`"1w${word}"`);
  raw.close();
  return found?.count ?? 0;
}

/** What verification says of the index, asked so that nobody else hears of it. */
async function isSoundWithoutMending(): Promise<boolean> {
  const findings = openFindings();
  await verifyProjectText(
    (chunk) => temp.db.reading(() => chunk(temp.db)),
    history.project,
    findings,
    async () => {},
  );
  return findings.list.length === 0;
}

describe('damage that only the history contradicts', () => {
  test.each([
    ['a row is gone', 'DELETE FROM text_versions WHERE version % 3 = 0'],
    ['a row stands under another memory', 'UPDATE text_versions SET memory = memory + 1 WHERE version % 5 = 0'],
    ['its structure is empty', "UPDATE text_index_data SET block = x'ffffffff' WHERE id = 10"],
    [
      'it claims to hold more than it does',
      'UPDATE text_index_progress SET through = through - 65536 * 3; DELETE FROM text_versions WHERE version > (SELECT through FROM text_index_progress) - 65536',
    ],
  ])('L226 %s: the patrol finds it, and the index is made anew', async (_, statement) => {
    const before = told();
    damage(statement);
    expect(await maintain()).toBeGreaterThan(1);
    expect(told()).toEqual(before);
    expect(await isSound()).toBe(true);
  });

  test('L226 what verification finds is mended by the next maintenance', async () => {
    await history.commit(
      work,
      Array.from({ length: 150 }, (_, index) => add(`filler ${index}`)),
    );
    await maintain();
    const before = told();
    damage('DELETE FROM text_versions WHERE version IN (SELECT version FROM text_versions ORDER BY version LIMIT 5)');
    expect(await isSound()).toBe(false);
    // Known to be damaged, it is asked no more: readers have all of their answer at once.
    expect(told()).toEqual(before);
    await maintain();
    expect(told()).toEqual(before);
    expect(await isSound()).toBe(true);
  });

  test('L226 a single token that a state lacks is found within sixteen rounds', async () => {
    const row = temp.db
      .query<[], { version: number; key: number }>(
        'SELECT max(version) AS version, (SELECT project_key FROM text_projects) AS key FROM text_versions',
      )
      .get();
    const { version, key } = row ?? { version: 0, key: 0 };
    const memory = temp.db
      .query<[number], { memory: number }>('SELECT memory FROM text_versions WHERE version = ?')
      .get(version)?.memory;
    const tokens = [...indexTokens(memory ?? 0, memoryText({ content: 'omega instead' }))].map((one) => `${key}${one}`);
    const missing = `${key}winstead`;
    expect(tokens).toContain(missing);
    temp.db
      .command<[number, string]>(
        "INSERT INTO text_index (text_index, rowid, tokens) VALUES ('delete', CAST(? AS INTEGER), ?)",
      )
      .run(version, tokens.join(' '));
    temp.db
      .command<[number, string]>('INSERT INTO text_index (rowid, tokens) VALUES (CAST(? AS INTEGER), ?)')
      .run(version, tokens.filter((one) => one !== missing).join(' '));
    expect(await isSoundWithoutMending()).toBe(false);
    let found = 0;
    for (let step = 0; step < 2 * 16 && found === 0; step += 1) found += Number(await temp.lethe.maintain());
    expect(found).toBe(1);
    await maintain();
    expect(await isSoundWithoutMending()).toBe(true);
  });

  test('L226 a step of the patrol looks at a bounded stretch, asks for no other step, and goes round', async () => {
    const rows: number[] = [];
    for (let step = 0; step < 6; step += 1) {
      const before = temp.db.counters.rowsRead;
      expect(await temp.lethe.maintain()).toBe(false);
      rows.push(temp.db.counters.rowsRead - before);
    }
    expect(Math.max(...rows)).toBeLessThan(50 * 12);
    // 62 states: two stretches, again and again.
    expect(rows.slice(2, 4)).toEqual(rows.slice(4, 6));
  });
});

describe('damage that cannot be mended here', () => {
  test('L227 readers go without the index, commits are taken, and making it anew is given up after a few tries', async () => {
    const before = told();
    damage('DELETE FROM text_index_config');
    temp = temp.reopen();
    history = historyBuilder(temp, 'demo', 'principal_00000000000000b2');
    expect(told()).toEqual(before);
    for (let attempt = 0; attempt < rebuildsMax; attempt += 1) await expect(temp.lethe.maintain()).rejects.toThrow();
    expect(await temp.lethe.maintain()).toBe(false);
    expect(told()).toEqual(before);
    await history.commit(work, [add('a new word: epsilon')]);
    expect(search('epsilon')).toHaveLength(1);
    expect(await isSound()).toBe(false);
  });

  test('L225 what is no damage is told as it is: a store that is busy, a refusal, our own bug', () => {
    expect(isDamage(new Fault('INTEGRITY_MISMATCH', 'x'))).toBe(true);
    expect(isDamage(new Error('vtable constructor failed'))).toBe(true);
    for (const other of [new Fault('STORE_BUSY', 'x'), new Fault('CURSOR_INVALID', 'x'), new AssertionFailed('x'), 'x'])
      expect(isDamage(other)).toBe(false);
    const health = openTextHealth();
    health.noticeDamage();
    expect(health.isDamaged).toBe(true);
    health.noticeEmptied();
    expect(health.isDamaged).toBe(false);
  });
});
