import { z } from 'zod';
import { principalIdSchema, timestampSchema } from './ids.ts';

// Programs that sign in with OAuth at the agent door (`charon.md` §2).

const hexId = z.string().regex(/^[0-9a-f]{16}$/, '16 hex characters');
export const oauthRequestIdSchema = hexId.brand<'OauthRequestId'>();
export type OauthRequestId = z.infer<typeof oauthRequestIdSchema>;
export const oauthGrantIdSchema = hexId.brand<'OauthGrantId'>();
export type OauthGrantId = z.infer<typeof oauthGrantIdSchema>;

/** A program that waits to be let in. `match_code` stands on the page in the browser too; `returns_to` is where that page goes on. */
export const oauthRequestSchema = z.strictObject({
  request_id: oauthRequestIdSchema,
  client_name: z.string(),
  returns_to: z.string(),
  match_code: z.string(),
  created_at: timestampSchema,
  expires_at: timestampSchema,
});
export type OauthRequest = z.infer<typeof oauthRequestSchema>;

/** A program that was let in, as one principal, until its access ends. */
export const oauthGrantSchema = z.strictObject({
  grant_id: oauthGrantIdSchema,
  principal_id: principalIdSchema,
  client_name: z.string(),
  resource: z.string(),
  created_at: timestampSchema,
  expires_at: timestampSchema,
  revoked_at: timestampSchema.nullable(),
});
export type OauthGrant = z.infer<typeof oauthGrantSchema>;
