import type { ProjectId } from '../../../src-preload/contract/ids.ts';
import type { HeadMove } from '../../canonical/signature.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

/** One signed creation or move of a ref (`lethe.md` §0.2); `from_head` is empty at a creation. */
export interface RefMoveRow extends HeadMove {
  readonly moved_ms: number;
  /** How often the clock had gone back along this ref: within an epoch times ascend. */
  readonly epoch: number;
  readonly signature: string;
}

/** A public key of head signatures and the first move that it signs. */
export interface HeadKeyRow {
  readonly first_seq: number;
  readonly public_key: string;
}

const columns =
  'seq, project_id, ref_name, from_head, to_head, moved_at, moved_ms, epoch, principal, cause, chain_digest, signature';

/** The newest move of a ref. */
export function findLastMove(db: ReadableDb, projectId: string, refName: string): RefMoveRow | undefined {
  return db
    .query<[string, string], RefMoveRow>(
      `SELECT ${columns} FROM memory_ref_moves WHERE project_id = +? AND ref_name = +? ORDER BY epoch DESC, moved_ms DESC, seq DESC LIMIT 1`,
    )
    .get(projectId, refName);
}

/**
 * Where a ref stood at a moment: the newest of its moves that were made by then (`lethe.md` §0.2). One seek for each time
 * that the clock had gone back since.
 */
export function findMoveAt(
  db: ReadableDb,
  projectId: ProjectId,
  refName: string,
  atMs: number,
): RefMoveRow | undefined {
  const inEpoch = db.query<[string, string, number, number], RefMoveRow>(
    `SELECT ${columns} FROM memory_ref_moves WHERE project_id = +? AND ref_name = +? AND epoch = +? AND moved_ms <= +? ORDER BY moved_ms DESC, seq DESC LIMIT 1`,
  );
  for (let epoch = findLastMove(db, projectId, refName)?.epoch ?? -1; epoch >= 0; epoch -= 1) {
    const move = inEpoch.get(projectId, refName, epoch, atMs);
    if (move !== undefined) return move;
  }
  return undefined;
}

/** The move of that number. */
export function findMoveBySeq(db: ReadableDb, seq: number): RefMoveRow | undefined {
  return db.query<[number], RefMoveRow>(`SELECT ${columns} FROM memory_ref_moves WHERE seq = ?`).get(seq);
}

/** The creation of a ref. */
export function findFirstMove(db: ReadableDb, projectId: ProjectId, refName: string): RefMoveRow | undefined {
  return db
    .query<[string, string], RefMoveRow>(
      `SELECT ${columns} FROM memory_ref_moves WHERE project_id = +? AND ref_name = +? ORDER BY epoch, moved_ms, seq LIMIT 1`,
    )
    .get(projectId, refName);
}

/** Moves of every ref and project with `after` < number ≤ `upTo`, oldest first, at most `limit`. */
export function listMovesAfter(
  db: ReadableDb,
  after: number,
  limit: number,
  upTo: number = Number.MAX_SAFE_INTEGER,
): readonly RefMoveRow[] {
  return db
    .query<[number, number, number], RefMoveRow>(
      `SELECT ${columns} FROM memory_ref_moves WHERE seq > +? AND seq <= +? ORDER BY seq LIMIT +?`,
    )
    .all(after, upTo, limit);
}

/** Numbers of a project's moves with `after` < number ≤ `upTo`, oldest first, at most `limit`. Passes over those of others in between. */
export function listMoveSeqsAfter(
  db: ReadableDb,
  projectId: string,
  after: number,
  limit: number,
  upTo: number = Number.MAX_SAFE_INTEGER,
): readonly number[] {
  return db
    .query<[number, number, string, number], { seq: number }>(
      'SELECT seq FROM memory_ref_moves WHERE seq > +? AND seq <= +? AND +project_id = +? ORDER BY seq LIMIT +?',
    )
    .all(after, upTo, projectId, limit)
    .map((row) => row.seq);
}

/** How many moves of all projects there are with `after` < number ≤ `upTo`. */
export function countMoves(db: ReadableDb, after: number, upTo: number): number {
  return (
    db
      .query<[number, number], { count: number }>(
        'SELECT count(*) AS count FROM memory_ref_moves WHERE seq > +? AND seq <= +?',
      )
      .get(after, upTo)?.count ?? 0
  );
}

/** The newest move of a ref with a number not above `upTo`; passes over those above. */
export function findMoveUpTo(db: ReadableDb, projectId: string, refName: string, upTo: number): RefMoveRow | undefined {
  return db
    .query<[string, string, number], RefMoveRow>(
      `SELECT ${columns} FROM memory_ref_moves WHERE project_id = +? AND ref_name = +? AND seq <= +? ORDER BY epoch DESC, moved_ms DESC, seq DESC LIMIT 1`,
    )
    .get(projectId, refName, upTo);
}

/** The next name of a ref of the project that any move speaks of: one seek. */
export function findNextMovedRef(db: ReadableDb, projectId: string, after: string): string | undefined {
  return db
    .query<[string, string], { ref_name: string }>(
      'SELECT ref_name FROM memory_ref_moves WHERE project_id = +? AND ref_name > +? ORDER BY ref_name LIMIT 1',
    )
    .get(projectId, after)?.ref_name;
}

/** The number that the next move will have. */
export function nextMoveSeq(db: ReadableDb): number {
  return (db.query<[], { last: number | null }>('SELECT max(seq) AS last FROM memory_ref_moves').get()?.last ?? 0) + 1;
}

/** Writes a move under the number it was signed with. */
export function insertMove(db: WritableDb, row: RefMoveRow): void {
  db.command<(string | number)[]>(
    `INSERT INTO memory_ref_moves (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    row.seq,
    row.project_id,
    row.ref_name,
    row.from_head,
    row.to_head,
    row.moved_at,
    row.moved_ms,
    row.epoch,
    row.principal,
    row.cause,
    row.chain_digest,
    row.signature,
  );
}

/** The key that signs now. */
export function findLastHeadKey(db: ReadableDb): HeadKeyRow | undefined {
  return db
    .query<[], HeadKeyRow>('SELECT first_seq, public_key FROM memory_head_keys ORDER BY first_seq DESC LIMIT 1')
    .get();
}

/** Every key, oldest first. */
export function listHeadKeys(db: ReadableDb): readonly HeadKeyRow[] {
  return db.query<[], HeadKeyRow>('SELECT first_seq, public_key FROM memory_head_keys ORDER BY first_seq').all();
}

/** Writes a key that signs from the move `first_seq` on. */
export function insertHeadKey(db: WritableDb, row: HeadKeyRow): void {
  db.command<[number, string]>('INSERT INTO memory_head_keys (first_seq, public_key) VALUES (?, ?)').run(
    row.first_seq,
    row.public_key,
  );
}
