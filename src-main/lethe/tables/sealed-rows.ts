// Stored rows as bytes, for the digests of seals: SQLite joins all rows of a stretch into one value, which crosses over to
// JavaScript at the price of a row, and as it is stored, so that no damaged byte is mended on the way. Texts of any content
// are quoted or in hexadecimal, every row ends with a line feed: no two sets of rows read the same.

import type { ReadableDb } from '../../sqlite/driver.ts';
import { opsPerChangeset } from '../rules/numbers.ts';

const bytesOf = (row: string, order = ''): string => `CAST(group_concat(${row}, char(10)${order}) AS BLOB) AS bytes`;
const ints = (...columns: readonly string[]): string =>
  columns.map((column) => `coalesce(${column}, '-')`).join(` || ',' || `);

/** Stretch of changesets of one project, in the order of their numbers. */
const changesets = 'memory_changesets c';
const ofStretch = 'WHERE c.project_id = +? AND c.seq BETWEEN +? AND +?';
const opsOf = (column: string): string =>
  `${column} BETWEEN c.seq * ${opsPerChangeset} AND c.seq * ${opsPerChangeset} + ${opsPerChangeset - 1}`;

const touchColumns = ['t.memory', 't.key', 't.chain', 't.version', 't.status', 't.linked'];
const placeColumns = ['p.seq', 'p.chain', 'p.position', 'p.first_parent', 'p.second_parent', 'p.depth', 'p.jump'];
const placedColumns = ['p.vector', 'p.active', 'p.touches', 'p.steps'];

/** Every query takes a project and the first and last number of a stretch. Rows of a table are read by the index that leads to them. */
export const sealedRowQueries = {
  places: `SELECT ${bytesOf(ints(...placeColumns, ...placedColumns))}
    FROM ${changesets} CROSS JOIN memory_places p ON p.seq = c.seq ${ofStretch}`,
  touches: `SELECT ${bytesOf(ints(...touchColumns))}
    FROM ${changesets} CROSS JOIN memory_places p ON p.seq = c.seq
    CROSS JOIN memory_touches t INDEXED BY memory_touches_by_chain ON t.chain = p.chain AND ${opsOf('t.key')} ${ofStretch}`,
  versions: `SELECT ${bytesOf(`v.version || ',' || hex(v.body)`)}
    FROM ${changesets} CROSS JOIN memory_versions v ON ${opsOf('v.version')} ${ofStretch}`,
  ids: `SELECT ${bytesOf(`${ints('i.number', 'i.event', 'i.baseline')} || ',' || hex(i.project_id) || ',' || hex(i.memory_id)`)}
    FROM ${changesets} CROSS JOIN memory_ids i ON ${opsOf('i.number')} ${ofStretch}`,
  attachments: `SELECT ${bytesOf(ints('a.op', 'a.previous', 'a.count'))}
    FROM ${changesets} CROSS JOIN memory_attachments a ON ${opsOf('a.op')} ${ofStretch}`,
  relationships: `SELECT ${bytesOf(ints('r.op', 'r.chain', 'r.from_memory', 'r.to_memory'))}
    FROM ${changesets} CROSS JOIN memory_relationships r ON ${opsOf('r.op')} ${ofStretch}`,
  ends: `SELECT ${bytesOf(ints('e.op', 'e.memory', 'e.chain'))}
    FROM ${changesets} CROSS JOIN memory_relationship_ends e ON ${opsOf('e.op')} ${ofStretch}`,
  pages: `SELECT ${bytesOf(`g.seq || ',' || hex(g.body)`)}
    FROM ${changesets} CROSS JOIN memory_recency_pages g ON g.seq = c.seq ${ofStretch}`,
} as const;

export const sealedTextQuery = `SELECT ${bytesOf(ints('x.version', 'x.memory'))}
  FROM ${changesets} CROSS JOIN text_versions x ON ${opsOf('x.version')} ${ofStretch}`;

export const sealedNodesQuery = `SELECT ${bytesOf(`n.node || ',' || hex(n.body)`)}
  FROM memory_vector_nodes n WHERE n.node > +? AND n.node <= +?`;

export const newestNodeQuery = `SELECT max(p.vector) AS node
  FROM ${changesets} CROSS JOIN memory_places p ON p.seq = c.seq ${ofStretch}`;

export const sealedMovesQuery = `SELECT CAST(group_concat(json_array(m.seq, m.ref_name, m.from_head, m.to_head, m.moved_at,
      m.moved_ms, m.epoch, m.principal, m.cause, m.chain_digest, m.signature)
    || iif(a.move_seq IS NULL, '', json_array(a.advance_id, a.project_id, a.ref_name, a.expected_head, a.new_head,
      a.merge_proposal_id, a.proposal_digest, a.reviewer_principal, a.merger_principal, a.strategy, a.authorization_nonce,
      a.created_at)), char(10)) AS BLOB) AS bytes,
    count(*) AS count,
    sum(coalesce(c.chain_digest = m.chain_digest AND c.project_id = m.project_id, 0)) AS bound
  FROM memory_ref_moves m LEFT JOIN memory_changesets c ON c.changeset_id = m.to_head
    LEFT JOIN memory_protected_ref_advances a ON a.move_seq = m.seq
  WHERE m.seq BETWEEN +? AND +? AND +m.project_id = +?`;

/** The rows that one of the queries joins; empty when there are none. */
function readBytes(db: ReadableDb, query: string, parameters: readonly [string, number, number]): Uint8Array {
  return db.query<[string, number, number], { bytes: Uint8Array | null }>(query).get(...parameters)?.bytes ?? none;
}

const none = new Uint8Array(0);

/** The derived rows of a stretch of changesets, table by table: what never changes once it was written. */
export function readSealedRows(
  db: ReadableDb,
  projectId: string,
  first: number,
  last: number,
): readonly (readonly [table: string, rows: Uint8Array])[] {
  return Object.entries(sealedRowQueries).map(([table, query]) => [
    table,
    readBytes(db, query, [projectId, first, last]),
  ]);
}

/** Which states of a stretch of changesets the full-text index holds, and of which memories. */
export function readSealedText(db: ReadableDb, projectId: string, first: number, last: number): Uint8Array {
  return readBytes(db, sealedTextQuery, [projectId, first, last]);
}

/** The nodes of vectors with `after` < number ≤ `upTo`, whatever project they are of. */
export function readSealedNodes(db: ReadableDb, after: number, upTo: number): Uint8Array {
  return db.query<[number, number], { bytes: Uint8Array | null }>(sealedNodesQuery).get(after, upTo)?.bytes ?? none;
}

/** The newest node that a vector of the stretch begins with; 0 when none has a vector. */
export function findNewestNode(db: ReadableDb, projectId: string, first: number, last: number): number {
  return (
    db.query<[string, number, number], { node: number | null }>(newestNodeQuery).get(projectId, first, last)?.node ?? 0
  );
}

/** The ref moves of a project in a stretch, each with the advance record that belongs to it. */
export interface SealedMoves {
  readonly rows: Uint8Array;
  readonly count: number;
  /** How many of them sign the chain digest that the changeset of the project has to which they go. */
  readonly bound: number;
}

/** Reads the ref moves of a project numbered `first` to `last`. */
export function readSealedMoves(db: ReadableDb, projectId: string, first: number, last: number): SealedMoves {
  const row = db
    .query<[number, number, string], { bytes: Uint8Array | null; count: number; bound: number | null }>(
      sealedMovesQuery,
    )
    .get(first, last, projectId);
  return { rows: row?.bytes ?? none, count: row?.count ?? 0, bound: row?.bound ?? 0 };
}
