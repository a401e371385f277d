import { setImmediate as nextTick } from 'node:timers/promises';
import type { ReadSnapshot } from './snapshots.ts';

/** What a look over a database file found. */
export interface FileCheck {
  /** Tables that were looked over. */
  readonly checked: number;
  readonly findings: readonly { readonly where: string; readonly problem: string }[];
}

/** Rows of one table that are told; the rest of them is damage of the same kind. */
const rowsTold = 20;

/**
 * Looks over a database file table by table (`integrity_check`, the checks of full-text indexes with it, and
 * `foreign_key_check`), letting others work between two tables. Never throws for what it finds: a table that cannot be
 * read is a finding. Tables that `isLookedAt` leaves out are looked over elsewhere: one table is one step, however large it is. SQLite's words name tables, indexes and rows and never hold content.
 */
export async function checkFile(
  read: ReadSnapshot,
  isLookedAt: (table: string) => boolean = () => true,
): Promise<FileCheck> {
  const findings: { where: string; problem: string }[] = [];
  const all = read((db) =>
    db
      .query<[], { name: string }>(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
      )
      .all(),
  );
  const tables = all.filter(({ name }) => isLookedAt(name));
  for (const { name } of tables) {
    const quoted = `"${name.replaceAll('"', '""')}"`;
    const where = `table ${name}`;
    try {
      const rows = read((db) => db.query<[], { integrity_check: string }>(`PRAGMA integrity_check(${quoted})`).all());
      for (const { integrity_check: said } of rows.slice(0, rowsTold))
        if (said !== 'ok') findings.push({ where, problem: said });
      const broken = read((db) =>
        db.query<[], { rowid: number | null; parent: string }>(`PRAGMA foreign_key_check(${quoted})`).all(),
      );
      for (const { rowid, parent } of broken.slice(0, rowsTold))
        findings.push({
          where,
          problem: `${rowid === null ? 'a row' : `row ${rowid}`} refers to a row that ${parent} does not have`,
        });
    } catch {
      findings.push({ where, problem: 'it cannot be read: the file is damaged' });
    }
    await nextTick();
  }
  return { checked: tables.length, findings };
}
