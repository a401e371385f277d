import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { checkFile, type FileCheck } from '../../src-main/sqlite/check-file.ts';
import { connect } from '../../src-main/sqlite/driver.ts';
import { tempFolder } from '../support/temp-home.ts';

/** What is found in a small database after somebody worked on it. */
async function lookOver(damage: (db: DatabaseSync) => void): Promise<FileCheck> {
  const path = join(tempFolder(), 'a.db');
  // The driver of the product keeps even its owner from damaging a schema or a shadow table.
  const db = new DatabaseSync(path);
  db.exec(`
    CREATE TABLE parents (id INTEGER PRIMARY KEY, name TEXT NOT NULL CHECK (name <> ''), other TEXT);
    CREATE INDEX parents_by_name ON parents (name);
    CREATE TABLE "odd "" name" (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parents (id));
    CREATE VIRTUAL TABLE texts USING fts5 (text);
    INSERT INTO parents VALUES (1, 'secret one', 'x'), (2, 'secret two', 'y');
    INSERT INTO "odd "" name" VALUES (7, 1);
    INSERT INTO texts VALUES ('secret three');
  `);
  db.exec('PRAGMA foreign_keys = OFF');
  damage(db);
  db.close();
  const again = connect(path, { readOnly: true, mustExist: true });
  try {
    return await checkFile((chunk) => chunk(again));
  } finally {
    again.close();
  }
}

test('S30 a whole file has no findings, and every table of it was looked over', async () => {
  const { checked, findings } = await lookOver(() => {});
  expect(findings).toEqual([]);
  expect(checked).toBeGreaterThanOrEqual(7);
});

test.each<readonly [string, (db: DatabaseSync) => void, string, RegExp]>([
  [
    'an index that is not that of its table',
    (db) => {
      db.exec('PRAGMA writable_schema = ON');
      db.exec(
        "UPDATE sqlite_schema SET sql = 'CREATE INDEX parents_by_name ON parents (other)' WHERE name = 'parents_by_name'",
      );
    },
    'table parents',
    /parents_by_name/,
  ],
  [
    'a reference to nothing',
    (db) => db.exec('DELETE FROM parents WHERE id = 1'),
    'table odd " name',
    /^row 7 refers to a row that parents does not have$/,
  ],
  [
    'a full-text index that does not hold',
    (db) => db.exec('DELETE FROM texts_data WHERE id > 100'),
    'table texts',
    /texts/,
  ],
])('S30 %s is found, without a word of content', async (_, damage, where, problem) => {
  const { findings } = await lookOver(damage);
  expect(findings).toContainEqual({ where, problem: expect.stringMatching(problem) });
  expect(JSON.stringify(findings)).not.toContain('secret');
});
