import { z } from 'zod';
import { opTypeSchema } from './changeset.ts';
import { digestSchema, projectIdSchema, timestampSchema } from './ids.ts';
import { jsonObjectSchema } from './json.ts';
import { contentBytesMax, summaryBytesMax } from './limits.ts';

export const severities = ['info', 'warning', 'blocking'] as const;
export const severitySchema = z.enum(severities);
export type Severity = z.infer<typeof severitySchema>;

/** What the detectors find: the protocol's eight rows (`lethe.md` §7) and the three of `lethe.md` D6. */
export const conflictTypes = [
  'stale_base',
  'duplicate_content',
  'contradictory_decision',
  'protected_decision',
  'incompatible_fact',
  'boundary_violation',
  'scope_flow',
  'trust_downgrade',
  'identity_collision',
  'concurrent_edit',
  'delete_modify',
] as const;
export const conflictTypeSchema = z.enum(conflictTypes);
export type ConflictType = z.infer<typeof conflictTypeSchema>;

export const conflictStatuses = ['open', 'resolved', 'rejected', 'superseded', 'canceled', 'deferred'] as const;
export const conflictStatusSchema = z.enum(conflictStatuses);
export type ConflictStatus = z.infer<typeof conflictStatusSchema>;

/** A typed semantic conflict (`lethe.md` §2.6). Its details always name the memories it is about: `memory_ids`. */
export const conflictSchema = z.strictObject({
  conflict_id: digestSchema,
  project_id: projectIdSchema,
  base_changeset_id: z.string().optional(),
  left_changeset_id: z.string(),
  right_changeset_id: z.string(),
  conflict_type: conflictTypeSchema,
  severity: severitySchema,
  summary: z.string(),
  details: jsonObjectSchema.optional(),
  status: conflictStatusSchema,
  proposal_id: z.string().optional(),
  created_at: timestampSchema,
  resolved_at: timestampSchema.optional(),
  resolution_note: z.string().optional(),
  /** Equal as long as both sides say the same of the memories named (`lethe.md` §0.3): drafts and resolutions hang on it. */
  conflict_key: digestSchema,
});
export type Conflict = z.infer<typeof conflictSchema>;

/** How a conflict is settled: keep the target's, take the proposal's, keep both, or a text of one's own (`charon.md` §4). */
export const resolutionChoices = ['ours', 'theirs', 'both', 'edit'] as const;
export const resolutionChoiceSchema = z.enum(resolutionChoices);
export type ResolutionChoice = z.infer<typeof resolutionChoiceSchema>;

/** A resolution as it is drafted: it settles nothing until the merge that carries it. */
export const resolutionInputSchema = z.strictObject({
  conflict_key: digestSchema,
  choice: resolutionChoiceSchema,
  note: z.string().max(summaryBytesMax).optional(),
  /** The new text; with `edit` only, and needed there. */
  content: z.string().min(1).max(contentBytesMax).optional(),
  /** With `both` of two memories: the scope that the proposal's one gets. Without it they are related as contradicting. */
  scope: z.string().min(1).max(1_024).optional(),
});
export type ResolutionInput = z.infer<typeof resolutionInputSchema>;

/** A drafted resolution with the ops that the merge will write for it as things stand now. */
export const resolutionSchema = z.strictObject({
  ...resolutionInputSchema.shape,
  conflict_id: digestSchema,
  drafted_at: timestampSchema,
  /** Why it cannot be carried out as things stand: then there are no ops, and a merge waits for another choice. */
  problem: z.string().optional(),
  ops: z.array(
    z.strictObject({
      op_type: opTypeSchema,
      target_event_id: z.string().optional(),
      resulting_event_id: z.string().optional(),
      payload: jsonObjectSchema.optional(),
    }),
  ),
});
export type Resolution = z.infer<typeof resolutionSchema>;
