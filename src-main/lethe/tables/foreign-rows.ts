import type { SqlValue } from '../../sqlite/driver.ts';
import type { ForeignDb } from '../../sqlite/foreign.ts';
import type { ForeignTable } from '../rules/foreign-columns.ts';

/** A row as SQLite gives it: nothing is believed of it yet. */
export type RawRow = Readonly<Record<string, unknown>>;

/** The key of a row, in the order of the table's key columns. */
export type ForeignKey = readonly SqlValue[];

/** How many rows a table has. */
export function countForeignRows(db: ForeignDb, table: ForeignTable): number {
  return db.query<[], { count: number }>(`SELECT count(*) AS count FROM ${table.name}`).get()?.count ?? 0;
}

/** The key of a row in which some value is larger than its bound: asked before any value is read. */
export function findOversized(db: ForeignDb, table: ForeignTable, columns: readonly string[]): RawRow | undefined {
  const tests = columns.map((name) => `octet_length(${name}) > ${table.columns[name]?.bytesMax ?? 0}`);
  return db
    .query<[], RawRow>(`SELECT ${table.key.join(', ')} FROM ${table.name} WHERE ${tests.join(' OR ')} LIMIT 1`)
    .get();
}

/** Rows after a key, in the order of the key, at most `limit`. */
export function listForeignRows(
  db: ForeignDb,
  table: ForeignTable,
  columns: readonly string[],
  after: ForeignKey,
  limit: number,
): readonly RawRow[] {
  const key = table.key.join(', ');
  const marks = table.key.map(() => '?').join(', ');
  return db
    .query<SqlValue[], RawRow>(
      `SELECT ${columns.join(', ')} FROM ${table.name} WHERE (${key}) > (${marks}) ORDER BY ${key} LIMIT ${limit}`,
    )
    .all(...after);
}

/** The ops of one changeset, in their order. One more than `limit` are asked for, so that too many are seen. */
export function listForeignOps(
  db: ForeignDb,
  table: ForeignTable,
  columns: readonly string[],
  changesetId: string,
  limit: number,
): readonly RawRow[] {
  return db
    .query<[string], RawRow>(
      `SELECT ${columns.join(', ')} FROM ${table.name} WHERE changeset_id = ? ORDER BY ordinal LIMIT ${limit + 1}`,
    )
    .all(changesetId);
}

/** One row by its key. */
export function findForeignRow(
  db: ForeignDb,
  table: ForeignTable,
  columns: readonly string[],
  key: ForeignKey,
): RawRow | undefined {
  const tests = table.key.map((name) => `${name} = ?`).join(' AND ');
  return db.query<SqlValue[], RawRow>(`SELECT ${columns.join(', ')} FROM ${table.name} WHERE ${tests}`).get(...key);
}
