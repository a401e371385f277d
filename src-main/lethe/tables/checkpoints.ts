import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

/** Where a session stood at a moment; it never changes. `snapshot` is a JSON object. */
export interface CheckpointRow {
  readonly checkpoint_id: string;
  readonly session_id: string;
  /** Counts from 1 within its session. */
  readonly seq: number;
  readonly snapshot: string;
  readonly created_at: string;
}

const columns = 'checkpoint_id, session_id, seq, snapshot, created_at';

/** Checkpoints of a session, newest first. */
export function listCheckpoints(db: ReadableDb, sessionId: string, limit: number): readonly CheckpointRow[] {
  return db
    .query<[string, number], CheckpointRow>(
      `SELECT ${columns} FROM lethe_checkpoints WHERE session_id = +? ORDER BY seq DESC LIMIT +?`,
    )
    .all(sessionId, limit);
}

/** Writes a checkpoint. */
export function insertCheckpoint(db: WritableDb, row: CheckpointRow): void {
  db.command<[string, string, number, string, string]>(
    `INSERT INTO lethe_checkpoints (${columns}) VALUES (?, ?, ?, ?, ?)`,
  ).run(row.checkpoint_id, row.session_id, row.seq, row.snapshot, row.created_at);
}
