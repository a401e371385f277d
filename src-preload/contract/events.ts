import { z } from 'zod';
import {
  changesetIdSchema,
  principalIdSchema,
  projectIdSchema,
  proposalIdSchema,
  refNameSchema,
  timestampSchema,
} from './ids.ts';
import { ledgerAgentIdSchema } from './ledger.ts';
import { registrationIdSchema } from './ltx.ts';
import { proposalStatusSchema } from './proposal.ts';

/** What a backup is made in, in this order; `done`, `failed` and `canceled` are ends. */
export const backupPhases = ['waiting', 'copying', 'verifying', 'finishing', 'done', 'failed', 'canceled'] as const;

/** What the engine tells the desk after something has become durable. Ids only: whoever wants more asks for it. */
export const engineEventSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('project_created'), project_id: projectIdSchema }),
  z.strictObject({
    kind: z.literal('changeset_created'),
    project_id: projectIdSchema,
    changeset_id: changesetIdSchema,
    ref_name: z.string(),
  }),
  /** A ref was created, moved, or archived where it stands. */
  z.strictObject({
    kind: z.literal('ref_moved'),
    project_id: projectIdSchema,
    ref_name: refNameSchema,
    head_changeset_id: changesetIdSchema,
  }),
  /** Conflicts of a project were kept or got another status: what they withhold may be another. */
  z.strictObject({ kind: z.literal('conflicts_changed'), project_id: projectIdSchema }),
  z.strictObject({
    kind: z.literal('proposal_changed'),
    project_id: projectIdSchema,
    proposal_id: proposalIdSchema,
    status: proposalStatusSchema,
  }),
  /** An agent asked to be let in to the memory ledger, or was answered. */
  z.strictObject({ kind: z.literal('registration_changed'), registration_id: registrationIdSchema }),
  /** An agent wrote to its key-value memory, or the owner changed who has custody of it. */
  z.strictObject({ kind: z.literal('ledger_changed'), agent_id: ledgerAgentIdSchema }),
  /** A program asked to sign in or was answered, an access was given or ended, or signing in was turned on or off. */
  z.strictObject({ kind: z.literal('oauth_changed') }),
  /** An act of power waits for the owner's word, was decided, or was done outside the desk; or how such acts are confirmed was changed. */
  z.strictObject({ kind: z.literal('owner_requests_changed') }),
  /** A backup that is being made came further, or to an end. */
  z.strictObject({
    kind: z.literal('backup_progress'),
    job_id: z.uuid(),
    phase: z.enum(backupPhases),
    done: z.int().min(0),
    total: z.int().min(0),
  }),
  /** A backup was made, or one that was being made came to nothing. */
  z.strictObject({ kind: z.literal('backups_changed') }),
  z.strictObject({ kind: z.literal('principal_changed'), principal_id: principalIdSchema }),
  z.strictObject({
    kind: z.literal('agent_called'),
    principal_id: principalIdSchema,
    tool: z.string(),
    ok: z.boolean(),
    at: timestampSchema,
  }),
]);
export type EngineEvent = z.infer<typeof engineEventSchema>;
