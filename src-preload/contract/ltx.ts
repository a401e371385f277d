import { z } from 'zod';
import { principalIdSchema, timestampSchema } from './ids.ts';
import { ledgerAgentIdSchema } from './ledger.ts';

// Who may come in to the memory ledger: keys, passports and registrations (`ledger.md` §1, §5).

/** The public half of a key: 8 random bytes in hex. */
export const ltxKeyIdSchema = z
  .string()
  .regex(/^[0-9a-f]{16}$/, '16 hex characters')
  .brand<'LtxKeyId'>();
export type LtxKeyId = z.infer<typeof ltxKeyIdSchema>;

/**
 * What a key may do: `root` everything of the ledger; `full` all but what only the root key may; `memory` keys and values;
 * `read` keys and values, reading only.
 */
export const ltxKeyKinds = ['root', 'full', 'memory', 'read'] as const;
export const ltxKeyKindSchema = z.enum(ltxKeyKinds);
export type LtxKeyKind = z.infer<typeof ltxKeyKindSchema>;

/** A key as it may be shown after it was made: never the key itself. `needs_reapproval` as with a token. */
export const ltxKeySchema = z.strictObject({
  key_id: ltxKeyIdSchema,
  principal_id: principalIdSchema,
  agent_id: ledgerAgentIdSchema,
  kind: ltxKeyKindSchema,
  created_at: timestampSchema,
  revoked_at: timestampSchema.nullable(),
  last_used_at: timestampSchema.nullable(),
  last_client: z.string().nullable(),
  last_tool: z.string().nullable(),
  needs_reapproval: z.literal(true).optional(),
});
export type LtxKey = z.infer<typeof ltxKeySchema>;

/** The one public key of an agent. `public_key` is the base64 of its raw 32 bytes. */
export const passportSchema = z.strictObject({
  agent_id: ledgerAgentIdSchema,
  principal_id: principalIdSchema,
  did: z.string(),
  public_key: z.string(),
  registered_at: timestampSchema,
  revoked_at: timestampSchema.nullable(),
});
export type Passport = z.infer<typeof passportSchema>;

export const registrationIdSchema = z
  .string()
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/, 'a UUID in lower case')
  .brand<'RegistrationId'>();
export type RegistrationId = z.infer<typeof registrationIdSchema>;

/** `approved` waits for the agent to fetch its key, `claimed` is done; a wait of a day is `expired`. */
export const registrationStatuses = ['pending', 'approved', 'claimed', 'refused', 'expired'] as const;
export const registrationStatusSchema = z.enum(registrationStatuses);
export type RegistrationStatus = z.infer<typeof registrationStatusSchema>;

/** An agent's request to be let in to the ledger. */
export const registrationSchema = z.strictObject({
  registration_id: registrationIdSchema,
  agent_name: z.string(),
  owner_identifier: z.string(),
  /** The public key that it brings, or null. */
  did: z.string().nullable(),
  status: registrationStatusSchema,
  created_at: timestampSchema,
  expires_at: timestampSchema,
  decided_at: timestampSchema.nullable(),
  principal_id: principalIdSchema.nullable(),
});
export type Registration = z.infer<typeof registrationSchema>;

/** What an agent sends to be let in. */
export const registerRequestSchema = z.strictObject({
  agent_name: z.string().regex(/^[A-Za-z0-9_-]{1,100}$/, '1 to 100 letters, digits, `_`, `-`'),
  owner_identifier: z
    .string()
    .min(1)
    .max(255)
    .regex(/^\P{C}*$/u, 'printable characters only'),
  agree_to_terms: z.literal(true),
  passport_public_key: z.string().max(2_048).optional(),
});
export type RegisterRequest = z.infer<typeof registerRequestSchema>;

/** Something to sign once, within a minute (`ledger.md` §5). Times are whole seconds. */
export const passportChallengeSchema = z.strictObject({
  challenge_id: z.string(),
  agent_id: ledgerAgentIdSchema,
  nonce: z.string(),
  issued_at: timestampSchema,
  expires_at: timestampSchema,
});
export type PassportChallenge = z.infer<typeof passportChallengeSchema>;
