import type { Ref } from '../../../src-preload/contract/changeset.ts';
import type { ChangesetId, ProjectId, RefName, Timestamp } from '../../../src-preload/contract/ids.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

/** A ref with the number of its head. */
export interface StoredRef {
  readonly headSeq: number;
  readonly ref: Ref;
}

interface RefRow {
  readonly project_id: string;
  readonly ref_name: string;
  readonly head_seq: number;
  readonly head_changeset_id: string;
  readonly protected: number;
  readonly archived: number;
  readonly created_at: string;
  readonly updated_at: string;
  readonly created_by_principal: string;
}

const columns = `r.project_id, r.ref_name, r.head_seq, c.changeset_id AS head_changeset_id, r.protected, r.archived, r.created_at,
  r.updated_at, r.created_by_principal`;
const select = `SELECT ${columns} FROM memory_refs r JOIN memory_changesets c ON c.seq = r.head_seq`;
// The planner would rather walk the primary key, past every archived ref.
const selectInUse = `SELECT ${columns} FROM memory_refs r INDEXED BY memory_refs_in_use JOIN memory_changesets c ON c.seq = r.head_seq`;

/** The ref of that name. */
export function findRef(db: ReadableDb, projectId: ProjectId, refName: string): StoredRef | undefined {
  const row = db
    .query<[string, string], RefRow>(`${select} WHERE r.project_id = +? AND r.ref_name = +?`)
    .get(projectId, refName);
  return row === undefined ? undefined : decodeRef(row);
}

/** Refs in the byte order of their names, after `after`, at most `limit`: all of them, or those that are not archived. */
export function listRefs(
  db: ReadableDb,
  projectId: ProjectId,
  after: string,
  limit: number,
  which: 'all' | 'in use',
): readonly StoredRef[] {
  const sql =
    which === 'all' ? `${select} WHERE r.project_id = +?` : `${selectInUse} WHERE r.project_id = +? AND r.archived = 0`;
  return db
    .query<[string, string, number], RefRow>(`${sql} AND r.ref_name > +? ORDER BY r.ref_name LIMIT +?`)
    .all(projectId, after, limit)
    .map(decodeRef);
}

/** Writes a new ref. */
export function insertRef(
  db: WritableDb,
  ref: {
    readonly projectId: ProjectId;
    readonly refName: RefName;
    readonly headSeq: number;
    readonly isProtected: boolean;
    readonly createdAt: Timestamp;
    readonly principal: string;
  },
): void {
  db.command<[string, string, number, number, string, string, string]>(
    'INSERT INTO memory_refs (project_id, ref_name, head_seq, protected, created_at, updated_at, created_by_principal) VALUES (?, ?, ?, ?, ?, ?, ?)',
  ).run(ref.projectId, ref.refName, ref.headSeq, ref.isProtected ? 1 : 0, ref.createdAt, ref.createdAt, ref.principal);
}

/** Compare-and-set of a head: false, and nothing written, when the head is another by now. */
export function updateRefHead(
  db: WritableDb,
  move: {
    readonly projectId: ProjectId;
    readonly refName: string;
    readonly fromSeq: number;
    readonly toSeq: number;
    readonly movedAt: Timestamp;
  },
): boolean {
  const done = db
    .command<[number, string, string, string, number]>(
      'UPDATE memory_refs SET head_seq = ?, updated_at = ? WHERE project_id = ? AND ref_name = ? AND head_seq = ?',
    )
    .run(move.toSeq, move.movedAt, move.projectId, move.refName, move.fromSeq);
  return done.changes === 1;
}

/** Compare-and-set of the mark that a ref is archived: false, and nothing written, when the head is another by now. */
export function updateRefArchived(
  db: WritableDb,
  mark: {
    readonly projectId: ProjectId;
    readonly refName: string;
    readonly headSeq: number;
    readonly archivedAt: Timestamp;
  },
): boolean {
  const done = db
    .command<[string, string, string, number]>(
      'UPDATE memory_refs SET archived = 1, updated_at = ? WHERE project_id = ? AND ref_name = ? AND head_seq = ?',
    )
    .run(mark.archivedAt, mark.projectId, mark.refName, mark.headSeq);
  return done.changes === 1;
}

function decodeRef(row: RefRow): StoredRef {
  return {
    headSeq: row.head_seq,
    ref: {
      project_id: row.project_id as ProjectId,
      ref_name: row.ref_name as RefName,
      head_changeset_id: row.head_changeset_id as ChangesetId,
      protected: row.protected === 1,
      created_at: row.created_at as Timestamp,
      updated_at: row.updated_at as Timestamp,
      ...(row.created_by_principal === '' ? {} : { created_by_principal: row.created_by_principal }),
      ...(row.archived === 1 ? { archived: true } : {}),
    },
  };
}
