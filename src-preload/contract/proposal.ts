import { z } from 'zod';
import { conflictSchema, conflictTypeSchema, resolutionSchema, severitySchema } from './conflict.ts';
import { type DiffCategory, semanticDiffSchema } from './diff.ts';
import {
  changesetIdSchema,
  digestSchema,
  findingIdSchema,
  memoryIdSchema,
  principalIdSchema,
  projectIdSchema,
  proposalIdSchema,
  refNameSchema,
  timestampSchema,
} from './ids.ts';

export const proposalStatuses = ['pending', 'merging', 'completed', 'rejected', 'canceled', 'expired'] as const;
export const proposalStatusSchema = z.enum(proposalStatuses);
export type ProposalStatus = z.infer<typeof proposalStatusSchema>;

export const verdicts = ['approve', 'request_changes', 'reject'] as const;
export const verdictSchema = z.enum(verdicts);
export type Verdict = z.infer<typeof verdictSchema>;

export const reviewStates = ['none', 'approved', 'changes_requested', 'stale'] as const;
export const mergeStrategies = ['fast_forward', 'merge_commit', 'cherry_pick'] as const;
export const mergeStrategySchema = z.enum(mergeStrategies);
export type MergeStrategy = z.infer<typeof mergeStrategySchema>;

/** One verdict of one reviewer, bound to the exact state that was looked at. */
export const verdictRecordSchema = z.strictObject({
  finding_id: findingIdSchema,
  reviewer: principalIdSchema,
  verdict: verdictSchema,
  comment: z.string(),
  severity: severitySchema,
  proposal_digest: digestSchema,
  target_head: changesetIdSchema,
  created_at: timestampSchema,
  current: z.boolean(),
});
export type VerdictRecord = z.infer<typeof verdictRecordSchema>;

/** What a merge of this proposal would do to the target as it stands now; looking writes nothing. */
export const mergePreviewSchema = z.strictObject({
  target_head: changesetIdSchema,
  strategy: z.enum([...mergeStrategies, 'nothing_to_merge']),
  /** Changesets that the target has and the proposal's head has not. */
  target_ahead: z.int().min(0),
  /** Changesets that a merge would bring in. */
  proposal_ahead: z.int().min(0),
  /** Memories that both sides changed since they parted (first 100, in id order). */
  contested_memory_ids: z.array(memoryIdSchema),
  contested_total: z.int().min(0),
});
export type MergePreview = z.infer<typeof mergePreviewSchema>;

/** One op of a changeset, as a cherry-pick takes it. */
export const selectedOpSchema = z.strictObject({ changeset_id: changesetIdSchema, ordinal: z.int().min(0) });
export type SelectedOp = z.infer<typeof selectedOpSchema>;

const count = z.int().min(0);

/** How many conflicts there are, each severity by itself. */
export const conflictCountsSchema = z.strictObject({
  blocking: count,
  warning: count,
  info: count,
  /** Blocking ones that are open and have no drafted resolution: a merge is refused while there is one. */
  unresolved: count,
});
export type ConflictCounts = z.infer<typeof conflictCountsSchema>;

/** What a merge of this proposal would do now, with the resolutions that are drafted: the first line of a review. */
export const proposalPreviewSchema = z.strictObject({
  ...mergePreviewSchema.shape,
  /** Changes by meaning, category by category, up to `changePreviewMax` of them; `changes_complete` is false beyond. */
  changes: z.strictObject({
    memories_added: count,
    corrections_proposed: count,
    records_superseded: count,
    relationships_added: count,
    decisions_changed: count,
    tasks_or_flags_changed: count,
    duplicates_detected: count,
    permissions_or_visibility_affected: count,
    evidence_added_or_removed: count,
  } satisfies Record<DiffCategory, typeof count>),
  changes_complete: z.boolean(),
  /** Blocking conflicts that are open, type by type, whether or not a resolution is drafted. */
  blocking_by_type: z.partialRecord(conflictTypeSchema, count),
  /** The target moved since the proposal was filed. */
  target_moved: z.boolean(),
  /** Blocking conflicts that were not there when the proposal was filed. */
  new_conflicts: count,
  /** Of a cherry-pick an op that leads to a memory which the target has retired since: a merge is refused while it is taken. */
  lost_op: selectedOpSchema.optional(),
});
export type ProposalPreview = z.infer<typeof proposalPreviewSchema>;

export const proposalSchema = z.strictObject({
  proposal_id: proposalIdSchema,
  kind: z.enum(['merge_request', 'changeset', 'memory']),
  project_id: projectIdSchema,
  originator: principalIdSchema,
  target_ref: refNameSchema,
  base_changeset_id: changesetIdSchema,
  head_changeset_id: changesetIdSchema,
  /** The ops that a cherry-pick takes, in the order of history; null when the whole head is proposed. */
  selected_ops: z.array(selectedOpSchema).nullable(),
  message: z.string(),
  status: proposalStatusSchema,
  review_state: z.enum(reviewStates),
  proposal_digest: digestSchema,
  target_head: changesetIdSchema,
  /**
   * Of a pending proposal what is detected now against its target, of a decided one what was kept; blocking ones first. Here at
   * most `conflictsListedMax`, with no details but the first memories that they name; `memory.proposal_show` has all, in pages.
   */
  conflicts: z.array(conflictSchema),
  /** Ids of the conflicts that are listed. */
  conflict_ids: z.array(digestSchema),
  conflict_counts: conflictCountsSchema,
  verdicts: z.array(verdictRecordSchema),
  /** Ids of the findings that are listed, each in its verdict. */
  review_findings: z.array(findingIdSchema),
  created_at: timestampSchema,
  expires_at: timestampSchema,
  decided_at: timestampSchema.optional(),
  decided_by: principalIdSchema.optional(),
  resulting_changeset_id: changesetIdSchema.optional(),
  strategy: mergeStrategySchema.optional(),
  self_merge: z.boolean(),
});
export type Proposal = z.infer<typeof proposalSchema>;

/** A proposal with what a reviewer needs to decide. */
export const proposalDetailSchema = z.strictObject({
  ...proposalSchema.shape,
  originator_name: z.string(),
  preview: proposalPreviewSchema.nullable(),
  /** Drafts for the conflicts of this page, with the ops that the merge will write for them as things stand. */
  resolutions: z.array(resolutionSchema),
  /** What the proposal's side changes, before → after, whatever else moved on the target. */
  diff: semanticDiffSchema,
  /** For the next page: first the rest of the conflicts with their resolutions, then the rest of the diff. */
  next_cursor: z.string().optional(),
});
export type ProposalDetail = z.infer<typeof proposalDetailSchema>;

/** The record that the store writes in the transaction that moves a protected ref (`lethe.md` §2.9). */
export const advanceSchema = z.strictObject({
  advance_id: z.string(),
  project_id: projectIdSchema,
  ref_name: refNameSchema,
  expected_head: changesetIdSchema,
  new_head: changesetIdSchema,
  merge_proposal_id: z.string(),
  proposal_digest: digestSchema,
  reviewer_principal: z.string(),
  merger_principal: z.string(),
  strategy: mergeStrategySchema,
  authorization_nonce: z.string(),
  created_at: timestampSchema,
});
export type Advance = z.infer<typeof advanceSchema>;
