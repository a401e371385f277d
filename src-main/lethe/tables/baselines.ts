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

/** Keeps a number that a root takes beside its own, for events that its own could not hold. */
export function insertBaselineSeq(db: WritableDb, seq: number, rootSeq: number): void {
  db.command<[number, number]>('INSERT INTO memory_baseline_seqs (seq, root_seq) VALUES (?, ?)').run(seq, rootSeq);
}

/** The root that took a changeset number beside its own. */
export function findRootOfSeq(db: ReadableDb, seq: number): number | undefined {
  return db.query<[number], { root_seq: number }>('SELECT root_seq FROM memory_baseline_seqs WHERE seq = ?').get(seq)
    ?.root_seq;
}

/** The numbers that a root took beside its own, ascending. Few: one stands for 65 536 events. */
export function listBaselineSeqs(db: ReadableDb, rootSeq: number): readonly number[] {
  return db
    .query<[number, number], { seq: number }>(
      'SELECT seq FROM memory_baseline_seqs WHERE root_seq = +? AND seq < +? ORDER BY seq',
    )
    .all(rootSeq, rootSeq)
    .map((row) => row.seq);
}
