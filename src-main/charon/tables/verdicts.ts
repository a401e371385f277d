import type { ProposalId } from '../../../src-preload/contract/ids.ts';
import { verdictRecordSchema } from '../../../src-preload/contract/proposal.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';
import type { StoredVerdict } from '../rules/review-state.ts';

const storedVerdictSchema = verdictRecordSchema.omit({ current: true });
const columns = 'finding_id, reviewer, verdict, comment, severity, proposal_digest, target_head, created_at';

/** The verdicts of a proposal, oldest first. */
export function listVerdicts(db: ReadableDb, proposalId: ProposalId): readonly StoredVerdict[] {
  return db
    .query<[string], unknown>(`SELECT ${columns} FROM verdicts WHERE proposal_id = +? ORDER BY seq`)
    .all(proposalId)
    .map((row) => storedVerdictSchema.parse(row));
}

/** Records a verdict for ever. */
export function insertVerdict(db: WritableDb, proposalId: ProposalId, verdict: StoredVerdict): void {
  db.command<[string, string, string, string, string, string, string, string, string]>(
    `INSERT INTO verdicts (proposal_id, ${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    proposalId,
    verdict.finding_id,
    verdict.reviewer,
    verdict.verdict,
    verdict.comment,
    verdict.severity,
    verdict.proposal_digest,
    verdict.target_head,
    verdict.created_at,
  );
}
