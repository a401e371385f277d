import type { ReadableDb } from '../../sqlite/driver.ts';
import type { RefMoveRow } from './ref-moves.ts';

const columns =
  'seq, project_id, ref_name, from_head, to_head, moved_at, moved_ms, epoch, principal, cause, chain_digest, signature';

/** The moves of a ref before one of them, or from its newest on, newest first, at most `limit`. Seeks by the index of times. */
export function listMovesOfRef(
  db: ReadableDb,
  projectId: string,
  refName: string,
  before: Pick<RefMoveRow, 'epoch' | 'moved_ms' | 'seq'> | undefined,
  limit: number,
): readonly RefMoveRow[] {
  const { epoch, moved_ms: movedMs, seq } = before ?? { epoch: Number.MAX_SAFE_INTEGER, moved_ms: 0, seq: 0 };
  return db
    .query<[string, string, number, number, number, number], RefMoveRow>(
      `SELECT ${columns} FROM memory_ref_moves WHERE project_id = ? AND ref_name = ? AND (epoch, moved_ms, seq) < (?, ?, ?) ORDER BY epoch DESC, moved_ms DESC, seq DESC LIMIT +?`,
    )
    .all(projectId, refName, epoch, movedMs, seq, limit);
}
