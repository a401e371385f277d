import { z } from 'zod';
import type { ProposalId } from '../../../src-preload/contract/ids.ts';
import {
  changesetIdSchema,
  digestSchema,
  principalIdSchema,
  proposalIdSchema,
  timestampSchema,
} from '../../../src-preload/contract/ids.ts';
import { mergeStrategySchema } from '../../../src-preload/contract/proposal.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

const mergeAttemptSchema = z.strictObject({
  nonce: z.string().regex(/^[0-9a-f]{32}$/),
  proposal_id: proposalIdSchema,
  merger: principalIdSchema,
  reviewer: principalIdSchema,
  strategy: mergeStrategySchema,
  expected_head: changesetIdSchema,
  proposal_digest: digestSchema,
  self_merge: z.int().min(0).max(1),
  replay_command: z.string(),
  replay_key: z.string(),
  request_digest: z.string(),
  started_at: timestampSchema,
});

/** One attempt to merge: what its envelope says, and the request that asked for it. */
export type MergeAttempt = z.infer<typeof mergeAttemptSchema>;

const columns =
  'nonce, proposal_id, merger, reviewer, strategy, expected_head, proposal_digest, self_merge, replay_command, replay_key, request_digest, started_at';

/** Records an attempt before anything of it reaches the store. */
export function insertMergeAttempt(db: WritableDb, attempt: MergeAttempt): void {
  db.command<[string, string, string, string, string, string, string, number, string, string, string, string]>(
    `INSERT INTO merge_attempts (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    attempt.nonce,
    attempt.proposal_id,
    attempt.merger,
    attempt.reviewer,
    attempt.strategy,
    attempt.expected_head,
    attempt.proposal_digest,
    attempt.self_merge,
    attempt.replay_command,
    attempt.replay_key,
    attempt.request_digest,
    attempt.started_at,
  );
}

/** The latest attempt at a proposal. */
export function findLastAttempt(db: ReadableDb, proposalId: ProposalId): MergeAttempt | undefined {
  const row = db
    .query<[string], unknown>(`SELECT ${columns} FROM merge_attempts WHERE proposal_id = +? ORDER BY seq DESC LIMIT 1`)
    .get(proposalId);
  return row === undefined ? undefined : mergeAttemptSchema.parse(row);
}
