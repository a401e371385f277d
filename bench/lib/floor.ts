import { closeSync, fdatasyncSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { Contestant } from './measure.ts';
import { pick, type Random, textOf } from './texts.ts';

/** A contestant that holds something open. */
export interface OpenContestant extends Contestant {
  close(): void;
}

const syncedBytes = 12 * 1024;
const preallocatedBytes = 16 * 1024 * 1024;

/** How often this disk makes 12 KiB durable: overwritten in a preallocated file, then `fdatasync`. */
export function syncFloor<Name extends string>(name: Name, folder: string): OpenContestant & { readonly name: Name } {
  const file = openSync(join(folder, 'floor.bin'), 'w');
  writeSync(file, Buffer.alloc(preallocatedBytes, 1));
  fsyncSync(file);
  const block = Buffer.alloc(syncedBytes, 2);
  let at = 0;
  return {
    name,
    workers: 1,
    once: () => {
      writeSync(file, block, 0, syncedBytes, at);
      fdatasyncSync(file);
      at = (at + syncedBytes) % (preallocatedBytes - syncedBytes);
    },
    close: () => closeSync(file),
  };
}

function openPlain(file: string): Database.Database {
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec('CREATE TABLE memories (id INTEGER PRIMARY KEY, body TEXT NOT NULL)');
  return db;
}

/** What SQLite itself needs at the same durability: one row of 200 bytes in a plain table, one transaction each. */
export function insertFloor<Name extends string>(name: Name, folder: string): OpenContestant & { readonly name: Name } {
  const db = openPlain(join(folder, 'plain-inserts.db'));
  const insert = db.prepare('INSERT INTO memories (body) VALUES (?)');
  let count = 0;
  return {
    name,
    workers: 1,
    once: () => {
      count += 1;
      insert.run(textOf(count));
    },
    close: () => db.close(),
  };
}

/** What SQLite itself needs to read `count` rows by their primary keys, in one transaction, out of `rows` such rows. */
export function readFloor<Name extends string>(
  name: Name,
  folder: string,
  { rows, count, random }: { readonly rows: number; readonly count: number; readonly random: Random },
): OpenContestant & { readonly name: Name } {
  const db = openPlain(join(folder, `plain-reads-${rows}-${count}.db`));
  const insert = db.prepare('INSERT INTO memories (id, body) VALUES (?, ?)');
  db.transaction(() => {
    for (let id = 1; id <= rows; id += 1) insert.run(id, textOf(id));
  })();
  const read = db.prepare('SELECT id, body FROM memories WHERE id = ?');
  const readAll = db.transaction(() => {
    for (let done = 0; done < count; done += 1) read.get(1 + pick(random, rows));
  });
  return { name, workers: 1, once: () => readAll(), close: () => db.close() };
}
