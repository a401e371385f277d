import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

/** What every seal says of its stretch: which numbers of a project, first and last included, and how many there are. */
export interface SealedStretch {
  readonly project_id: string;
  readonly first: number;
  readonly last: number;
  readonly count: number;
}

/** Who signed a seal: the head key whose first move has this number. */
export interface SealSignature {
  readonly key_seq: number;
  readonly signature: string;
}

/** What was found whole of a stretch of changesets, and of everything that is derived from it. */
export interface ChangesetSealing extends SealedStretch {
  /** Over the digests of the changesets and the columns that those do not cover. */
  readonly history_digest: string;
  /** Over the derived rows. */
  readonly index_digest: string;
  /** Over the rows that say which states the full-text index holds. */
  readonly text_digest: string;
  /** The sum of the tokens of those states. */
  readonly postings: string;
  /** The sum of the rows by which memories are compared. */
  readonly semantic_keys: string;
  /** The newest node of a vector of the project up to here; 0 when there is none. */
  readonly nodes_through: number;
}

export type ChangesetSeal = ChangesetSealing & SealSignature;

/** What was found whole of a stretch of ref moves. */
export interface MoveSealing extends SealedStretch {
  readonly digest: string;
}

export type MoveSeal = MoveSealing & SealSignature;

const changesetColumns = `project_id, first, last, count, history_digest, index_digest, text_digest, postings, semantic_keys,
  nodes_through, key_seq, signature`;
const moveColumns = 'project_id, first, last, count, digest, key_seq, signature';

/** The next seal of a project that ends above a changeset number. */
export function findChangesetSealAfter(db: ReadableDb, projectId: string, after: number): ChangesetSeal | undefined {
  return db
    .query<[string, number], ChangesetSeal>(
      `SELECT ${changesetColumns} FROM memory_changeset_seals WHERE project_id = +? AND last > +? ORDER BY last LIMIT 1`,
    )
    .get(projectId, after);
}

/** The next seal of a project that ends above a move number. */
export function findMoveSealAfter(db: ReadableDb, projectId: string, after: number): MoveSeal | undefined {
  return db
    .query<[string, number], MoveSeal>(
      `SELECT ${moveColumns} FROM memory_move_seals WHERE project_id = +? AND last > +? ORDER BY last LIMIT 1`,
    )
    .get(projectId, after);
}

/** Up to where seals cover a project; everything 0 where there is none. */
export interface SealedThrough {
  readonly changesets: number;
  readonly moves: number;
  readonly nodes: number;
}

/** Where the last seals of a project end. */
export function findSealedThrough(db: ReadableDb, projectId: string): SealedThrough {
  const changesets = db
    .query<[string], Pick<ChangesetSeal, 'last' | 'nodes_through'>>(
      'SELECT last, nodes_through FROM memory_changeset_seals WHERE project_id = +? ORDER BY last DESC LIMIT 1',
    )
    .get(projectId);
  const moves = db
    .query<[string], Pick<MoveSeal, 'last'>>(
      'SELECT last FROM memory_move_seals WHERE project_id = +? ORDER BY last DESC LIMIT 1',
    )
    .get(projectId);
  return { changesets: changesets?.last ?? 0, moves: moves?.last ?? 0, nodes: changesets?.nodes_through ?? 0 };
}

/** Writes a seal; one that ended there is replaced. */
export function insertChangesetSeal(db: WritableDb, seal: ChangesetSeal): void {
  db.command<(string | number)[]>(
    `INSERT OR REPLACE INTO memory_changeset_seals (${changesetColumns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    seal.project_id,
    seal.first,
    seal.last,
    seal.count,
    seal.history_digest,
    seal.index_digest,
    seal.text_digest,
    seal.postings,
    seal.semantic_keys,
    seal.nodes_through,
    seal.key_seq,
    seal.signature,
  );
}

/** Writes a seal; one that ended there is replaced. */
export function insertMoveSeal(db: WritableDb, seal: MoveSeal): void {
  db.command<(string | number)[]>(
    `INSERT OR REPLACE INTO memory_move_seals (${moveColumns}) VALUES (?, ?, ?, ?, ?, ?, ?)`,
  ).run(seal.project_id, seal.first, seal.last, seal.count, seal.digest, seal.key_seq, seal.signature);
}

/** Drops the seals of a project, all of which can be made anew. */
export function deleteSeals(db: WritableDb, projectId: string): void {
  for (const table of ['memory_changeset_seals', 'memory_move_seals'])
    db.command<[string]>(`DELETE FROM ${table} WHERE project_id = ?`).run(projectId);
}
