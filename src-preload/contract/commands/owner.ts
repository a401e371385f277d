import { z } from 'zod';
import { auditEntrySchema, verifyReportSchema } from '../audit.ts';
import { graphNodeSchema, projectSchema, refSchema } from '../changeset.ts';
import { ownerCommand } from '../command.ts';
import { conflictSchema, conflictStatusSchema, resolutionInputSchema } from '../conflict.ts';
import {
  actorIdSchema,
  changesetIdSchema,
  cursorSchema,
  digestSchema,
  obolIdSchema,
  principalIdSchema,
  projectIdSchema,
  proposalIdSchema,
  refNameSchema,
  timestampSchema,
} from '../ids.ts';
import { idempotencyKeyBytesMax, listLimitMax, messageBytesMax, obolLifeMaxMs } from '../limits.ts';
import { agentProfileSchema, grantSchema, obolSchema, principalSchema } from '../principal.ts';
import { proposalDetailSchema, proposalSchema } from '../proposal.ts';

const principalName = z
  .string()
  .trim()
  .min(1)
  .max(128)
  .regex(/^\P{C}*$/u, 'a name has printable characters only');
const principalDetail = z.strictObject({
  ...principalSchema.shape,
  obols: z.array(obolSchema),
  owned_prefixes: z.array(z.string()),
});
const oneRef = z.strictObject({ principal_id: principalIdSchema });

/** Commands of the owner's doors only: window, owner page, owner socket. */
export const ownerCommands = [
  ownerCommand({
    name: 'engine.status',
    title: 'State of the engine',
    description: 'Version, home, doors, recovery mode, the last call of an agent.',
    mutates: false,
    input: z.strictObject({}),
    output: z.strictObject({
      version: z.string(),
      home_id: z.string(),
      home: z.string(),
      owner: principalSchema,
      mcp_url: z.string().nullable(),
      recovery_readonly: z.boolean(),
      started_at: timestampSchema,
      now: timestampSchema,
      last_agent_call: z
        .strictObject({ principal_id: principalIdSchema, name: z.string(), tool: z.string(), at: timestampSchema })
        .nullable(),
    }),
  }),
  ownerCommand({
    name: 'project.list',
    title: 'Projects',
    description:
      'Every project with the head of its main ref, how much memory is accepted, and how many proposals wait.',
    mutates: false,
    input: z.strictObject({}),
    output: z.strictObject({
      projects: z.array(
        z.strictObject({
          ...projectSchema.shape,
          main_head: changesetIdSchema,
          main_chain_digest: digestSchema,
          total_active: z.int().min(0),
          pending_proposals: z.int().min(0),
        }),
      ),
    }),
  }),
  ownerCommand({
    name: 'history.graph',
    title: 'Commit graph',
    description: 'All changesets of a project, newest first, with the refs that point at them.',
    mutates: false,
    input: z.strictObject({
      project: projectIdSchema,
      limit: z.int().min(1).max(listLimitMax).optional(),
      cursor: cursorSchema.optional(),
    }),
    output: z.strictObject({
      project: projectIdSchema,
      nodes: z.array(graphNodeSchema),
      refs: z.array(refSchema),
      next_cursor: cursorSchema.optional(),
    }),
  }),
  ownerCommand({
    name: 'ref.overview',
    title: 'Branches',
    description:
      'Refs of a project in name order, each with how far it stands ahead of refs/shared/main and behind it, and what its head says.',
    mutates: false,
    input: z.strictObject({
      project: projectIdSchema,
      archived: z.boolean().optional(),
      limit: z.int().min(1).max(listLimitMax).optional(),
      cursor: cursorSchema.optional(),
    }),
    output: z.strictObject({
      main_head: changesetIdSchema,
      refs: z.array(
        z.strictObject({
          ref: refSchema,
          ahead: z.int().min(0),
          behind: z.int().min(0),
          message: z.string(),
          author_principal: z.string(),
        }),
      ),
      next_cursor: cursorSchema.optional(),
    }),
  }),
  ownerCommand({
    name: 'ref.archive',
    title: 'Archive a branch',
    description:
      'Hides a branch from lists and ends it where it stands: it takes no more commits, its name stays taken, its history stays. This cannot be undone; a new branch can start at its head.',
    mutates: true,
    input: z.strictObject({ project: projectIdSchema, ref_name: refNameSchema, expected_head: changesetIdSchema }),
    output: refSchema,
  }),
  ownerCommand({
    name: 'store.verify_chain',
    title: 'Verify the history of a project',
    description:
      'Recomputes every digest and the chain of the project, and compares moves of refs and derived indexes with the seals of earlier verifications, or verifies them from scratch; names what does not hold. `full` trusts no seal.',
    mutates: false,
    input: z.strictObject({ project: projectIdSchema, full: z.boolean().optional() }),
    output: verifyReportSchema,
  }),
  ownerCommand({
    name: 'conflict.list',
    title: 'Conflicts of a project',
    description: 'Conflicts that were kept for proposals, newest first, optionally of one status.',
    mutates: false,
    input: z.strictObject({
      project: projectIdSchema,
      status: conflictStatusSchema.optional(),
      limit: z.int().min(1).max(listLimitMax).optional(),
      cursor: cursorSchema.optional(),
    }),
    output: z.strictObject({ conflicts: z.array(conflictSchema), next_cursor: cursorSchema.optional() }),
  }),
  ownerCommand({
    name: 'proposal.draft_resolution',
    title: 'Draft the resolution of a conflict',
    description:
      'Keeps how a blocking conflict of a pending proposal is to be settled (ours, theirs, both, edit), over what was drafted before. It settles nothing until the merge that carries it.',
    mutates: true,
    input: z.strictObject({ proposal_id: proposalIdSchema, resolution: resolutionInputSchema }),
    output: proposalDetailSchema,
  }),
  ownerCommand({
    name: 'proposal.drop_resolution',
    title: 'Drop a drafted resolution',
    description: 'The conflict has no drafted resolution any more. Dropping one that is not there changes nothing.',
    mutates: true,
    input: z.strictObject({ proposal_id: proposalIdSchema, conflict_key: digestSchema }),
    output: proposalDetailSchema,
  }),
  ownerCommand({
    name: 'proposal.revert_advance',
    title: 'Propose to undo a merge',
    description:
      'Proposes to take back what one move of refs/shared/main brought in, from its expected head to its new head. Refused, naming them, for memories that changed since.',
    mutates: true,
    input: z.strictObject({
      project: projectIdSchema,
      expected_head: changesetIdSchema,
      new_head: changesetIdSchema,
      message: z.string().min(1).max(messageBytesMax),
      idempotency_key: z.string().min(1).max(idempotencyKeyBytesMax),
    }),
    output: proposalSchema,
  }),
  ownerCommand({
    name: 'principal.list',
    title: 'Agents',
    description: 'Every principal with its profile, grants and tokens.',
    mutates: false,
    input: z.strictObject({}),
    output: z.strictObject({ principals: z.array(principalDetail) }),
  }),
  ownerCommand({
    name: 'principal.reconcile',
    title: 'Create or update an agent',
    description:
      'Finds the principal of exactly that name or creates it, sets its profile and adds the grant; removes nothing.',
    mutates: true,
    power: true,
    input: z.strictObject({
      name: principalName,
      profile: agentProfileSchema,
      project: grantSchema,
      actor_id: actorIdSchema.optional(),
    }),
    output: z.strictObject({ principal: principalSchema, created: z.boolean() }),
  }),
  ownerCommand({
    name: 'principal.set_enabled',
    title: 'Enable or disable an agent',
    description: 'A disabled principal is refused from its next call on; nothing of what it wrote is touched.',
    mutates: true,
    power: true,
    input: z.strictObject({ ...oneRef.shape, enabled: z.boolean() }),
    output: principalSchema,
  }),
  ownerCommand({
    name: 'principal.revoke_grant',
    title: 'Take a project away from an agent',
    description: 'Removes one exact grant, from the next call on.',
    mutates: true,
    power: true,
    input: z.strictObject({ ...oneRef.shape, project: grantSchema }),
    output: principalSchema,
  }),
  ownerCommand({
    name: 'obol.mint',
    title: 'Mint a token',
    description:
      'A bearer token for one principal, shown once. Expires after 7 days unless said otherwise, 90 days at most; null never expires.',
    mutates: true,
    power: true,
    input: z.strictObject({ ...oneRef.shape, expires_ms: z.int().min(1_000).max(obolLifeMaxMs).nullable().optional() }),
    output: z.strictObject({ obol: obolSchema, token: z.string() }),
  }),
  ownerCommand({
    name: 'obol.list',
    title: 'Tokens',
    description: 'Tokens of one principal or of all, newest first; never the secret.',
    mutates: false,
    input: z.strictObject({ principal_id: principalIdSchema.optional() }),
    output: z.strictObject({ obols: z.array(obolSchema) }),
  }),
  ownerCommand({
    name: 'obol.revoke',
    title: 'Revoke a token',
    description: 'The token is refused from the next call on. This cannot be undone; mint another.',
    mutates: true,
    power: true,
    input: z.strictObject({ obol_id: obolIdSchema }),
    output: obolSchema,
  }),
  ownerCommand({
    name: 'audit.verify',
    title: 'Verify the audit ledger',
    description: 'Checks the hash chain, every MAC and the anchor; names the first entry that does not hold.',
    mutates: false,
    input: z.strictObject({}),
    output: verifyReportSchema,
  }),
  ownerCommand({
    name: 'audit.tail',
    title: 'Newest audit entries',
    description: 'Entries of the audit ledger, newest first.',
    mutates: false,
    input: z.strictObject({
      limit: z.int().min(1).max(listLimitMax).optional(),
      before_seq: z.int().min(1).optional(),
    }),
    output: z.strictObject({ entries: z.array(auditEntrySchema) }),
  }),
] as const;
