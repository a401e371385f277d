import { z } from 'zod';
import type {
  ChangesetId,
  Digest,
  PrincipalId,
  ProjectId,
  ProposalId,
  Timestamp,
} from '../../../src-preload/contract/ids.ts';
import {
  changesetIdSchema,
  digestSchema,
  principalIdSchema,
  projectIdSchema,
  proposalIdSchema,
  refNameSchema,
  timestampSchema,
} from '../../../src-preload/contract/ids.ts';
import {
  type MergeStrategy,
  mergeStrategySchema,
  type ProposalStatus,
  proposalSchema,
  proposalStatusSchema,
  selectedOpSchema,
} from '../../../src-preload/contract/proposal.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

const selectionSchema = z.array(selectedOpSchema);

const storedProposalSchema = z.strictObject({
  seq: z.int(),
  proposal_id: proposalIdSchema,
  kind: proposalSchema.shape.kind,
  project_id: projectIdSchema,
  originator: principalIdSchema,
  target_ref: refNameSchema,
  base_changeset_id: changesetIdSchema,
  head_changeset_id: changesetIdSchema,
  message: z.string(),
  created_at: timestampSchema,
  expires_at: timestampSchema,
  expires_ms: z.int(),
  status: proposalStatusSchema,
  target_head: changesetIdSchema,
  decided_at: timestampSchema.nullable(),
  decided_by: principalIdSchema.nullable(),
  resulting_changeset_id: changesetIdSchema.nullable(),
  strategy: mergeStrategySchema.nullable(),
  self_merge: z.int().min(0).max(1),
  selected_ops: z
    .string()
    .nullable()
    .transform((text) => (text === null ? null : selectionSchema.parse(JSON.parse(text)))),
  decided_digest: digestSchema.nullable(),
});

/** A proposal as stored. `target_head` is where its target stood when it was filed, and at last when it was decided. */
export type StoredProposal = z.infer<typeof storedProposalSchema>;
/** A proposal that is being filed. */
export type NewProposal = Omit<
  StoredProposal,
  | 'seq'
  | 'status'
  | 'decided_at'
  | 'decided_by'
  | 'resulting_changeset_id'
  | 'strategy'
  | 'self_merge'
  | 'decided_digest'
>;

const columns =
  'seq, proposal_id, kind, project_id, originator, target_ref, base_changeset_id, head_changeset_id, message, created_at, expires_at, expires_ms, status, target_head, decided_at, decided_by, resulting_changeset_id, strategy, self_merge, selected_ops, decided_digest';

/** The stored proposal. */
export function findStoredProposal(db: ReadableDb, proposalId: ProposalId): StoredProposal | undefined {
  const row = db.query<[string], unknown>(`SELECT ${columns} FROM proposals WHERE proposal_id = ?`).get(proposalId);
  return row === undefined ? undefined : storedProposalSchema.parse(row);
}

/** A new pending proposal. */
export function insertProposal(db: WritableDb, proposal: NewProposal): void {
  db.command<
    [string, string, string, string, string, string, string, string, string, string, number, string, string | null]
  >(
    `INSERT INTO proposals (proposal_id, kind, project_id, originator, target_ref, base_changeset_id, head_changeset_id, message, created_at, expires_at, expires_ms, target_head, selected_ops, status)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending')`,
  ).run(
    proposal.proposal_id,
    proposal.kind,
    proposal.project_id,
    proposal.originator,
    proposal.target_ref,
    proposal.base_changeset_id,
    proposal.head_changeset_id,
    proposal.message,
    proposal.created_at,
    proposal.expires_at,
    proposal.expires_ms,
    proposal.target_head,
    proposal.selected_ops === null ? null : JSON.stringify(proposal.selected_ops),
  );
}

/** Newest first, before a place in that order; `pending` leaves out those whose time has passed at `nowMs`. */
export function listStoredProposals(
  db: ReadableDb,
  page: {
    readonly projectId: ProjectId;
    readonly status: ProposalStatus | undefined;
    readonly before: number;
    readonly limit: number;
    readonly nowMs: number;
  },
): readonly StoredProposal[] {
  const { projectId, status, before, limit, nowMs } = page;
  const rows =
    status === undefined
      ? db
          .query<[string, number, number], unknown>(
            `SELECT ${columns} FROM proposals WHERE project_id = +? AND seq < +? ORDER BY seq DESC LIMIT +?`,
          )
          .all(projectId, before, limit)
      : db
          .query<[string, string, number, number, number], unknown>(
            `SELECT ${columns} FROM proposals WHERE project_id = +? AND status = +? AND seq < +? AND (status <> 'pending' OR expires_ms > +?) ORDER BY seq DESC LIMIT +?`,
          )
          .all(projectId, status, before, nowMs, limit);
  return rows.map((row) => storedProposalSchema.parse(row));
}

/** Pending proposals of a project whose time has not passed. */
export function countPending(db: ReadableDb, projectId: ProjectId, nowMs: number): number {
  const row = db
    .query<[string, number], { count: number }>(
      "SELECT COUNT(*) AS count FROM proposals WHERE project_id = ? AND status = 'pending' AND expires_ms > ?",
    )
    .get(projectId, nowMs);
  return row?.count ?? 0;
}

/** Open proposals of one originator, for the quota. */
export function countOpenOf(db: ReadableDb, originator: PrincipalId, nowMs: number): number {
  const row = db
    .query<[string, number], { count: number }>(
      "SELECT COUNT(*) AS count FROM proposals WHERE originator = ? AND status IN ('pending', 'merging') AND (status = 'merging' OR expires_ms > ?)",
    )
    .get(originator, nowMs);
  return row?.count ?? 0;
}

/** Up to `limit` pending proposals whose time has passed, the longest first. */
export function listPastDue(db: ReadableDb, nowMs: number, limit: number): readonly StoredProposal[] {
  return db
    .query<[number, number], unknown>(
      `SELECT ${columns} FROM proposals WHERE status = 'pending' AND expires_ms <= +? ORDER BY expires_ms LIMIT +?`,
    )
    .all(nowMs, limit)
    .map((row) => storedProposalSchema.parse(row));
}

/** Proposals that a crash left inside their merge. */
export function listMerging(db: ReadableDb): readonly StoredProposal[] {
  return db
    .query<[], unknown>(`SELECT ${columns} FROM proposals WHERE status = 'merging' ORDER BY seq`)
    .all()
    .map((row) => storedProposalSchema.parse(row));
}

/** Between open states, as a compare-and-set; true when it was in `from`. */
export function moveProposal(
  db: WritableDb,
  proposalId: ProposalId,
  from: ProposalStatus,
  to: 'pending' | 'merging',
): boolean {
  return (
    db
      .command<[string, string, string]>('UPDATE proposals SET status = ? WHERE proposal_id = ? AND status = ?')
      .run(to, proposalId, from).changes === 1
  );
}

/** How a proposal ends. */
export interface Decision {
  readonly status: 'completed' | 'rejected' | 'canceled' | 'expired';
  readonly decidedAt: Timestamp;
  readonly decidedBy: PrincipalId | null;
  readonly targetHead: ChangesetId;
  readonly resultingChangesetId: ChangesetId | null;
  readonly strategy: MergeStrategy | null;
  readonly selfMerge: boolean;
  /** The state that was decided on. */
  readonly proposalDigest: Digest;
}

/** Into a terminal state, as a compare-and-set; true when it was in `from`. */
export function decideProposal(
  db: WritableDb,
  proposalId: ProposalId,
  from: ProposalStatus,
  decision: Decision,
): boolean {
  return (
    db
      .command<[string, string, string | null, string, string | null, string | null, number, string, string, string]>(
        `UPDATE proposals SET status = ?, decided_at = ?, decided_by = ?, target_head = ?, resulting_changeset_id = ?, strategy = ?, self_merge = ?, decided_digest = ?
         WHERE proposal_id = ? AND status = ?`,
      )
      .run(
        decision.status,
        decision.decidedAt,
        decision.decidedBy,
        decision.targetHead,
        decision.resultingChangesetId,
        decision.strategy,
        decision.selfMerge ? 1 : 0,
        decision.proposalDigest,
        proposalId,
        from,
      ).changes === 1
  );
}
