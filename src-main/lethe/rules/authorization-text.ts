import { z } from 'zod';
import type { MergeEnvelope } from '../../canonical/signature.ts';

/** Longest authorization text that is looked at, in UTF-16 units. */
const authorizationLengthMax = 32_768;

/** A text; left out or null it is empty. */
const textSchema = z
  .string()
  .nullish()
  .transform((text) => (text ?? '').toWellFormed());

const envelopeSchema = z.object({
  version: textSchema,
  project_id: textSchema,
  ref_name: textSchema,
  expected_head: textSchema,
  new_head: textSchema,
  proposal_id: textSchema,
  proposal_digest: textSchema,
  reviewer_principal: textSchema,
  merger_principal: textSchema,
  strategy: textSchema,
  issued_at: textSchema,
  expires_at: textSchema,
  nonce: textSchema,
  key_id: textSchema,
});

/** A merge authorization as it was sent; fields that were left out are empty. */
export interface MergeAuthorization {
  readonly envelope: MergeEnvelope;
  readonly signature: string;
}

/**
 * Reads `{"envelope": {…}, "signature": "hex"}` as the reference does: names of any letter case, unknown fields ignored,
 * `null` and left-out texts empty (`lethe.md` §3.4). Undefined when it is no such JSON.
 */
export function parseAuthorization(text: string): MergeAuthorization | undefined {
  if (text.length > authorizationLengthMax) return undefined;
  const outer = readFields(parseJson(text));
  const inner = readFields(outer?.get('envelope'));
  if (outer === undefined || inner === undefined) return undefined;
  const signature = textSchema.safeParse(outer.get('signature'));
  const envelope = envelopeSchema.safeParse(Object.fromEntries(inner));
  return envelope.success && signature.success ? { envelope: envelope.data, signature: signature.data } : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** An object's fields under their lower-cased names, the last of a name winning. */
function readFields(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return new Map(Object.entries(value).map(([name, field]) => [name.toLowerCase(), field]));
}
