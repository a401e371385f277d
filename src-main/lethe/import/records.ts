import { encodeCanonical } from '../../canonical/json.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';
import { rowDigest } from '../row-digest.ts';
import type { ForeignTable } from '../rules/foreign-columns.ts';
import { gitTables, laterTables } from '../rules/foreign-git-tables.ts';
import { type ForeignRow, textOf } from '../rules/foreign-row.ts';
import { assemblyTables, sessionTables } from '../rules/foreign-session-tables.ts';
import {
  findImportedRecord,
  type ImportedRecordRow,
  insertImportedRecord,
  type RecordKind,
} from '../tables/imports.ts';
import type { ForeignFile } from './foreign-file.ts';

/** The tables whose rows are kept as history, whole, and as which kind. */
const recordTables: readonly {
  readonly kind: RecordKind;
  readonly table: ForeignTable;
  /** Columns by which the record is found again, where they are not the key of the table. */
  readonly key?: readonly string[];
}[] = [
  { kind: 'conflict', table: gitTables.memory_conflicts },
  { kind: 'manifest', table: gitTables.memory_manifests },
  { kind: 'baseline', table: laterTables.memory_legacy_baselines, key: ['root_changeset_id'] },
  { kind: 'authorization', table: laterTables.memory_merge_authorizations },
  { kind: 'advance', table: laterTables.memory_protected_ref_advances },
  { kind: 'assembly', table: assemblyTables.context_assemblies },
  { kind: 'assembly_item', table: assemblyTables.context_assembly_items },
  { kind: 'assembly_feedback', table: assemblyTables.context_assembly_feedback },
  { kind: 'thread', table: sessionTables.threads },
];

/** How many records of the file are not here yet. */
export function countNewRecords(db: ReadableDb, file: ForeignFile): number {
  let fresh = 0;
  for (const { kind, table, key } of recordTables)
    for (const row of file.rows(table))
      fresh += findImportedRecord(db, kind, recordKey(key ?? table.key, row)) === undefined ? 1 : 0;
  return fresh;
}

/** Keeps every record of the file that is not here yet, in the caller's transaction; one that is stays as it was kept first. */
export function writeRecords(db: WritableDb, file: ForeignFile, importId: string): void {
  for (const { kind, table, key } of recordTables)
    for (const row of file.rows(table)) {
      const found = recordKey(key ?? table.key, row);
      if (findImportedRecord(db, kind, found) !== undefined) continue;
      const said = {
        kind,
        record_key: found,
        project_id: textOf(row, 'project_id'),
        import_id: importId,
        body: encodeCanonical(row),
      };
      insertImportedRecord(db, { ...said, row_digest: rowDigest('imported-record', said) });
    }
}

/** Whether a record is as it was kept. */
export function isRecordIntact({ row_digest: digest, ...said }: ImportedRecordRow): boolean {
  return rowDigest('imported-record', said) === digest;
}

function recordKey(columns: readonly string[], row: ForeignRow): string {
  return columns.map((name) => textOf(row, name)).join('\n');
}
