import { z } from 'zod';
import { digestSchema, timestampSchema } from './ids.ts';

export const doors = ['agent', 'window', 'owner_page', 'owner_socket', 'files', 'system'] as const;
export const doorSchema = z.enum(doors);
export type Door = z.infer<typeof doorSchema>;

export const auditPhases = ['intent', 'outcome'] as const;

/** What was shown at a door: an agent's token, an access by OAuth, a key of the memory ledger or its session, the owner's own way in, nothing that is good, or the engine itself. */
export const credentialKinds = ['obol', 'oauth', 'ltx', 'owner', 'none', 'system'] as const;

/** One entry of the audit ledger: who asked for what, and what came of it. Never content, never a secret. */
export const auditEntrySchema = z.strictObject({
  seq: z.int().min(1),
  at: timestampSchema,
  prev_hash: digestSchema,
  entry_hash: digestSchema,
  mac: digestSchema,
  mac_key_id: z.string(),
  principal: z.string(),
  credential_kind: z.enum(credentialKinds),
  credential_id: z.string(),
  door: doorSchema,
  command: z.string(),
  project: z.string(),
  object_ids: z.array(z.string()),
  request_digest: z.string(),
  phase: z.enum(auditPhases),
  outcome: z.string(),
  correlation_id: z.string(),
});
export type AuditEntry = z.infer<typeof auditEntrySchema>;

/** What a verification looked at, and every place that does not hold, the first named first. */
export const verifyReportSchema = z.strictObject({
  ok: z.boolean(),
  checked: z.int().min(0),
  head: z.string(),
  findings: z.array(z.strictObject({ where: z.string(), problem: z.string() })),
  notes: z.array(z.string()),
});
export type VerifyReport = z.infer<typeof verifyReportSchema>;
