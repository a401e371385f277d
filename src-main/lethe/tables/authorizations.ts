import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

/** One spent merge authorization: everything that was signed, and what came of it. */
export interface AuthorizationRow {
  readonly nonce: string;
  readonly version: string;
  readonly key_id: string;
  readonly project_id: string;
  readonly ref_name: string;
  readonly expected_head: string;
  readonly new_head: string;
  readonly merge_proposal_id: string;
  readonly proposal_digest: string;
  readonly reviewer_principal: string;
  readonly merger_principal: string;
  readonly strategy: string;
  readonly issued_at: string;
  readonly expires_at: string;
  readonly signature: string;
  readonly used_at: string;
  readonly outcome: 'consumed' | 'refused';
  /** The fault's code when refused, else empty. */
  readonly refusal: string;
  readonly row_digest: string;
}

const columns = `nonce, version, key_id, project_id, ref_name, expected_head, new_head, merge_proposal_id, proposal_digest,
  reviewer_principal, merger_principal, strategy, issued_at, expires_at, signature, used_at, outcome, refusal, row_digest`;

/** The authorization that spent a nonce. */
export function findAuthorization(db: ReadableDb, nonce: string): AuthorizationRow | undefined {
  return db
    .query<[string], AuthorizationRow>(`SELECT ${columns} FROM memory_merge_authorizations WHERE nonce = ?`)
    .get(nonce);
}

/** Authorizations of all projects after a nonce, in nonce order, at most `limit`. */
export function listAuthorizationsAfter(db: ReadableDb, after: string, limit: number): readonly AuthorizationRow[] {
  return db
    .query<[string, number], AuthorizationRow>(
      `SELECT ${columns} FROM memory_merge_authorizations WHERE nonce > ? ORDER BY nonce LIMIT +?`,
    )
    .all(after, limit);
}

/** Writes a spent authorization. */
export function insertAuthorization(db: WritableDb, row: AuthorizationRow): void {
  db.command<string[]>(
    `INSERT INTO memory_merge_authorizations (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    row.nonce,
    row.version,
    row.key_id,
    row.project_id,
    row.ref_name,
    row.expected_head,
    row.new_head,
    row.merge_proposal_id,
    row.proposal_digest,
    row.reviewer_principal,
    row.merger_principal,
    row.strategy,
    row.issued_at,
    row.expires_at,
    row.signature,
    row.used_at,
    row.outcome,
    row.refusal,
    row.row_digest,
  );
}
