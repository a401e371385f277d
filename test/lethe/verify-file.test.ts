import { readFileSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { letheMigrations } from '../../src-main/lethe/migrations/migrations.ts';
import { startTablesCheck } from '../../src-main/lethe/verify/tables-check.ts';
import type { Connection } from '../../src-main/sqlite/driver.ts';
import { openStoreReadOnly } from '../../src-main/sqlite/open.ts';
import { seededRandom } from '../fuzz/random.ts';
import { addAs, type HistoryBuilder, projectId, type TempLethe } from '../support/history-builder.ts';
import { verifying } from './seal-stage.ts';
import { branch, everything } from './verify-stage.ts';

let temp: TempLethe;
let history: HistoryBuilder;

beforeEach(async () => {
  ({ temp, history } = await everything());
  for (const n of [1, 2, 3]) await history.commit(branch, [addAs(`last ${n}`, `the last ${n}`)]);
  while (await temp.lethe.maintain());
  await verifying(temp, history.project, { signedBy: 'second' });
});
afterEach(() => temp.remove());

/** Every row of the tables that a verification answers for, as SQLite reads it; undefined when it cannot. */
function dump(path: string): string | undefined {
  const db = new Database(path, { readonly: true });
  try {
    const tables = db
      .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB '*_*' ORDER BY name")
      .pluck()
      .all()
      .filter((name) => /^(memory|text)_/.test(name) && name !== 'text_postings' && name !== 'text_index');
    const rows = tables.map((table) => [table, db.prepare(`SELECT * FROM ${table}`).raw().all()]);
    const checked = tables.map((table) => db.pragma(`integrity_check("${table}")`));
    const schema = db.prepare('SELECT * FROM sqlite_schema').raw().all();
    return JSON.stringify([rows, checked, schema]);
  } catch {
    return undefined;
  } finally {
    db.close();
  }
}

const schemaOf = (text: string | undefined): string => (text === undefined ? '' : JSON.stringify(JSON.parse(text)[2]));

/** Whether both projects verify in the file as it is now. */
async function isSound(): Promise<boolean> {
  let db: Connection | undefined;
  try {
    db = openStoreReadOnly(temp.path, letheMigrations);
    const file = { db, path: temp.path };
    return (await verifying(file, history.project)).ok && (await verifying(file, projectId('other'))).ok;
  } catch {
    // A file that cannot be opened, or read, says so.
    return false;
  } finally {
    db?.close();
  }
}

test('L303 L304 a flipped byte of the file is found, whichever it is, unless nothing reads otherwise for it', async () => {
  temp.lethe.close();
  const sound = readFileSync(temp.path);
  const before = dump(temp.path);
  const random = seededRandom(7);
  let found = 0;
  for (let tries = 0; tries < 60; tries += 1) {
    // The first page says what tables there are: without it no file is opened.
    let at = 0;
    while (at < 4_096 || sound[at] === 0) at = random.below(sound.length);
    const bytes = Buffer.from(sound);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
    writeFileSync(temp.path, bytes);
    const after = dump(temp.path);
    // What the schema says is read before any row is.
    const isOther = after === undefined || (after !== before && schemaOf(after) === schemaOf(before));
    const ok = await isSound();
    if (!ok) found += 1;
    expect([at, ok && isOther]).toEqual([at, false]);
  }
  expect(found).toBeGreaterThan(15);
  writeFileSync(temp.path, sound);
  expect(await isSound()).toBe(true);
});

/** Changes the file under the schema, as a damaged disk might. */
function tamper(...statements: readonly string[]): void {
  const raw = new Database(temp.path);
  raw.unsafeMode(true);
  for (const statement of statements) raw.exec(statement);
  raw.close();
}

test('L304 an index entry that is not that of its row is found, here or in a thread of its own', async () => {
  temp.lethe.close();
  const index = 'memory_touches_by_memory_chain';
  const raw = new Database(temp.path);
  const sql = raw.prepare<[string], string>('SELECT sql FROM sqlite_schema WHERE name = ?').pluck().get(index);
  raw.close();
  // While the index is one of no row at all, a row of it is changed; then it is what it was before.
  const rename = (to: string): string =>
    `PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = '${to}' WHERE name = '${index}'; PRAGMA writable_schema = RESET`;
  tamper(rename(`CREATE INDEX ${index} ON memory_touches (memory, chain, key) WHERE key < 0`));
  tamper(
    'UPDATE memory_touches SET key = key + 1 WHERE key = (SELECT max(key) FROM memory_touches WHERE key <> memory)',
  );
  tamper(rename(sql ?? ''));
  const db = openStoreReadOnly(temp.path, letheMigrations);
  const file = { path: temp.path, busyTimeoutMs: 1_000 };
  const sound = { where: 'table memory_touches', problem: expect.stringContaining(index) };
  try {
    for (const bytesMax of [0, 8_000_000]) {
      const check = startTablesCheck((chunk) => chunk(db), file, bytesMax);
      expect([bytesMax, (await check.found).list]).toEqual([bytesMax, expect.arrayContaining([sound])]);
      await check.stop();
    }
    expect((await verifying({ db, path: temp.path }, history.project)).ok).toBe(false);
  } finally {
    db.close();
  }
});

test('L304 a verification that ends before does not wait for the thread', async () => {
  const check = startTablesCheck((chunk) => chunk(temp.db), { path: temp.path, busyTimeoutMs: 1_000 }, 0);
  await check.stop();
  await expect(check.found).rejects.toThrow('could not be looked over');
});
