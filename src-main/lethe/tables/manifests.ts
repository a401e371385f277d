import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

/** A manifest as it is stored; lists and maps are plain encodings, absent texts empty. */
export interface ManifestRow {
  readonly manifest_id: string;
  readonly direction: 'input' | 'output';
  readonly project_id: string;
  readonly ref_name: string;
  readonly head_seq: number;
  readonly selected_memory_ids: string;
  readonly inclusion_reasons: string;
  readonly query: string;
  readonly page_limit: number;
  readonly kinds: string;
  readonly tags: string;
  readonly cursor: string;
  readonly total_active: number;
  readonly context_digest: string;
  readonly session_id: string;
  readonly actor_id: string;
  readonly created_at: string;
  readonly row_digest: string;
}

const columns = `manifest_id, direction, project_id, ref_name, head_seq, selected_memory_ids, inclusion_reasons, query, page_limit,
  kinds, tags, cursor, total_active, context_digest, session_id, actor_id, created_at, row_digest`;

/** The manifest of that id, of whatever project. */
export function findManifestRow(db: ReadableDb, manifestId: string): ManifestRow | undefined {
  return db
    .query<[string], ManifestRow>(`SELECT ${columns} FROM memory_manifests WHERE manifest_id = ?`)
    .get(manifestId);
}

/** An actor's manifests of replies with that digest. */
export function listManifestRowsOfReply(
  db: ReadableDb,
  projectId: string,
  actorId: string,
  contextDigest: string,
): readonly ManifestRow[] {
  return db
    .query<[string, string, string], ManifestRow>(
      `SELECT ${columns} FROM memory_manifests WHERE project_id = +? AND actor_id = +? AND context_digest = +? ORDER BY manifest_id`,
    )
    .all(projectId, actorId, contextDigest);
}

/** Manifests of all projects with ids above `after`, in id order, at most `limit`. */
export function listManifestRowsAfter(db: ReadableDb, after: string, limit: number): readonly ManifestRow[] {
  return db
    .query<[string, number], ManifestRow>(
      `SELECT ${columns} FROM memory_manifests WHERE manifest_id > +? ORDER BY manifest_id LIMIT +?`,
    )
    .all(after, limit);
}

/** Writes a manifest. */
export function insertManifestRow(db: WritableDb, row: ManifestRow): void {
  db.command<(string | number)[]>(
    `INSERT INTO memory_manifests (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    row.manifest_id,
    row.direction,
    row.project_id,
    row.ref_name,
    row.head_seq,
    row.selected_memory_ids,
    row.inclusion_reasons,
    row.query,
    row.page_limit,
    row.kinds,
    row.tags,
    row.cursor,
    row.total_active,
    row.context_digest,
    row.session_id,
    row.actor_id,
    row.created_at,
    row.row_digest,
  );
}
