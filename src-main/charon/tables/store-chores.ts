import { z } from 'zod';
import { changesetIdSchema, type ProposalId, proposalIdSchema } from '../../../src-preload/contract/ids.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

const choreSchema = z.strictObject({
  seq: z.int(),
  proposal_id: proposalIdSchema,
  chore: z.enum(['keep', 'reject', 'cancel']),
  target_head: changesetIdSchema,
  since: z.string(),
});

/**
 * What the store has still to be told of a proposal: to keep what it is in conflict with as of `target_head`, or that its
 * conflicts ended. Written with the change that makes it due, since two files never commit together.
 */
export type StoreChore = z.infer<typeof choreSchema>;

const columns = 'seq, proposal_id, chore, target_head, since';

/** Notes a chore. */
export function insertChore(db: WritableDb, chore: Omit<StoreChore, 'seq'>): void {
  db.command<[string, string, string, string]>(
    'INSERT INTO store_chores (proposal_id, chore, target_head, since) VALUES (?, ?, ?, ?)',
  ).run(chore.proposal_id, chore.chore, chore.target_head, chore.since);
}

/** The chores of one proposal, oldest first. */
export function listChoresOf(db: ReadableDb, proposalId: ProposalId): readonly StoreChore[] {
  return db
    .query<[string], unknown>(`SELECT ${columns} FROM store_chores WHERE proposal_id = +? ORDER BY seq`)
    .all(proposalId)
    .map((row) => choreSchema.parse(row));
}

/** Proposals that have chores, those of the longest first, at most `limit`, after a place in that order. */
export function listProposalsWithChores(db: ReadableDb, limit: number): readonly ProposalId[] {
  return db
    .query<[number], { proposal_id: string }>(
      'SELECT proposal_id FROM store_chores GROUP BY proposal_id ORDER BY MIN(seq) LIMIT +?',
    )
    .all(limit)
    .map((row) => proposalIdSchema.parse(row.proposal_id));
}

/** The chore is done. */
export function deleteChore(db: WritableDb, seq: number): void {
  db.command<[number]>('DELETE FROM store_chores WHERE seq = ?').run(seq);
}
