import { z } from 'zod';
import { changesetSchema, opTypeSchema, refSchema } from '../changeset.ts';
import { agentCommand } from '../command.ts';
import { severitySchema } from '../conflict.ts';
import {
  changesetIdSchema,
  cursorSchema,
  digestSchema,
  findingIdSchema,
  manifestIdSchema,
  projectIdSchema,
  proposalIdSchema,
  refNameSchema,
} from '../ids.ts';
import { jsonObjectSchema } from '../json.ts';
import {
  attestationsMax,
  attributionBytesMax,
  commentBytesMax,
  idempotencyKeyBytesMax,
  listLimitMax,
  messageBytesMax,
  opsMax,
  parentsMax,
  selectedOpsMax,
} from '../limits.ts';
import {
  mergeStrategySchema,
  proposalDetailSchema,
  proposalSchema,
  proposalStatusSchema,
  selectedOpSchema,
  verdictSchema,
} from '../proposal.ts';

const idempotencyKey = z.string().min(1).max(idempotencyKeyBytesMax);
const message = z.string().min(1).max(messageBytesMax);
const attribution = z.string().max(attributionBytesMax).optional();

/** One operation as an agent sends it: the ordinal is explicit, 0..n-1 in order. */
export const opInputSchema = z.strictObject({
  ordinal: z.int().min(0),
  op_type: opTypeSchema,
  target_event_id: z.string().optional(),
  resulting_event_id: z.string().optional(),
  payload: jsonObjectSchema.optional(),
});

/** Commands that write memory, propose, review and merge. Each takes effect whole or not at all. */
export const memoryWriteCommands = [
  agentCommand({
    name: 'memory.repo_init',
    title: 'Start memory for a project',
    description:
      'Creates the root changeset and the protected ref refs/shared/main of a project. Doing it again changes nothing and answers the same.',
    scope: 'memory.commit',
    project: 'project',
    mutates: true,
    input: z.strictObject({ project: projectIdSchema }),
    output: z.strictObject({ changeset: changesetSchema, ref: refSchema }),
  }),
  agentCommand({
    name: 'memory.branch_create',
    title: 'Create a branch',
    description:
      'A ref of your own at an existing changeset: refs/agents/<your actor id>/…, refs/sessions/<your actor id>/…, refs/topics/… or refs/repos/<repo>/<branch>.',
    scope: 'memory.branch',
    project: 'project',
    mutates: true,
    input: z.strictObject({ project: projectIdSchema, ref_name: refNameSchema, head_changeset_id: changesetIdSchema }),
    output: refSchema,
  }),
  agentCommand({
    name: 'memory.changeset_create',
    title: 'Commit memory to a branch',
    description:
      'One compare-and-set commit to a ref that you own: expected_head must be its head. Ops: add_memory {content, kind?, scope?, tags?, confidence?, visibility?}; correct_memory target_event_id {what changes}; supersede_memory target_event_id {content? of what replaces it}; mark_duplicate target_event_id, resulting_event_id (the one that stays); add_relationship target_event_id, resulting_event_id {kind}; propose_deprecation target_event_id {reason}; attach_evidence and attach_verification target_event_id {kind?, source?, note?, status?}. The same idempotency_key with the same request answers the same changeset.',
    scope: 'memory.commit',
    project: 'project',
    mutates: true,
    input: z.strictObject({
      project: projectIdSchema,
      ref: refNameSchema,
      expected_head: changesetIdSchema,
      parent_ids: z.array(changesetIdSchema).min(1).max(parentsMax),
      message,
      idempotency_key: idempotencyKey,
      ops: z.array(opInputSchema).min(1).max(opsMax),
      evidence: z.array(jsonObjectSchema).max(attestationsMax).optional(),
      verification: z.array(jsonObjectSchema).max(attestationsMax).optional(),
      model: attribution,
      surface: attribution,
      environment: attribution,
      persona_id: attribution,
      session_id: attribution,
      topic_id: attribution,
      context_manifest_id: manifestIdSchema.optional(),
    }),
    output: changesetSchema.omit({ ops: true }),
  }),
  agentCommand({
    name: 'memory.merge_propose',
    title: 'Propose a merge into shared memory',
    description:
      'Asks a reviewer to merge the changes between base and head into a protected ref. The proposal is pinned to that exact head, and names its conflicts. With selected_ops only those ops are taken (a cherry-pick): ordinals of the head, or {changeset_id, ordinal}.',
    scope: 'memory.propose',
    project: 'project',
    mutates: true,
    input: z.strictObject({
      project: projectIdSchema,
      target_ref: refNameSchema,
      head_changeset_id: changesetIdSchema,
      base_changeset_id: changesetIdSchema,
      message,
      idempotency_key: idempotencyKey,
      selected_ops: z
        .array(z.union([z.int().min(0), selectedOpSchema], 'an ordinal of the head, or {changeset_id, ordinal}'))
        .min(1)
        .max(selectedOpsMax)
        .optional(),
    }),
    output: proposalSchema,
  }),
  agentCommand({
    name: 'memory.revert_propose',
    title: 'Propose to take back a changeset',
    description:
      'Commits, to a new branch of your own, a changeset that gives every memory which that changeset touched its state of before, and proposes it to refs/shared/main. Reverting a merge takes back what it brought in. Refused, naming them, for memories that changed since.',
    scope: 'memory.propose',
    project: 'project',
    mutates: true,
    input: z.strictObject({
      project: projectIdSchema,
      changeset_id: changesetIdSchema,
      message,
      idempotency_key: idempotencyKey,
    }),
    output: proposalSchema,
  }),
  agentCommand({
    name: 'memory.merge_review',
    title: 'Review a proposal',
    description:
      'Records a verdict (approve, request_changes, reject) bound to the exact state of the proposal and of its target. You cannot review your own proposal.',
    scope: 'memory.review',
    project: 'object',
    mutates: true,
    power: true,
    input: z.strictObject({
      proposal_id: proposalIdSchema,
      verdict: verdictSchema,
      comment: z.string().max(commentBytesMax).optional(),
      severity: severitySchema.optional(),
      proposal_digest: digestSchema.optional(),
      target_head: changesetIdSchema.optional(),
    }),
    output: z.strictObject({
      proposal_id: proposalIdSchema,
      verdict: verdictSchema,
      finding_id: findingIdSchema,
      proposal_digest: digestSchema,
      outcome: z.enum(['approved', 'changes_requested', 'rejected']),
    }),
  }),
  agentCommand({
    name: 'memory.merge',
    title: 'Merge an approved proposal',
    description:
      'Moves the protected ref by a signed, single-use authorization. Needs a current approval; refused when anything changed since.',
    scope: 'memory.merge',
    project: 'object',
    mutates: true,
    power: true,
    input: z.strictObject({ proposal_id: proposalIdSchema, idempotency_key: idempotencyKey }),
    output: z.strictObject({
      proposal_id: proposalIdSchema,
      status: proposalStatusSchema,
      strategy: mergeStrategySchema,
      resulting_changeset_id: changesetIdSchema,
      ref: refSchema,
    }),
  }),
  agentCommand({
    name: 'memory.merge_cancel',
    title: 'Cancel your own proposal',
    description: 'Withdraws a pending proposal. Only its originator can; its changesets stay where they are.',
    scope: 'memory.propose',
    project: 'object',
    mutates: true,
    input: z.strictObject({ proposal_id: proposalIdSchema }),
    output: proposalSchema,
  }),
  agentCommand({
    name: 'memory.proposal_list',
    title: 'Proposals of a project',
    description: 'Proposals, newest first, optionally of one status.',
    scope: 'memory.read',
    project: 'project',
    mutates: false,
    input: z.strictObject({
      project: projectIdSchema,
      status: proposalStatusSchema.optional(),
      limit: z.int().min(1).max(listLimitMax).optional(),
      cursor: cursorSchema.optional(),
    }),
    output: z.strictObject({ proposals: z.array(proposalSchema), next_cursor: cursorSchema.optional() }),
  }),
  agentCommand({
    name: 'memory.proposal_show',
    title: 'One proposal',
    description:
      'One proposal with its verdicts, what a merge would do now, its conflicts and how they would be resolved, and its changes by meaning. Follow next_cursor for more.',
    scope: 'memory.read',
    project: 'object',
    mutates: false,
    input: z.strictObject({ proposal_id: proposalIdSchema, cursor: cursorSchema.optional() }),
    output: proposalDetailSchema,
  }),
] as const;
