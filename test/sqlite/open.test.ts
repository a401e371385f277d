import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Fault } from '../../src-main/base/fault.ts';
import { connect } from '../../src-main/sqlite/driver.ts';
import { closeStore, openStore, openStoreReadOnly } from '../../src-main/sqlite/open.ts';
import { ConstraintBroken } from '../../src-main/sqlite/store-fault.ts';

const clock = { nowMs: () => Date.UTC(2026, 0, 2) };
const first = { name: 'test_0001', sql: 'CREATE TABLE a (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;' };
const second = { name: 'test_0002', sql: 'CREATE TABLE b (id INTEGER PRIMARY KEY) STRICT;' };

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'memory-git-open-'));
  path = join(folder, 'test.db');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const faultOf = (work: () => unknown): Fault => {
  try {
    work();
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown;
    throw thrown;
  }
  throw new Error('nothing was refused');
};

describe('opening', () => {
  test('S1 a store is durable, checked and reads its settings back', () => {
    const connection = openStore(path, [first], clock);
    expect(
      ['journal_mode', 'synchronous', 'foreign_keys', 'trusted_schema'].map((name) => connection.pragma(name)),
    ).toEqual(['wal', 2, 1, 0]);
    connection.close();
  });

  test('S1 a store that cannot have WAL is refused', () => {
    expect(faultOf(() => openStore(':memory:', [first], clock)).code).toBe('STORE_UNAVAILABLE');
  });

  test('S7 what a savepoint sets aside is kept in memory, in no file', () => {
    // Other systems do not list the open files of a process: there nothing is compared.
    const openFiles = (): readonly string[] =>
      (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd') : []).flatMap((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`);
        } catch {
          return [];
        }
      });
    const connection = openStore(path, [first], clock);
    const insert = connection.command<[number, string]>('INSERT INTO a (id, name) VALUES (?, ?)');
    for (let id = 0; id < 500; id += 1) insert.run(id, `${id} ${'x'.repeat(400)}`);
    const before = openFiles();
    connection.exec('BEGIN IMMEDIATE');
    connection.savepoint(() => {
      connection.exec("UPDATE a SET name = name || 'y'");
      expect(openFiles().filter((file) => !before.includes(file))).toEqual([]);
    });
    connection.exec('COMMIT');
    connection.close();
  });

  test('S2 migrations apply once, in order, with their record', () => {
    openStore(path, [first], clock).close();
    const connection = openStore(path, [first, second], clock);
    expect(
      connection
        .query<[], { name: string; applied_at: string }>('SELECT name, applied_at FROM schema_versions ORDER BY name')
        .all(),
    ).toEqual([
      { name: 'test_0001', applied_at: '2026-01-02T00:00:00Z' },
      { name: 'test_0002', applied_at: '2026-01-02T00:00:00Z' },
    ]);
    connection.close();
  });

  test('S2 a failing migration leaves neither tables nor record', () => {
    const broken = { name: 'test_0002', sql: 'CREATE TABLE c (id INTEGER) STRICT; INSERT INTO nowhere VALUES (1);' };
    expect(() => openStore(path, [first, broken], clock)).toThrow();
    const connection = openStore(path, [first], clock);
    expect(
      connection.query<[], { name: string }>("SELECT name FROM sqlite_schema WHERE name = 'c'").get(),
    ).toBeUndefined();
    connection.close();
  });

  test('S3 a database of a newer version is refused, untouched', () => {
    closeStore(openStore(path, [first, second], clock));
    const before = readFileSync(path);
    const fault = faultOf(() => openStore(path, [first], clock));
    expect([fault.code, fault.data.unknown]).toEqual(['HOME_INVALID', 'test_0002']);
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test('S4 a read-only opening writes nothing and refuses an older schema', () => {
    closeStore(openStore(path, [first], clock));
    const before = readFileSync(path);
    const reader = openStoreReadOnly(path, [first]);
    expect(faultOf(() => reader.exec("INSERT INTO a (name) VALUES ('x')")).code).toBe('READ_ONLY');
    reader.close();
    expect(faultOf(() => openStoreReadOnly(path, [first, second])).data.missing).toBe('test_0002');
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test('S4 a read-only opening of a file that is not there is refused and creates nothing', () => {
    expect(faultOf(() => openStoreReadOnly(join(folder, 'absent.db'), [first])).code).toBe('STORE_UNAVAILABLE');
    expect(() => statSync(join(folder, 'absent.db'))).toThrow();
  });

  test('S5 the files are their owner’s alone', () => {
    const connection = openStore(path, [first], clock);
    for (const file of [path, `${path}-wal`, `${path}-shm`]) expect(statSync(file).mode & 0o777).toBe(0o600);
    connection.close();
  });

  test('S6 errors leave as faults without SQLite’s text; constraints are told apart', () => {
    const connection = openStore(path, [first], clock);
    connection.exec("INSERT INTO a (name) VALUES ('secret-name')");
    expect(() => connection.exec("INSERT INTO a (name) VALUES ('secret-name')")).toThrow(ConstraintBroken);
    connection.close();
    const garbage = join(folder, 'garbage.db');
    connect(garbage, { readOnly: false, mustExist: false }).close();
    const fault = faultOf(() => openStore(folder, [first], clock));
    expect(fault.code).toBe('STORE_UNAVAILABLE');
    expect(fault.message).not.toContain(folder);
  });
});
