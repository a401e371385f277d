import { z } from 'zod';
import { actorIdSchema, obolIdSchema, principalIdSchema, projectIdSchema, timestampSchema } from './ids.ts';

export const scopes = [
  'memory.read',
  'memory.search',
  'memory.branch',
  'memory.commit',
  'memory.propose',
  'memory.review',
  'memory.merge',
  'memory.write',
  'ledger.read',
  'ledger.write',
] as const;
export const scopeSchema = z.enum(scopes);
export type Scope = z.infer<typeof scopeSchema>;

/** Profiles an agent may have; `owner` exists once and enters through the owner's doors only. */
export const agentProfiles = ['readonly', 'propose', 'review', 'write'] as const;
export const agentProfileSchema = z.enum(agentProfiles);
export const profileSchema = z.enum([...agentProfiles, 'owner']);
export type AgentProfile = z.infer<typeof agentProfileSchema>;
export type Profile = z.infer<typeof profileSchema>;

/** An exact project, or `*`, which grants reading only. */
export const grantSchema = z.union([z.literal('*'), projectIdSchema]);
export type Grant = z.infer<typeof grantSchema>;

export const principalSchema = z.strictObject({
  principal_id: principalIdSchema,
  name: z.string(),
  actor_id: actorIdSchema,
  profile: profileSchema,
  enabled: z.boolean(),
  grants: z.array(grantSchema),
  created_at: timestampSchema,
});
export type Principal = z.infer<typeof principalSchema>;

/**
 * A token as it may be shown after it was minted: never the token itself. `expires_at` null: it does not expire.
 * `needs_reapproval` stands where it was minted before a restore and is refused until the owner approves it again.
 */
export const obolSchema = z.strictObject({
  obol_id: obolIdSchema,
  principal_id: principalIdSchema,
  audience: z.string(),
  created_at: timestampSchema,
  expires_at: timestampSchema.nullable(),
  revoked_at: timestampSchema.nullable(),
  last_used_at: timestampSchema.nullable(),
  last_client: z.string().nullable(),
  last_tool: z.string().nullable(),
  needs_reapproval: z.literal(true).optional(),
});
export type Obol = z.infer<typeof obolSchema>;
