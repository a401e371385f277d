import type { ChangesetId, Digest, ProjectId, RefName, Timestamp } from '../../../src-preload/contract/ids.ts';
import type { Advance, MergeStrategy } from '../../../src-preload/contract/proposal.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

/** An advance record with the number of the ref move that it is about. */
export interface StoredAdvance {
  readonly moveSeq: number;
  readonly advance: Advance;
}

interface AdvanceRow {
  readonly advance_id: string;
  readonly project_id: string;
  readonly ref_name: string;
  readonly expected_head: string;
  readonly new_head: string;
  readonly merge_proposal_id: string;
  readonly proposal_digest: string;
  readonly reviewer_principal: string;
  readonly merger_principal: string;
  readonly strategy: string;
  readonly authorization_nonce: string;
  readonly move_seq: number;
  readonly created_at: string;
}

const columns = `advance_id, project_id, ref_name, expected_head, new_head, merge_proposal_id, proposal_digest, reviewer_principal,
  merger_principal, strategy, authorization_nonce, move_seq, created_at`;

/** The newest advance that a proposal came to. */
export function findAdvanceOfProposal(
  db: ReadableDb,
  projectId: string,
  proposalId: string,
): StoredAdvance | undefined {
  const row = db
    .query<[string, string], AdvanceRow>(
      `SELECT ${columns} FROM memory_protected_ref_advances WHERE project_id = +? AND merge_proposal_id = +? ORDER BY move_seq DESC LIMIT 1`,
    )
    .get(projectId, proposalId);
  return row === undefined ? undefined : decodeAdvance(row);
}

/** The advance of that id, of whatever project. */
export function findAdvanceById(db: ReadableDb, advanceId: string): StoredAdvance | undefined {
  const row = db
    .query<[string], AdvanceRow>(`SELECT ${columns} FROM memory_protected_ref_advances WHERE advance_id = ?`)
    .get(advanceId);
  return row === undefined ? undefined : decodeAdvance(row);
}

/** The advance that a ref move carried out. */
export function findAdvanceOfMove(db: ReadableDb, moveSeq: number): StoredAdvance | undefined {
  const row = db
    .query<[number], AdvanceRow>(`SELECT ${columns} FROM memory_protected_ref_advances WHERE move_seq = ?`)
    .get(moveSeq);
  return row === undefined ? undefined : decodeAdvance(row);
}

/** The advance that a nonce authorized. */
export function findAdvanceOfNonce(db: ReadableDb, nonce: string): StoredAdvance | undefined {
  const row = db
    .query<[string], AdvanceRow>(`SELECT ${columns} FROM memory_protected_ref_advances WHERE authorization_nonce = ?`)
    .get(nonce);
  return row === undefined ? undefined : decodeAdvance(row);
}

/** Advances of a project whose moves are numbered below `before`, newest first, at most `limit`. */
export function listAdvancesBefore(
  db: ReadableDb,
  projectId: string,
  before: number,
  limit: number,
): readonly StoredAdvance[] {
  return db
    .query<[string, number, number], AdvanceRow>(
      `SELECT ${columns} FROM memory_protected_ref_advances WHERE project_id = +? AND move_seq < +? ORDER BY move_seq DESC LIMIT +?`,
    )
    .all(projectId, before, limit)
    .map(decodeAdvance);
}

/** Writes an advance record. */
export function insertAdvance(db: WritableDb, advance: Advance, moveSeq: number): void {
  db.command<(string | number)[]>(
    `INSERT INTO memory_protected_ref_advances (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    advance.advance_id,
    advance.project_id,
    advance.ref_name,
    advance.expected_head,
    advance.new_head,
    advance.merge_proposal_id,
    advance.proposal_digest,
    advance.reviewer_principal,
    advance.merger_principal,
    advance.strategy,
    advance.authorization_nonce,
    moveSeq,
    advance.created_at,
  );
}

function decodeAdvance(row: AdvanceRow): StoredAdvance {
  return {
    moveSeq: row.move_seq,
    advance: {
      advance_id: row.advance_id,
      project_id: row.project_id as ProjectId,
      ref_name: row.ref_name as RefName,
      expected_head: row.expected_head as ChangesetId,
      new_head: row.new_head as ChangesetId,
      merge_proposal_id: row.merge_proposal_id,
      proposal_digest: row.proposal_digest as Digest,
      reviewer_principal: row.reviewer_principal,
      merger_principal: row.merger_principal,
      strategy: row.strategy as MergeStrategy,
      authorization_nonce: row.authorization_nonce,
      created_at: row.created_at as Timestamp,
    },
  };
}
