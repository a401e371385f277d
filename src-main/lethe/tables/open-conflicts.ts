import type { Digest } from '../../../src-preload/contract/ids.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';

/** Two changesets between which there are open conflicts. */
export interface OpenPair {
  readonly left: number;
  readonly right: number;
}

/** An open conflict by its number and its id. */
export interface OpenConflict {
  readonly number: number;
  readonly conflict_id: Digest;
}

/** A memory that an open conflict names. */
export interface NamedMemory extends OpenConflict {
  readonly memory: number;
}

/** The next pair is sought, so that a pair costs the same however many conflicts it has. */
export const openConflictQueries = {
  nextPair: `SELECT left_seq AS "left", right_seq AS "right" FROM memory_conflicts
    WHERE project_id = +? AND status = 'open' AND (left_seq, right_seq) > (+?, +?) ORDER BY left_seq, right_seq LIMIT 1`,
  ofPair: `SELECT number, conflict_id FROM memory_conflicts
    WHERE project_id = +? AND left_seq = +? AND right_seq = +? AND status = 'open' ORDER BY number LIMIT +?`,
  named: `SELECT m.memory, c.number, c.conflict_id FROM memory_conflicts c INDEXED BY memory_conflicts_blocking
    CROSS JOIN memory_conflict_memories m ON m.conflict = c.number
    WHERE c.project_id = +? AND c.left_seq = +? AND c.right_seq = +? AND c.status = 'open' AND c.severity = 'blocking'
    ORDER BY c.number, m.memory`,
} as const;

/** The pairs of changesets of a project between which conflicts are open, each once. */
export function* listOpenPairs(db: ReadableDb, projectId: string): IterableIterator<OpenPair> {
  const next = db.query<[string, number, number], OpenPair>(openConflictQueries.nextPair);
  let pair = next.get(projectId, 0, 0);
  while (pair !== undefined) {
    yield pair;
    pair = next.get(projectId, pair.left, pair.right);
  }
}

/** The open conflicts of a pair, oldest first, at most `limit`. */
export function listOpenOfPair(
  db: ReadableDb,
  projectId: string,
  pair: OpenPair,
  limit: number,
): readonly OpenConflict[] {
  return db
    .query<[string, number, number, number], OpenConflict>(openConflictQueries.ofPair)
    .all(projectId, pair.left, pair.right, limit);
}

/** The memories that open blocking conflicts of a pair name, by the oldest conflict first. */
export function listNamedByBlocking(db: ReadableDb, projectId: string, pair: OpenPair): readonly NamedMemory[] {
  return db
    .query<[string, number, number], NamedMemory>(openConflictQueries.named)
    .all(projectId, pair.left, pair.right);
}
