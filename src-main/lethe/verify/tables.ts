import type { Findings } from '../../base/findings.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { checkStoreTable } from '../tables/store-tables.ts';

/** The full-text index among the tables. */
export const textIndexTable = 'text_index';
/** Rows of one table that are told; the rest of them is damage of the same kind. */
const rowsTold = 20;

/**
 * Has SQLite compare a table with each of its indexes, entry by entry, and look over every page of them (`L304`); of the full-text index it
 * compares terms, lists and the ways to them. Its words name tables, indexes and rows and never hold content.
 */
export function verifyTable(db: ReadableDb, table: string, findings: Pick<Findings, 'add'>): void {
  const where = `table ${table}`;
  try {
    for (const said of checkStoreTable(db, table).slice(0, rowsTold)) findings.add(where, said);
  } catch {
    findings.add(where, 'it cannot be read: the file is damaged');
  }
}
