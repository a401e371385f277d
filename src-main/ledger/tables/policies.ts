import type { ReadableDb, SqlValue, WritableDb } from '../../sqlite/driver.ts';
import type { DigestedPolicy } from '../rules/policy-digest.ts';

/** A declared policy as it is stored, with what it was signed with. `params` is the canonical text. */
export interface PolicyRow extends DigestedPolicy {
  readonly agent: number;
  readonly row_digest: string;
}

const columns = [
  'seq',
  'agent',
  'version',
  'policy_id',
  'supersedes',
  'template_id',
  'params',
  'custody_epoch',
  'challenge_id',
  'challenge_nonce',
  'issued_at',
  'expires_at',
  'public_key',
  'signature',
  'amended_ms',
  'previous_digest',
  'row_digest',
] as const satisfies readonly (keyof PolicyRow)[];
const listed = columns.join(', ');

export const policyQueries = {
  before: `SELECT ${listed} FROM ledger_policies WHERE agent = +? AND version < +? ORDER BY version DESC LIMIT +?`,
  byVersion: `SELECT ${listed} FROM ledger_policies WHERE agent = ? AND version = ?`,
  after: `SELECT ${listed} FROM ledger_policies WHERE seq > +? ORDER BY seq LIMIT +?`,
} as const;

/** Policies of an agent with versions below a number, the newest first. */
export function listPolicyRows(db: ReadableDb, agent: number, before: number, limit: number): readonly PolicyRow[] {
  return db.query<[number, number, number], PolicyRow>(policyQueries.before).all(agent, before, limit);
}

/** The policy of an agent that stands. */
export function findPolicyRow(db: ReadableDb, agent: number): PolicyRow | undefined {
  return listPolicyRows(db, agent, Number.MAX_SAFE_INTEGER, 1)[0];
}

/** One version of an agent's policy. */
export function findPolicyVersion(db: ReadableDb, agent: number, version: number): PolicyRow | undefined {
  return db.query<[number, number], PolicyRow>(policyQueries.byVersion).get(agent, version);
}

/** Policies of all agents above a number, oldest first. */
export function listPoliciesAfter(db: ReadableDb, after: number, limit: number): readonly PolicyRow[] {
  return db.query<[number, number], PolicyRow>(policyQueries.after).all(after, limit);
}

/** The greatest number of a policy of any agent; 0 before the first. */
export function findLastPolicySeq(db: ReadableDb): number {
  return db.query<[], { seq: number | null }>('SELECT max(seq) AS seq FROM ledger_policies').get()?.seq ?? 0;
}

/** Appends a policy. */
export function insertPolicyRow(db: WritableDb, row: PolicyRow): void {
  db.command<SqlValue[]>(`INSERT INTO ledger_policies (${listed}) VALUES (${columns.map(() => '?').join(', ')})`).run(
    ...columns.map((column) => row[column]),
  );
}
