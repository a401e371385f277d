import type { ProjectId } from '../../../src-preload/contract/ids.ts';
import { checking, type Findings } from '../../base/findings.ts';
import { type MergeEnvelope, verifyMergeEnvelope } from '../../canonical/signature.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { rowDigest } from '../row-digest.ts';
import { findAdvanceOfNonce, listAdvancesBefore, type StoredAdvance } from '../tables/advances.ts';
import { type AuthorizationRow, findAuthorization, listAuthorizationsAfter } from '../tables/authorizations.ts';
import { findMoveBySeq } from '../tables/ref-moves.ts';

const rowsPerChunk = 200;

/** A page of authorizations that was verified. */
export interface AuthorizationPage {
  /** The last nonce, undefined at the end. */
  readonly last: string | undefined;
  /** How many were signed by a merge key that is not at hand. */
  readonly unknownKeys: number;
}

/** Verifies the next spent authorizations of the store after a nonce: what was signed, and that exactly the consumed ones moved a ref. */
export function verifyAuthorizations(
  db: ReadableDb,
  after: string,
  mergeKeys: ReadonlyMap<string, Uint8Array>,
  findings: Findings,
): AuthorizationPage {
  const rows = listAuthorizationsAfter(db, after, rowsPerChunk);
  let unknownKeys = 0;
  for (const row of rows) {
    const where = `merge authorization ${row.nonce}`;
    const key = mergeKeys.get(row.key_id);
    if (key === undefined) unknownKeys += 1;
    checking(findings, where, () => verifyAuthorization(db, row, key, (problem) => findings.add(where, problem)));
  }
  return { last: rows.at(-1)?.nonce, unknownKeys };
}

function verifyAuthorization(
  db: ReadableDb,
  row: AuthorizationRow,
  key: Uint8Array | undefined,
  report: (problem: string) => void,
): void {
  const { row_digest: digest, ...columns } = row;
  if (rowDigest('merge-authorization', columns) !== digest) report('its row was altered');
  if (key !== undefined && !verifyMergeEnvelope(key, envelopeOf(row), row.signature))
    report('its signature does not verify');
  const isUsed = findAdvanceOfNonce(db, row.nonce) !== undefined;
  if (isUsed !== (row.outcome === 'consumed'))
    report(isUsed ? 'it was refused and yet moved a ref' : 'it was consumed and moved no ref');
}

/** What was signed of a spent authorization. */
export function envelopeOf(row: AuthorizationRow): MergeEnvelope {
  return {
    version: row.version,
    project_id: row.project_id,
    ref_name: row.ref_name,
    expected_head: row.expected_head,
    new_head: row.new_head,
    proposal_id: row.merge_proposal_id,
    proposal_digest: row.proposal_digest,
    reviewer_principal: row.reviewer_principal,
    merger_principal: row.merger_principal,
    strategy: row.strategy,
    issued_at: row.issued_at,
    expires_at: row.expires_at,
    nonce: row.nonce,
    key_id: row.key_id,
  };
}

/** Verifies the next advance records below a number: each agrees with its authorization and its signed move. Undefined at the end. */
export function verifyAdvances(
  db: ReadableDb,
  projectId: ProjectId,
  before: number,
  findings: Findings,
): number | undefined {
  const rows = listAdvancesBefore(db, projectId, before, rowsPerChunk);
  for (const stored of rows) {
    const where = `advance ${stored.advance.advance_id}`;
    checking(findings, where, () => {
      if (!isAuthorized(stored, findAuthorization(db, stored.advance.authorization_nonce))) {
        findings.add(where, 'its authorization says something else, or was not consumed');
      }
      const move = findMoveBySeq(db, stored.moveSeq);
      const isCarriedOut =
        move !== undefined && move.ref_name === stored.advance.ref_name && move.to_head === stored.advance.new_head;
      if (!isCarriedOut) findings.add(where, 'the ref move that it names is another one');
    });
  }
  return rows.at(-1)?.moveSeq;
}

function isAuthorized({ advance }: StoredAdvance, row: AuthorizationRow | undefined): boolean {
  if (row?.outcome !== 'consumed') return false;
  const same = [
    'project_id',
    'ref_name',
    'expected_head',
    'new_head',
    'merge_proposal_id',
    'proposal_digest',
    'reviewer_principal',
    'merger_principal',
    'strategy',
  ] as const;
  return advance.created_at === row.used_at && same.every((field) => advance[field] === row[field]);
}
