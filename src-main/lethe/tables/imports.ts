import type { Timestamp } from '../../../src-preload/contract/ids.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

/** One file that was brought in; `content_digest` is the identity of what it held. */
export interface ImportRow {
  readonly import_id: string;
  readonly content_digest: string;
  readonly imported_at: Timestamp;
  readonly principal: string;
  readonly row_digest: string;
}

/** A project that a file brought in whole. */
export interface ImportedProjectRow {
  readonly project_id: string;
  readonly import_id: string;
  readonly row_digest: string;
}

/** The mark of a changeset that came from a file. */
export interface ImportedChangesetRow {
  /** Its number. */
  readonly changeset: number;
  readonly import_id: string;
  /** Which algorithm of `lethe.md` §3.1 made its integrity digest. */
  readonly digest_version: number;
  /** What it names as its context manifest, which need not be one of this store. */
  readonly named_manifest: string | null;
  /** Its own key when that is no key of this store. */
  readonly named_key: string | null;
  readonly row_digest: string;
}

/** A ref of a file, under the name that it has here. */
export interface ImportedRefRow {
  readonly project_id: string;
  readonly ref_name: string;
  readonly import_id: string;
  readonly original_name: string;
  readonly original_created_at: string;
  readonly original_updated_at: string;
  readonly original_creator: string;
  readonly row_digest: string;
}

export const recordKinds = [
  'conflict',
  'manifest',
  'baseline',
  'authorization',
  'advance',
  'assembly',
  'assembly_item',
  'assembly_feedback',
  'thread',
] as const;
export type RecordKind = (typeof recordKinds)[number];

/** A row of a file that is history here, not authority: as canonical JSON. */
export interface ImportedRecordRow {
  readonly kind: RecordKind;
  readonly record_key: string;
  readonly project_id: string;
  readonly import_id: string;
  readonly body: string;
  readonly row_digest: string;
}

const importColumns = 'import_id, content_digest, imported_at, principal, row_digest';
const changesetColumns = 'changeset, import_id, digest_version, named_manifest, named_key, row_digest';
const refColumns = `project_id, ref_name, import_id, original_name, original_created_at, original_updated_at, original_creator,
  row_digest`;
const recordColumns = 'kind, record_key, project_id, import_id, body, row_digest';

/** The import of a content. */
export function findImportOf(db: ReadableDb, contentDigest: string): ImportRow | undefined {
  return db
    .query<[string], ImportRow>(`SELECT ${importColumns} FROM memory_imports WHERE content_digest = ?`)
    .get(contentDigest);
}

/** Every import, in the order of their ids, which is that of time. */
export function listImports(db: ReadableDb): readonly ImportRow[] {
  return db.query<[], ImportRow>(`SELECT ${importColumns} FROM memory_imports ORDER BY import_id`).all();
}

/** Writes an import. */
export function insertImport(db: WritableDb, row: ImportRow): void {
  db.command<string[]>(`INSERT INTO memory_imports (${importColumns}) VALUES (?, ?, ?, ?, ?)`).run(
    row.import_id,
    row.content_digest,
    row.imported_at,
    row.principal,
    row.row_digest,
  );
}

/** The mark of a project that was brought in whole. */
export function findImportedProject(db: ReadableDb, projectId: string): ImportedProjectRow | undefined {
  return db
    .query<[string], ImportedProjectRow>(
      'SELECT project_id, import_id, row_digest FROM memory_imported_projects WHERE project_id = ?',
    )
    .get(projectId);
}

/** Marks a project as brought in whole. */
export function insertImportedProject(db: WritableDb, row: ImportedProjectRow): void {
  db.command<string[]>('INSERT INTO memory_imported_projects (project_id, import_id, row_digest) VALUES (?, ?, ?)').run(
    row.project_id,
    row.import_id,
    row.row_digest,
  );
}

/** The mark of a changeset that came from a file. */
export function findImportedChangeset(db: ReadableDb, seq: number): ImportedChangesetRow | undefined {
  return db
    .query<[number], ImportedChangesetRow>(
      `SELECT ${changesetColumns} FROM memory_imported_changesets WHERE changeset = ?`,
    )
    .get(seq);
}

/** The marks of the changesets numbered `from` to `upTo` that came from files. */
export function listImportedChangesets(db: ReadableDb, from: number, upTo: number): readonly ImportedChangesetRow[] {
  return db
    .query<[number, number], ImportedChangesetRow>(
      `SELECT ${changesetColumns} FROM memory_imported_changesets WHERE changeset BETWEEN +? AND +? ORDER BY changeset`,
    )
    .all(from, upTo);
}

/** Marks a changeset as one that came from a file. */
export function insertImportedChangeset(db: WritableDb, row: ImportedChangesetRow): void {
  db.command<(string | number | null)[]>(
    `INSERT INTO memory_imported_changesets (${changesetColumns}) VALUES (?, ?, ?, ?, ?, ?)`,
  ).run(row.changeset, row.import_id, row.digest_version, row.named_manifest, row.named_key, row.row_digest);
}

/** The refs of a project that came from files, in name order. */
export function listImportedRefs(db: ReadableDb, projectId: string): readonly ImportedRefRow[] {
  return db
    .query<[string], ImportedRefRow>(
      `SELECT ${refColumns} FROM memory_imported_refs WHERE project_id = ? ORDER BY ref_name`,
    )
    .all(projectId);
}

/** Keeps what a ref was in its file. */
export function insertImportedRef(db: WritableDb, row: ImportedRefRow): void {
  db.command<string[]>(`INSERT INTO memory_imported_refs (${refColumns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`).run(
    row.project_id,
    row.ref_name,
    row.import_id,
    row.original_name,
    row.original_created_at,
    row.original_updated_at,
    row.original_creator,
    row.row_digest,
  );
}

/** A record of a kind by its key. */
export function findImportedRecord(db: ReadableDb, kind: RecordKind, key: string): ImportedRecordRow | undefined {
  return db
    .query<[string, string], ImportedRecordRow>(
      `SELECT ${recordColumns} FROM memory_imported_records WHERE kind = ? AND record_key = ?`,
    )
    .get(kind, key);
}

/** Records of a project after one of them, by kind and key, at most `limit`. */
export function listImportedRecordsAfter(
  db: ReadableDb,
  projectId: string,
  after: Pick<ImportedRecordRow, 'kind' | 'record_key'> | undefined,
  limit: number,
): readonly ImportedRecordRow[] {
  return db
    .query<[string, string, string, number], ImportedRecordRow>(
      `SELECT ${recordColumns} FROM memory_imported_records
       WHERE project_id = +? AND (kind, record_key) > (+?, +?) ORDER BY kind, record_key LIMIT +?`,
    )
    .all(projectId, after?.kind ?? '', after?.record_key ?? '', limit);
}

/** Keeps a record. */
export function insertImportedRecord(db: WritableDb, row: ImportedRecordRow): void {
  db.command<string[]>(`INSERT INTO memory_imported_records (${recordColumns}) VALUES (?, ?, ?, ?, ?, ?)`).run(
    row.kind,
    row.record_key,
    row.project_id,
    row.import_id,
    row.body,
    row.row_digest,
  );
}
