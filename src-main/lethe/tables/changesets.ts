import type { ProjectId } from '../../../src-preload/contract/ids.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

/** A changeset as it is stored, without its lists. Absent texts are empty. */
export interface ChangesetRow {
  readonly seq: number;
  readonly changeset_id: string;
  readonly schema_version: string;
  readonly project_id: string;
  readonly ref_name: string;
  readonly author_principal: string;
  readonly persona_id: string;
  readonly actor_id: string;
  readonly surface: string;
  readonly model: string;
  readonly environment: string;
  readonly session_id: string;
  readonly topic_id: string;
  readonly context_manifest_id: string | null;
  readonly message: string;
  readonly created_at: string;
  readonly created_ms: number;
  readonly idempotency_key: string;
  readonly is_root: number;
  readonly op_count: number;
  /** The head that the commit moved its ref from; null for the root and for detached changesets. */
  readonly expected_seq: number | null;
  readonly integrity_digest: string;
  readonly request_digest: string;
  readonly chain_digest: string;
}

/** A parent of a changeset, with what a child's digests need of it. */
export interface ParentRow {
  readonly seq: number;
  readonly position: number;
  readonly parent_seq: number;
  readonly changeset_id: string;
  readonly project_id: string;
  readonly chain_digest: string;
}

const columns = `seq, changeset_id, schema_version, project_id, ref_name, author_principal, persona_id, actor_id, surface,
  model, environment, session_id, topic_id, context_manifest_id, message, created_at, created_ms, idempotency_key, is_root,
  op_count, expected_seq, integrity_digest, request_digest, chain_digest`;

/** As `columns`, but of a changeset that came from a file what the file named as its key and its context manifest. */
const shownColumns = columns
  .replace('context_manifest_id', 'coalesce(context_manifest_id, named_manifest) AS context_manifest_id')
  .replace('idempotency_key', 'coalesce(named_key, idempotency_key) AS idempotency_key');
// Over this join a bare `?` has SQLite prepare the statement anew at every execution, which takes ten times as long: `+?`.
const changesets = 'memory_changesets LEFT JOIN memory_imported_changesets ON changeset = seq';

const parentColumns = 'p.seq, p.position, p.parent_seq, c.changeset_id, c.project_id, c.chain_digest';

/** The row of a changeset by its public id. */
export function findChangesetRow(db: ReadableDb, changesetId: string): ChangesetRow | undefined {
  return db
    .query<[string], ChangesetRow>(`SELECT ${shownColumns} FROM ${changesets} WHERE changeset_id = +?`)
    .get(changesetId);
}

/** The row of a changeset by its number. */
export function findChangesetRowBySeq(db: ReadableDb, seq: number): ChangesetRow | undefined {
  return db.query<[number], ChangesetRow>(`SELECT ${shownColumns} FROM ${changesets} WHERE seq = +?`).get(seq);
}

/** The row that an idempotency key of an author stands for. */
export function findChangesetRowByKey(
  db: ReadableDb,
  projectId: ProjectId,
  authorPrincipal: string,
  idempotencyKey: string,
): ChangesetRow | undefined {
  return db
    .query<[string, string, string], ChangesetRow>(
      `SELECT ${shownColumns} FROM ${changesets} WHERE project_id = +? AND author_principal = +? AND idempotency_key = +?`,
    )
    .get(projectId, authorPrincipal, idempotencyKey);
}

/** The synthetic root of a project, known by its own column (`lethe.md` D1). */
export function findRootRow(db: ReadableDb, projectId: ProjectId): ChangesetRow | undefined {
  return db
    .query<[string], ChangesetRow>(`SELECT ${shownColumns} FROM ${changesets} WHERE project_id = +? AND is_root = 1`)
    .get(projectId);
}

/** Changesets of a project with numbers below `before`, newest first, at most `limit`. */
export function listChangesetRowsBefore(
  db: ReadableDb,
  projectId: ProjectId,
  before: number,
  limit: number,
): readonly ChangesetRow[] {
  return db
    .query<[string, number, number], ChangesetRow>(
      `SELECT ${shownColumns} FROM ${changesets} WHERE project_id = +? AND seq < +? ORDER BY seq DESC LIMIT +?`,
    )
    .all(projectId, before, limit);
}

/** Changesets of a project with `after` < number ≤ `upTo`, oldest first, at most `limit`. */
export function listChangesetRowsAfter(
  db: ReadableDb,
  projectId: ProjectId,
  after: number,
  limit: number,
  upTo: number = Number.MAX_SAFE_INTEGER,
): readonly ChangesetRow[] {
  return db
    .query<[string, number, number, number], ChangesetRow>(
      `SELECT ${shownColumns} FROM ${changesets} WHERE project_id = +? AND seq > +? AND seq <= +? ORDER BY seq LIMIT +?`,
    )
    .all(projectId, after, upTo, limit);
}

/** Numbers of a project's changesets below `before`, newest first, at most `limit`. */
export function listSeqsBefore(db: ReadableDb, projectId: ProjectId, before: number, limit: number): readonly number[] {
  return db
    .query<[string, number, number], { seq: number }>(
      'SELECT seq FROM memory_changesets WHERE project_id = +? AND seq < +? ORDER BY seq DESC LIMIT +?',
    )
    .all(projectId, before, limit)
    .map((row) => row.seq);
}

/** A changeset's number, and what says how much is behind it. */
export interface SeqRow {
  readonly seq: number;
  readonly op_count: number;
  /** 1 for the root, and for one from a file that took numbers beside its own for what it froze. */
  readonly has_baseline: number;
}

/** Numbers of a project's changesets above `after`, oldest first, at most `limit`. */
export function listSeqsAfter(db: ReadableDb, projectId: ProjectId, after: number, limit: number): readonly SeqRow[] {
  return db
    .query<[string, number, number], SeqRow>(
      `SELECT seq, op_count, is_root = 1 OR seq IN (SELECT root_seq FROM memory_baseline_seqs) AS has_baseline
         FROM memory_changesets WHERE project_id = +? AND seq > +? ORDER BY seq LIMIT +?`,
    )
    .all(projectId, after, limit);
}

/** How many changesets a project has. */
export function countChangesets(db: ReadableDb, projectId: ProjectId): number {
  return (
    db
      .query<[string], { count: number }>('SELECT count(*) AS count FROM memory_changesets WHERE project_id = ?')
      .get(projectId)?.count ?? 0
  );
}

/** The next project id after one that any changeset bears: one seek, however many it has. */
export function findNextOwner(db: ReadableDb, after: string): string | undefined {
  return db
    .query<[string], { project_id: string }>(
      'SELECT project_id FROM memory_changesets WHERE project_id > +? ORDER BY project_id LIMIT 1',
    )
    .get(after)?.project_id;
}

/** The first number above `after` and not above `upto` that no changeset of any project has or took for its baseline: none is left out. */
export function findGap(db: ReadableDb, after: number, upto: number): number | undefined {
  const counted = db
    .query<[number, number, number, number], { count: number }>(
      `SELECT (SELECT count(*) FROM memory_changesets WHERE seq > ? AND seq <= ?)
        + (SELECT count(*) FROM memory_baseline_seqs WHERE seq > ? AND seq <= ?) AS count`,
    )
    .get(after, upto, after, upto);
  if (counted?.count === upto - after) return undefined;
  return db
    .query<[number, number, number], { gap: number }>(
      `SELECT gap FROM (SELECT ? + 1 AS gap UNION ALL SELECT seq + 1 FROM memory_changesets WHERE seq > ?
          UNION ALL SELECT seq + 1 FROM memory_baseline_seqs)
       WHERE NOT EXISTS (SELECT 1 FROM memory_changesets WHERE seq = gap)
         AND NOT EXISTS (SELECT 1 FROM memory_baseline_seqs WHERE seq = gap) AND gap > ? ORDER BY gap LIMIT 1`,
    )
    .get(after, after, after)?.gap;
}

/** The parents of a changeset in their order. */
export function listParents(db: ReadableDb, seq: number): readonly ParentRow[] {
  return db
    .query<[number], ParentRow>(
      `SELECT ${parentColumns} FROM memory_changeset_parents p JOIN memory_changesets c ON c.seq = p.parent_seq WHERE p.seq = +? ORDER BY p.position`,
    )
    .all(seq);
}

/** The parents of every changeset numbered `from` to `upto`, both included, by child and position. */
export function listParentsOfRange(db: ReadableDb, from: number, upto: number): readonly ParentRow[] {
  return db
    .query<[number, number], ParentRow>(
      `SELECT ${parentColumns} FROM memory_changeset_parents p JOIN memory_changesets c ON c.seq = p.parent_seq WHERE p.seq BETWEEN +? AND +? ORDER BY p.seq, p.position`,
    )
    .all(from, upto);
}

/** The first parent's number; undefined for a root. */
export function findFirstParentSeq(db: ReadableDb, seq: number): number | undefined {
  return db
    .query<[number], { parent_seq: number }>(
      'SELECT parent_seq FROM memory_changeset_parents WHERE seq = ? AND position = 0',
    )
    .get(seq)?.parent_seq;
}

/**
 * Authors of the changesets at positions `after` < position ≤ `upto` of a chain, each once. Who wrote one that came from a file
 * is nobody here, whatever the name: it is prefixed `imported:`.
 */
export function listAuthorsOfRun(db: ReadableDb, chain: number, after: number, upto: number): readonly string[] {
  return db
    .query<[number, number, number], { author_principal: string }>(
      `SELECT DISTINCT iif(i.changeset IS NULL, '', 'imported:') || c.author_principal AS author_principal
       FROM memory_places p JOIN memory_changesets c ON c.seq = p.seq
         LEFT JOIN memory_imported_changesets i ON i.changeset = c.seq
       WHERE p.chain = +? AND p.position > +? AND p.position <= +?`,
    )
    .all(chain, after, upto)
    .map((row) => row.author_principal);
}

/** Who wrote a changeset, and when; undefined for a number that none has. */
export function findLastChange(
  db: ReadableDb,
  seq: number,
): { readonly author: string; readonly changedMs: number } | undefined {
  return db
    .query<[number], { author: string; changedMs: number }>(
      'SELECT author_principal AS author, created_ms AS changedMs FROM memory_changesets WHERE seq = +?',
    )
    .get(seq);
}

/**
 * Writes a changeset and answers its number, which is greater than every number before it.
 * @param seq the number, for a root that leaves some free below its own
 */
export function insertChangesetRow(db: WritableDb, row: Omit<ChangesetRow, 'seq'>, seq: number | null = null): number {
  return db
    .command<(string | number | null)[]>(
      `INSERT INTO memory_changesets (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      seq,
      row.changeset_id,
      row.schema_version,
      row.project_id,
      row.ref_name,
      row.author_principal,
      row.persona_id,
      row.actor_id,
      row.surface,
      row.model,
      row.environment,
      row.session_id,
      row.topic_id,
      row.context_manifest_id,
      row.message,
      row.created_at,
      row.created_ms,
      row.idempotency_key,
      row.is_root,
      row.op_count,
      row.expected_seq,
      row.integrity_digest,
      row.request_digest,
      row.chain_digest,
    ).lastInsertRowid;
}

/** Writes the parents of a changeset in their order. */
export function insertParents(db: WritableDb, seq: number, parentSeqs: readonly number[]): void {
  const insert = db.command<[number, number, number]>(
    'INSERT INTO memory_changeset_parents (seq, position, parent_seq) VALUES (?, ?, ?)',
  );
  for (const [position, parentSeq] of parentSeqs.entries()) insert.run(seq, position, parentSeq);
}
