import { z } from 'zod';
import {
  changesetIdSchema,
  digestSchema,
  type PrincipalId,
  type ProposalId,
  type Timestamp,
} from '../../../src-preload/contract/ids.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';
import type { ReviewedState } from '../rules/review-state.ts';

const rowSchema = z.strictObject({ proposal_digest: digestSchema, target_head: changesetIdSchema });

/** The state of the proposal that this principal was last shown. */
export function findServed(
  db: ReadableDb,
  principalId: PrincipalId,
  proposalId: ProposalId,
): ReviewedState | undefined {
  const row = db
    .query<[string, string], unknown>(
      'SELECT proposal_digest, target_head FROM served_snapshots WHERE principal_id = ? AND proposal_id = ?',
    )
    .get(principalId, proposalId);
  if (row === undefined) return undefined;
  const parsed = rowSchema.parse(row);
  return { proposalDigest: parsed.proposal_digest, targetHead: parsed.target_head };
}

/** Remembers what this principal was shown, over what it was shown before. */
export function upsertServed(
  db: WritableDb,
  principalId: PrincipalId,
  proposalId: ProposalId,
  state: ReviewedState,
  servedAt: Timestamp,
): void {
  db.command<[string, string, string, string, string]>(
    `INSERT INTO served_snapshots (principal_id, proposal_id, proposal_digest, target_head, served_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (principal_id, proposal_id) DO UPDATE SET proposal_digest = excluded.proposal_digest, target_head = excluded.target_head, served_at = excluded.served_at`,
  ).run(principalId, proposalId, state.proposalDigest, state.targetHead, servedAt);
}
