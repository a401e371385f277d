import type { Findings } from '../../base/findings.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';

/** The full-text index among the tables. */
export const textIndexTable = 'text_index';
/** Rows of one table that are told; the rest of them is damage of the same kind. */
const rowsTold = 20;

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

/**
 * Has SQLite compare a table with each of its indexes, entry by entry, and look over every page of them (`L304`); of the full-text index it
 * compares terms, lists and the ways to them. Its words name tables, indexes and rows and never hold content.
 */
export function verifyTable(db: ReadableDb, table: string, findings: Pick<Findings, 'add'>): void {
  const where = `table ${table}`;
  try {
    const rows = db.query<[], { integrity_check: string }>(`PRAGMA integrity_check("${table}")`).all();
    for (const { integrity_check: said } of rows.slice(0, rowsTold)) if (said !== 'ok') findings.add(where, said);
  } catch {
    findings.add(where, 'it cannot be read: the file is damaged');
  }
}
