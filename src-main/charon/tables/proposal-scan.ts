import { proposalIdSchema } from '../../../src-preload/contract/ids.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { findStoredProposal, type StoredProposal } from './proposals.ts';

/** A stored row as it is, for a reconciliation: one that cannot be read is a finding and not a fault. */
export interface ScannedProposal {
  readonly seq: number;
  readonly proposalId: string;
  readonly stored: StoredProposal | undefined;
}

/** Up to `limit` proposals of all projects after a place in the order of filing, oldest first. */
export function scanProposals(db: ReadableDb, afterSeq: number, limit: number): readonly ScannedProposal[] {
  return db
    .query<[number, number], { seq: number; proposal_id: string }>(
      'SELECT seq, proposal_id FROM proposals WHERE seq > +? ORDER BY seq LIMIT +?',
    )
    .all(afterSeq, limit)
    .map(({ seq, proposal_id: proposalId }) => ({ seq, proposalId, stored: readable(db, proposalId) }));
}

function readable(db: ReadableDb, proposalId: string): StoredProposal | undefined {
  try {
    return findStoredProposal(db, proposalIdSchema.parse(proposalId));
  } catch {
    return undefined;
  }
}
