import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';
import { addKeys, type KeySum, noKeys, keyPrimes as primes } from '../rules/key-sums.ts';

/** A memory that had a state with a semantic key: `op` is the first op that made one. */
export interface SemanticKeyRow {
  readonly key: number;
  readonly memory: number;
  readonly op: number;
}

/** An op that made a state of a memory. */
export interface MadeState {
  readonly memory: number;
  readonly op: number;
  readonly project_id: string;
}

/** Values are bound as `+?`: a bare one beside ORDER BY is prepared again at every execution. */
export const semanticKeyQueries = {
  ofKey: 'SELECT memory FROM memory_semantic_keys WHERE key = +? AND memory < +? ORDER BY memory DESC LIMIT +?',
  one: 'SELECT key, memory, op FROM memory_semantic_keys WHERE key = +? AND memory = +?',
  all: `SELECT s.key, s.memory, s.op, t.version, coalesce(m.project_id, o.project_id) AS project_id
    FROM memory_semantic_keys s
    LEFT JOIN memory_touches t ON t.memory = s.memory AND t.key = s.op
    LEFT JOIN memory_changesets m ON m.seq = s.memory >> 16
    LEFT JOIN memory_changesets o ON o.seq = s.op >> 16
    WHERE (s.key, s.memory) > (+?, +?) ORDER BY s.key, s.memory LIMIT +?`,
  made: `SELECT t.memory, t.key AS op, c.project_id FROM memory_touches t
    CROSS JOIN memory_changesets c ON c.seq = t.key >> 16
    WHERE (t.memory, t.key) > (+?, +?) AND t.version = t.key ORDER BY t.memory, t.key LIMIT +?`,
  madeBy: `SELECT t.memory, t.key AS op, c.project_id FROM memory_changesets c
    CROSS JOIN memory_places at ON at.seq = c.seq
    CROSS JOIN memory_touches t INDEXED BY memory_touches_by_chain
      ON t.chain = at.chain AND t.key BETWEEN c.seq * 65536 AND c.seq * 65536 + 65535
    WHERE c.project_id = +? AND c.seq > +? AND c.seq <= +? AND t.version = t.key`,
  boundary: 'SELECT key FROM memory_semantic_keys WHERE key > +? ORDER BY key LIMIT 1 OFFSET +?',
  sum: `SELECT count(*) AS count,
      sum(((s.key % ${primes.key}) * ((s.memory * 31 + s.op * 17) % ${primes.place}) + s.key) % ${primes.product}) AS product,
      sum(s.key % ${primes.key} + s.memory % ${primes.place} + s.op % ${primes.product}) AS plain
    FROM memory_semantic_keys s LEFT JOIN memory_changesets c ON c.seq = s.op >> 16
    WHERE s.key > +? AND s.key <= +? AND (c.project_id = +? OR c.seq IS NULL)`,
} as const;

/** Memories below a number that ever had a key, newest first. */
export function listMemoriesOfKey(db: ReadableDb, key: number, below: number, limit: number): readonly number[] {
  return db
    .query<[number, number, number], { memory: number }>(semanticKeyQueries.ofKey)
    .all(key, below, limit)
    .map(({ memory }) => memory);
}

/** The row of a key and a memory, if it ever had the key. */
export function findSemanticKey(db: ReadableDb, key: number, memory: number): SemanticKeyRow | undefined {
  return db.query<[number, number], SemanticKeyRow>(semanticKeyQueries.one).get(key, memory);
}

/** A row with what the index holds of its memory and op. */
export interface PlacedKeyRow extends SemanticKeyRow {
  /** The op that made the state which the memory had from the op on; null when the op did not touch it. */
  readonly version: number | null;
  /** The project of the memory, or of the op when the memory is older than every changeset; null when there is neither. */
  readonly project_id: string | null;
}

/** All rows after one, by key and memory. */
export function listSemanticKeyRows(
  db: ReadableDb,
  after: Pick<SemanticKeyRow, 'key' | 'memory'>,
  limit: number,
): readonly PlacedKeyRow[] {
  return db.query<[number, number, number], PlacedKeyRow>(semanticKeyQueries.all).all(after.key, after.memory, limit);
}

/** States of all memories after one, by memory and op. */
export function listMadeStates(
  db: ReadableDb,
  after: Pick<MadeState, 'memory' | 'op'>,
  limit: number,
): readonly MadeState[] {
  return db.query<[number, number, number], MadeState>(semanticKeyQueries.made).all(after.memory, after.op, limit);
}

/** The states that changesets of a project with `after` < number ≤ `upTo` made. */
export function listStatesMadeBy(db: ReadableDb, projectId: string, after: number, upTo: number): readonly MadeState[] {
  return db.query<[string, number, number], MadeState>(semanticKeyQueries.madeBy).all(projectId, after, upTo);
}

/** The greatest key of a page that starts after a key, and that many rows or those of a key more; the greatest there can be at the end. */
export function findKeyBoundary(db: ReadableDb, after: number, rows: number): number {
  return (
    db.query<[number, number], { key: number }>(semanticKeyQueries.boundary).get(after, rows)?.key ??
    Number.MAX_SAFE_INTEGER
  );
}

/** The sum of the rows with `after` < key ≤ `upTo` whose ops are of the project, or of no changeset that there is. */
export function readKeySum(db: ReadableDb, projectId: string, after: number, upTo: number): KeySum {
  const row = db
    .query<[number, number, string], { count: number; product: number | null; plain: number | null }>(
      semanticKeyQueries.sum,
    )
    .get(after, upTo, projectId);
  return addKeys(noKeys, { count: row?.count ?? 0, product: row?.product ?? 0, plain: row?.plain ?? 0 });
}

/** Keeps that a memory has a key from an op on; the first op that gave it stands. */
export function insertSemanticKey(db: WritableDb, row: SemanticKeyRow): void {
  db.command<[number, number, number]>(
    'INSERT INTO memory_semantic_keys (key, memory, op) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  ).run(row.key, row.memory, row.op);
}
