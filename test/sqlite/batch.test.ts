import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AssertionFailed } from '../../src-main/base/assert.ts';
import { Fault } from '../../src-main/base/fault.ts';
import { type Batch, batchVerbsMax, createBatch } from '../../src-main/sqlite/batch.ts';
import { type Connection, connect } from '../../src-main/sqlite/driver.ts';
import { closeStore, openStore } from '../../src-main/sqlite/open.ts';

const clock = { nowMs: () => Date.UTC(2026, 0, 2) };
const schema = [
  {
    name: 'test_0001',
    sql: `CREATE TABLE parent (id INTEGER PRIMARY KEY) STRICT;
          CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL, parent INTEGER REFERENCES parent(id) DEFERRABLE INITIALLY DEFERRED) STRICT;`,
  },
];

let folder: string;
let connection: Connection;
let published: string[][];
let nowMs: number;
let batch: Batch<string>;

const addNote = (text: string, parent: number | null = null) =>
  batch.write((db, emit) => {
    emit(text);
    return db.command<[string, number | null]>('INSERT INTO note (text, parent) VALUES (?, ?)').run(text, parent)
      .lastInsertRowid;
  });
const notes = (): string[] =>
  connection
    .query<[], { text: string }>('SELECT text FROM note ORDER BY id')
    .all()
    .map((row) => row.text);
const codeOf = async (promise: Promise<unknown>): Promise<string> => {
  try {
    await promise;
  } catch (thrown) {
    return thrown instanceof Fault ? thrown.code : String(thrown instanceof Error ? thrown.name : thrown);
  }
  return 'no refusal';
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'memory-git-batch-'));
  connection = openStore(join(folder, 'test.db'), schema, clock);
  published = [];
  nowMs = 0;
  batch = createBatch<string>(connection, {
    onCommitted: (events) => published.push([...events]),
    monotonicMs: () => nowMs,
    random: () => 0,
  });
});
afterEach(() => {
  connection.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('batches', () => {
  test('S10 verbs of one tick share a transaction and settle after it is durable', async () => {
    const other = connect(join(folder, 'test.db'), { readOnly: true, mustExist: true });
    const seenAtSettle: number[] = [];
    const count = () => other.query<[], { n: number }>('SELECT count(*) AS n FROM note').get()?.n ?? -1;
    await Promise.all(['a', 'b', 'c'].map((text) => addNote(text).then(() => seenAtSettle.push(count()))));
    expect(seenAtSettle).toEqual([3, 3, 3]);
    expect(published).toEqual([['a', 'b', 'c']]);
    other.close();
  });

  test('S11 a verb that throws takes back its own writes and events only', async () => {
    const failing = batch.write((db, emit) => {
      emit('lost');
      db.command<[string]>('INSERT INTO note (text) VALUES (?)').run('lost');
      throw new Fault('INPUT_INVALID', 'text: no');
    });
    const results = await Promise.allSettled([addNote('before'), failing, addNote('after')]);
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await codeOf(failing)).toBe('INPUT_INVALID');
    expect(notes()).toEqual(['before', 'after']);
    expect(published).toEqual([['before', 'after']]);
  });

  test('S12 a batch ends at 64 verbs', async () => {
    await Promise.all(Array.from({ length: batchVerbsMax + 5 }, (_, index) => addNote(`n${index}`)));
    expect(published.map((events) => events.length)).toEqual([batchVerbsMax, 5]);
  });

  test('S13 a batch ends after 20 ms', async () => {
    const slow = (text: string) =>
      batch.write((_db, emit) => {
        nowMs += 15;
        emit(text);
      });
    await Promise.all(['a', 'b', 'c'].map(slow));
    expect(published).toEqual([['a', 'b'], ['c']]);
  });

  test('S14 a full disk inside a savepoint: what fits is kept, the rest is refused, nothing is half there', async () => {
    const pages = Number(connection.pragma('page_count'));
    connection.pragma(`max_page_count = ${pages + 6}`);
    const big = 'x'.repeat(60_000);
    const results = await Promise.allSettled([addNote('small 1'), addNote(big), addNote('small 2')]);
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const refused = results[1];
    expect(refused?.status === 'rejected' && refused.reason instanceof Fault && refused.reason.code).toBe('DISK_FULL');
    expect(notes().toSorted()).toEqual(['small 1', 'small 2']);
    expect(published.flat().toSorted()).toEqual(['small 1', 'small 2']);
    connection.pragma('max_page_count = 1000000');
    await addNote('again');
    expect(notes()).toContain('again');
    expect(connection.pragma('integrity_check')).toBe('ok');
  });

  test('S14 a transaction dropped by SQLite: every verb runs again alone', async () => {
    const runs: string[] = [];
    const once = (text: string) =>
      batch.write((db) => {
        runs.push(text);
        db.command<[string]>('INSERT INTO note (text) VALUES (?)').run(text);
      });
    const dropping = () =>
      batch.write(() => {
        runs.push('dropping');
        if (runs.filter((run) => run === 'dropping').length === 1) connection.exec('ROLLBACK');
        throw new Fault('DISK_FULL', 'The disk is full.');
      });
    const results = await Promise.allSettled([once('a'), dropping(), once('b')]);
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(runs).toEqual(['a', 'dropping', 'a', 'dropping', 'b']);
    expect(notes()).toEqual(['a', 'b']);
  });

  test('S15 a COMMIT that fails rejects every verb and leaves nothing', async () => {
    const results = await Promise.allSettled([addNote('fine'), addNote('orphan', 4711)]);
    expect(results.map((result) => result.status)).toEqual(['rejected', 'rejected']);
    expect(notes()).toEqual([]);
    expect(published).toEqual([]);
    expect(connection.inTransaction).toBe(false);
    await addNote('next');
    expect(notes()).toEqual(['next']);
  });

  test('S16 events go out after the commit, in the order of the verbs', async () => {
    const seen: number[] = [];
    const watching = createBatch<string>(connection, {
      onCommitted: () => void seen.push(connection.inTransaction ? -1 : notes().length),
      monotonicMs: () => 0,
    });
    const write = (text: string) =>
      watching.write((db, emit) => {
        emit(text);
        db.command<[string]>('INSERT INTO note (text) VALUES (?)').run(text);
      });
    await Promise.all([write('a'), write('b')]);
    expect(seen).toEqual([2]);
  });

  test('S17 a verb that awaits is refused and undone', async () => {
    const awaiting = batch.write(async (db) => {
      db.command<[string]>('INSERT INTO note (text) VALUES (?)').run('half');
    });
    await expect(awaiting).rejects.toBeInstanceOf(AssertionFailed);
    expect(notes()).toEqual([]);
  });

  test('S18 closing runs what waits, then refuses', async () => {
    const waiting = addNote('last');
    batch.close();
    await waiting;
    expect(notes()).toEqual(['last']);
    expect(await codeOf(addNote('too late'))).toBe('CLOSED');
  });

  test('S19 nested savepoints undo exactly their own part', async () => {
    await batch.write((db) => {
      const insert = db.command<[string]>('INSERT INTO note (text) VALUES (?)');
      insert.run('outer');
      expect(() =>
        db.savepoint(() => {
          insert.run('inner');
          throw new Error('undo the inner one');
        }),
      ).toThrow('undo the inner one');
      db.savepoint(() => insert.run('second inner'));
    });
    expect(notes()).toEqual(['outer', 'second inner']);
  });

  test('S22 a database held by another process refuses what waits after five more tries, each later than the one before', async () => {
    const holder = connect(join(folder, 'test.db'), { readOnly: false, mustExist: true });
    holder.exec('BEGIN IMMEDIATE');
    connection.pragma('busy_timeout = 1');
    const startedMs = performance.now();
    const first = [codeOf(addNote('a')), codeOf(addNote('b'))];
    const later = new Promise((resolve) => setTimeout(resolve, 60)).then(() => codeOf(addNote('c')));
    expect(await Promise.all([...first, later])).toEqual(['STORE_BUSY', 'STORE_BUSY', 'STORE_BUSY']);
    expect(performance.now() - startedMs).toBeGreaterThan(25 + 50 + 100 + 200 + 400 - 10);
    expect(batch.busyRetries()).toBe(5);
    expect(published).toEqual([]);
    holder.exec('ROLLBACK');
    holder.close();
    await addNote('d');
    expect(notes()).toEqual(['d']);
    expect(batch.busyRetries()).toBe(5);
  });

  test('S22 a lock that another process lets go meanwhile is waited for, and others go on', async () => {
    const path = join(folder, 'test.db');
    const source = `
      const Database = require('better-sqlite3');
      const db = new Database(process.argv[1]);
      db.exec('BEGIN IMMEDIATE');
      process.stdout.write('held');
      process.stdin.once('data', () => { db.exec('ROLLBACK'); db.close(); process.exit(0); });`;
    const holder = spawn(process.execPath, ['-e', source, path], { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(holder.stdout, 'data');
    connection.pragma('busy_timeout = 1');
    const waiting = Promise.all([addNote('a'), addNote('b')]);
    while (batch.busyRetries() < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(notes()).toEqual([]);
    holder.stdin.write('go');
    await once(holder, 'exit');
    await waiting;
    expect(notes()).toEqual(['a', 'b']);
    expect(published).toEqual([['a', 'b']]);
    expect(batch.busyRetries()).toBeLessThanOrEqual(5);
  });

  test('S22 closing while somebody else holds the database refuses at once', async () => {
    const holder = connect(join(folder, 'test.db'), { readOnly: false, mustExist: true });
    holder.exec('BEGIN IMMEDIATE');
    connection.pragma('busy_timeout = 1');
    const refused = codeOf(addNote('a'));
    while (batch.busyRetries() < 1) await new Promise((resolve) => setTimeout(resolve, 1));
    batch.close();
    expect(await refused).toBe('STORE_BUSY');
    expect(await codeOf(addNote('b'))).toBe('CLOSED');
    holder.exec('ROLLBACK');
    holder.close();
  });
});

describe('reading', () => {
  test('S20 a reading transaction sees one state', async () => {
    const reader = connect(join(folder, 'test.db'), { readOnly: true, mustExist: true });
    const count = () => reader.query<[], { n: number }>('SELECT count(*) AS n FROM note').get()?.n;
    const writer = connect(join(folder, 'test.db'), { readOnly: false, mustExist: true });
    reader.reading(() => {
      expect(count()).toBe(0);
      writer.exec("INSERT INTO note (text) VALUES ('meanwhile')");
      expect(count()).toBe(0);
    });
    expect(count()).toBe(1);
    writer.close();
    reader.close();
  });

  test('S21 the counters count rows handed out', async () => {
    await Promise.all(['a', 'b', 'c'].map((text) => addNote(text)));
    const before = connection.counters.rowsRead;
    notes();
    connection.query<[], { id: number }>('SELECT id FROM note LIMIT 1').get();
    for (const _row of connection.query<[], { id: number }>('SELECT id FROM note').iterate()) break;
    expect(connection.counters.rowsRead - before).toBe(3 + 1 + 1);
    closeStore(connection);
  });
});
