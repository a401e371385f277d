import type { ReadableDb } from '../../sqlite/driver.ts';

/** Tables whose rows a backup counts, under the names of its manifest. */
const counted = {
  principals: 'principals',
  tokens: 'obols',
  ledger_keys: 'ltx_keys',
  proposals: 'proposals',
  audit_entries: 'audit_entries',
} as const;

/** How many rows there are of what a backup counts. */
export function countRows(db: ReadableDb): Readonly<Record<keyof typeof counted, number>> {
  const count = (table: string): number =>
    db.query<[], { rows: number }>(`SELECT count(*) AS rows FROM ${table}`).get()?.rows ?? 0;
  return {
    principals: count(counted.principals),
    tokens: count(counted.tokens),
    ledger_keys: count(counted.ledger_keys),
    proposals: count(counted.proposals),
    audit_entries: count(counted.audit_entries),
  };
}

/** Public halves of the tokens and keys that are neither revoked nor, at `now` (a timestamp), over. */
export function listLiveCredentials(db: ReadableDb, now: string): readonly string[] {
  const obols = db
    .query<[string], { id: string }>(
      'SELECT obol_id AS id FROM obols WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?) ORDER BY obol_id',
    )
    .all(now);
  const keys = db
    .query<[], { id: string }>("SELECT 'ltx_' || key_id AS id FROM ltx_keys WHERE revoked_at IS NULL ORDER BY key_id")
    .all();
  return [...obols, ...keys].map(({ id }) => id);
}

/** Ids of proposals, oldest first. */
export function listProposalIds(db: ReadableDb): readonly string[] {
  return db
    .query<[], { proposal_id: string }>('SELECT proposal_id FROM proposals ORDER BY seq')
    .all()
    .map(({ proposal_id: id }) => id);
}
