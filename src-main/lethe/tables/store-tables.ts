import type { ReadableDb } from '../../sqlite/driver.ts';

/** The tables of the store in its file, which other stores share. */
export function listStoreTables(db: ReadableDb): readonly string[] {
  return db
    .query<[], { name: string }>(
      `SELECT name FROM sqlite_schema WHERE type = 'table'
         AND (name GLOB 'memory_*' OR name GLOB 'lethe_*' OR name GLOB 'text_*') ORDER BY name`,
    )
    .all()
    .map((row) => row.name);
}

/** What SQLite finds about a table and its indexes, or about a full-text index; empty when nothing. One statement, however large it is. */
export function checkStoreTable(db: ReadableDb, table: string): readonly string[] {
  return db
    .query<[], { integrity_check: string }>(`PRAGMA integrity_check("${table}")`)
    .all()
    .map((row) => row.integrity_check)
    .filter((said) => said !== 'ok');
}
