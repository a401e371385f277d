import { z } from 'zod';
import { cursorSchema, digestSchema, timestampSchema } from './ids.ts';
import { type JsonObject, type JsonValue, jsonObjectSchema, jsonValueSchema } from './json.ts';

// The memory ledger: key-value memory with append-only history. Field names are those of its HTTP surface (`/v1`).

/** Longest value, in bytes of its compact JSON. */
export const ledgerValueBytesMax = 524_288;
export const ledgerSourceLengthMax = 255;
/** Longest time to live, in seconds: a hundred years. */
export const ledgerTtlSecondsMax = 3_153_600_000;
export const ledgerQueryLengthMax = 500;
export const ledgerPerPageMax = 100;
export const ledgerPerPageDefault = 50;
export const ledgerContextLimitMax = 50;
export const ledgerContextLimitDefault = 10;
export const ledgerSearchLimitMax = 20;
export const ledgerSearchLimitDefault = 5;
export const ledgerThresholdDefault = 0.7;
/** Most bytes of a policy's parameters as canonical text. */
export const policyParamsBytesMax = 8_192;

/** The pattern that every key matches; `.` and `..` match it and are no keys. */
export const ledgerKeyPattern = '^[a-zA-Z0-9_.:-]{1,128}$';
export const ledgerKeySchema = z
  .string()
  .regex(
    /^(?!\.{1,2}$)[a-zA-Z0-9_.:-]{1,128}$/,
    'a key has 1 to 128 of letters, digits, `-`, `_`, `.`, `:`, and is neither `.` nor `..`',
  )
  .brand<'LedgerKey'>();
export type LedgerKey = z.infer<typeof ledgerKeySchema>;

/** The agent whose memory it is: a UUID in lower case. */
export const ledgerAgentIdSchema = z
  .string()
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/, 'a UUID in lower case')
  .brand<'LedgerAgentId'>();
export type LedgerAgentId = z.infer<typeof ledgerAgentIdSchema>;

/** The most important first. */
export const importances = ['critical', 'high', 'normal', 'low'] as const;
export const importanceSchema = z.enum(importances);
export type Importance = z.infer<typeof importanceSchema>;

/** What a writer declares about its sources: a range of versions, never checked against what there is. */
export const derivedFromSchema = z
  .strictObject({ start_version: z.int().min(1), end_version: z.int().min(1) })
  .refine(
    ({ start_version: start, end_version: end }) => start <= end,
    'derived_from: start_version is not above end_version',
  );
export type DerivedFrom = z.infer<typeof derivedFromSchema>;

/** A value as it is put. */
export const ledgerPutSchema = z.strictObject({
  value: jsonValueSchema,
  ttl: z.int().min(1).max(ledgerTtlSecondsMax).optional(),
  importance: importanceSchema.default('normal'),
  source: z.string().max(ledgerSourceLengthMax).optional(),
  confidence: z.number().min(0).max(1).default(1),
  derived_from: derivedFromSchema.optional(),
});

const described = {
  importance: importanceSchema,
  source: z.string().nullable(),
  confidence: z.number(),
  expires_at: timestampSchema.nullable(),
  size_bytes: z.int().min(0),
  derived_from: derivedFromSchema.optional(),
};

/** What is known of a key's live value beside the value. `created_at` is that of the first put since it was last absent. */
export const ledgerEntrySchema = z.strictObject({
  key: ledgerKeySchema,
  version: z.int().min(1),
  ...described,
  created_at: timestampSchema,
  updated_at: timestampSchema,
});
export type LedgerEntry = z.infer<typeof ledgerEntrySchema>;
export type LedgerValue = LedgerEntry & { readonly value: JsonValue };
export type LedgerMatch = LedgerValue & { readonly similarity: number };

/** What an agent's memory amounts to. Bytes are those of latest-live values; `ledger_…` count all of the history. */
export const ledgerUsageSchema = z.strictObject({
  ops: z.int().min(0),
  bytes: z.int().min(0),
  live_keys: z.int().min(0),
  ledger_rows: z.int().min(0),
  ledger_bytes: z.int().min(0),
});
export type LedgerUsage = z.infer<typeof ledgerUsageSchema>;

/** A version: a put, a delete, or the end of a put's time. */
export const ledgerVersionSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('put'),
    version: z.int().min(1),
    written_at: timestampSchema,
    ...described,
    created_at: timestampSchema,
    ttl: z.int().nullable(),
    value_digest: digestSchema,
    /** The value was taken out; its digest stands. */
    redacted: z.boolean(),
    digest: digestSchema,
  }),
  z.strictObject({
    kind: z.enum(['delete', 'expire']),
    version: z.int().min(1),
    written_at: timestampSchema,
    digest: digestSchema,
  }),
]);
export type LedgerVersion = z.infer<typeof ledgerVersionSchema>;

/** Versions of one key, the newest first. */
export const ledgerHistorySchema = z.strictObject({
  key: ledgerKeySchema,
  versions: z.array(ledgerVersionSchema),
  next_cursor: cursorSchema.optional(),
});
export type LedgerHistory = z.infer<typeof ledgerHistorySchema>;

/** Which version: by its number, or the one that stood at a moment. */
export const ledgerPointSchema = z.union([
  z.strictObject({ version: z.int().min(1) }),
  z.strictObject({ at: timestampSchema }),
]);
export type LedgerPoint = z.infer<typeof ledgerPointSchema>;

/** Why a key held nothing at a point. */
export const ledgerAbsences = ['not_yet', 'deleted', 'expired', 'redacted'] as const;
export const ledgerStateSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('value'), version: ledgerVersionSchema, value: jsonValueSchema }),
  /** `version` is null when there was none yet. */
  z.strictObject({
    kind: z.literal('absent'),
    reason: z.enum(ledgerAbsences),
    version: ledgerVersionSchema.nullable(),
  }),
]);
export type LedgerState = z.infer<typeof ledgerStateSchema>;

/** One place at which two values differ; `path` is a JSON pointer, empty for the whole value. */
export const ledgerChangeSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('added'), path: z.string(), after: jsonValueSchema }),
  z.strictObject({ kind: z.literal('removed'), path: z.string(), before: jsonValueSchema }),
  z.strictObject({
    kind: z.literal('changed'),
    path: z.string(),
    before: jsonValueSchema,
    after: jsonValueSchema,
  }),
]);
export type LedgerChange = z.infer<typeof ledgerChangeSchema>;

/** What differs between two versions of a key: in the value by path, and which of the described fields. */
export const ledgerDiffSchema = z.strictObject({
  key: ledgerKeySchema,
  from: z.int().min(1).nullable(),
  to: z.int().min(1).nullable(),
  fields: z.array(z.enum(['importance', 'source', 'confidence', 'expires_at', 'derived_from'])),
  changes: z.array(ledgerChangeSchema),
  total: z.int().min(0),
  next_cursor: cursorSchema.optional(),
});
export type LedgerDiff = z.infer<typeof ledgerDiffSchema>;

/** A key that has a history, as the owner sees it. */
export const ledgerKeyStateSchema = z.strictObject({
  key: ledgerKeySchema,
  version: z.int().min(1),
  state: z.enum(['live', 'deleted', 'expired']),
  importance: importanceSchema.nullable(),
  size_bytes: z.int().min(0),
  written_at: timestampSchema,
  expires_at: timestampSchema.nullable(),
});
export type LedgerKeyState = z.infer<typeof ledgerKeyStateSchema>;

/** Who may amend an agent's policy, and since when. `state` is `closed` when nobody may. */
export const custodySchema = z.strictObject({
  state: z.enum(['open', 'closed']),
  current_epoch: z.int().min(1),
  current_custodian: z.string(),
  since: timestampSchema,
  transfer_count: z.int().min(0),
});
export type Custody = z.infer<typeof custodySchema>;

export const policyTemplate = 'consolidation-v1';

/** The parameters of a consolidation policy. Numbers in them are integers (checked where the canonical text is made). */
export const policyParamsSchema = z.strictObject({
  schema_version: z.literal(1),
  compression: jsonObjectSchema,
  weighting: jsonObjectSchema,
  fade_rules: jsonObjectSchema,
  declared_at: z.iso.datetime({ offset: true }),
});
export type PolicyParams = JsonObject;

/** A declared policy: one version of it. */
export const policySchema = z.strictObject({
  policy_id: z.string(),
  version: z.int().min(1),
  supersedes: z.string().nullable(),
  template_id: z.string(),
  params: jsonObjectSchema,
  custody_epoch: z.int().min(1),
  amended_at: timestampSchema,
  digest: digestSchema,
});
export type Policy = z.infer<typeof policySchema>;
