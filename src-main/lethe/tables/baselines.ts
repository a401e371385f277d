import type { ProjectId } from '../../../src-preload/contract/ids.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

/** The frozen list of what a project held before its root (`lethe.md` §2.10); `event_ids` is a JSON array of texts. */
export interface BaselineRow {
  readonly project_id: string;
  readonly root_seq: number;
  readonly event_ids: string;
  readonly captured_through: string;
  readonly created_at: string;
}

/** The baseline of a project. */
export function findBaseline(db: ReadableDb, projectId: ProjectId): BaselineRow | undefined {
  return db
    .query<[string], BaselineRow>(
      'SELECT project_id, root_seq, event_ids, captured_through, created_at FROM memory_legacy_baselines WHERE project_id = ?',
    )
    .get(projectId);
}

/** Writes the baseline of a new project. */
export function insertBaseline(db: WritableDb, row: BaselineRow): void {
  db.command<[string, number, string, string, string]>(
    'INSERT INTO memory_legacy_baselines (project_id, root_seq, event_ids, captured_through, created_at) VALUES (?, ?, ?, ?, ?)',
  ).run(row.project_id, row.root_seq, row.event_ids, row.captured_through, row.created_at);
}
