import { z } from 'zod';
import { agentCommand } from '../command.ts';
import { timestampSchema } from '../ids.ts';
import { jsonObjectSchema, jsonValueSchema } from '../json.ts';
import {
  importanceSchema,
  ledgerAgentIdSchema,
  ledgerContextLimitDefault,
  ledgerContextLimitMax,
  ledgerEntrySchema,
  ledgerKeyPattern,
  ledgerPerPageDefault,
  ledgerPerPageMax,
  ledgerPutSchema,
  ledgerQueryLengthMax,
  ledgerSearchLimitDefault,
  ledgerSearchLimitMax,
  ledgerThresholdDefault,
  ledgerUsageSchema,
} from '../ledger.ts';
import { ltxKeyIdSchema, ltxKeyKindSchema, passportSchema } from '../ltx.ts';

// The memory ledger as agents reach it: four tools, and what the HTTP door alone offers. Answers are the bodies of `/v1`.

const status = z.literal('success');
const usage = ledgerUsageSchema;
/** Any text: what is no key is refused by a code of its own. */
const key = z.string().meta({
  pattern: ledgerKeyPattern,
  description: '1 to 128 letters, digits, `-`, `_`, `.`, `:`; neither `.` nor `..`.',
});
const warning = z.string().optional();
const importanceFloor = importanceSchema.optional().describe('This important or more.');

const { key: entryKey, version, ...described } = ledgerEntrySchema.shape;
const putBody = z.strictObject({
  status,
  key: entryKey,
  version,
  importance: described.importance,
  source: described.source,
  confidence: described.confidence,
  ttl: z.int().nullable(),
  expires_at: described.expires_at,
  size_bytes: described.size_bytes,
  created_at: described.created_at,
  updated_at: described.updated_at,
  derived_from: described.derived_from,
  warning,
  usage,
});
const valued = { key: entryKey, value: jsonValueSchema, version, ...described };

/** What a put says beside its key. */
const put = { key, ...ledgerPutSchema.shape };

export const ledgerCommands = [
  agentCommand({
    name: 'lithtrix.memory_set',
    title: 'Put a memory',
    description:
      'Stores a JSON value under a key of your own memory. Every put is a version of its own; the newest is what is read. ttl is in seconds.',
    scope: 'ledger.write',
    project: 'none',
    mutates: true,
    input: z.strictObject(put),
    output: putBody,
  }),
  agentCommand({
    name: 'lithtrix.memory_get',
    title: 'Get a memory',
    description: 'The value under a key of your own memory, with its version and what is known of it.',
    scope: 'ledger.read',
    project: 'none',
    mutates: false,
    input: z.strictObject({ key }),
    output: z.strictObject({ status, ...valued, usage }),
  }),
  agentCommand({
    name: 'lithtrix.memory_search',
    title: 'Search your memory',
    description: 'Values of your own memory that answer a query, the most similar first. threshold is from 0 to 1.',
    scope: 'ledger.read',
    project: 'none',
    mutates: false,
    input: z.strictObject({
      q: z.string().max(ledgerQueryLengthMax).describe('What to look for, in any language.'),
      limit: z.int().min(1).max(ledgerSearchLimitMax).default(ledgerSearchLimitDefault),
      importance: importanceFloor,
      threshold: z.number().min(0).max(1).default(ledgerThresholdDefault),
    }),
    output: z.strictObject({
      status,
      query: z.string(),
      results: z.array(z.strictObject({ ...valued, similarity: z.number().min(0).max(1) })),
      count: z.int().min(0),
      provider_used: z.literal('local'),
      usage,
    }),
  }),
  agentCommand({
    name: 'lithtrix.memory_context',
    title: 'What matters most',
    description: 'The most important values of your own memory, among those the newest first.',
    scope: 'ledger.read',
    project: 'none',
    mutates: false,
    input: z.strictObject({
      limit: z.int().min(1).max(ledgerContextLimitMax).default(ledgerContextLimitDefault),
      importance: importanceFloor,
    }),
    output: z.strictObject({ status, entries: z.array(z.strictObject(valued)), usage }),
  }),
  agentCommand({
    name: 'ledger.put',
    title: 'Put a memory at a version',
    description: 'As lithtrix.memory_set; with if_version only when the key holds that version.',
    scope: 'ledger.write',
    project: 'none',
    mutates: true,
    tool: false,
    input: z.strictObject({ ...put, if_version: z.int().min(1).optional() }),
    output: putBody,
  }),
  agentCommand({
    name: 'ledger.delete',
    title: 'Delete a memory',
    description: 'Appends a tombstone: the key holds nothing from now on, its history stays.',
    scope: 'ledger.write',
    project: 'none',
    mutates: true,
    tool: false,
    input: z.strictObject({ key, if_version: z.int().min(1).optional() }),
    output: z.strictObject({ status, key: entryKey, deleted: z.literal(true), version, usage }),
  }),
  agentCommand({
    name: 'ledger.list',
    title: 'List keys',
    description: 'Keys that hold something, without their values, in the order of the keys.',
    scope: 'ledger.read',
    project: 'none',
    mutates: false,
    tool: false,
    input: z.strictObject({
      page: z.int().min(1).max(1_000_000_000).default(1),
      per_page: z.int().min(1).max(ledgerPerPageMax).default(ledgerPerPageDefault),
      prefix: z.string().max(128).optional(),
      importance: importanceSchema.optional(),
    }),
    output: z.strictObject({
      status,
      entries: z.array(ledgerEntrySchema),
      page: z.int(),
      per_page: z.int(),
      total: z.int().min(0),
      usage,
    }),
  }),
  agentCommand({
    name: 'ledger.stats',
    title: 'Size of your memory',
    description: 'What your memory amounts to. There are no limits here but the disk.',
    scope: 'ledger.read',
    project: 'none',
    mutates: false,
    tool: false,
    input: z.strictObject({}),
    output: z.strictObject({
      status,
      ...ledgerUsageSchema.shape,
      limits: z.null(),
      tier: z.literal('local'),
      over_limit: z.literal(false),
      usage,
    }),
  }),
  agentCommand({
    name: 'ledger.me',
    title: 'Who you are',
    description: 'The agent that the key stands for, and what the key may do.',
    scope: 'ledger.read',
    project: 'none',
    mutates: false,
    tool: false,
    input: z.strictObject({}),
    output: z.strictObject({
      status,
      agent_id: ledgerAgentIdSchema,
      agent_name: z.string(),
      owner_identifier: z.string().nullable(),
      created_at: timestampSchema,
      key: z.strictObject({
        kind: z.enum([...ltxKeyKindSchema.options, 'session', 'obol', 'oauth', 'owner']),
        id: z.string(),
      }),
      passport: z.strictObject({ did: passportSchema.shape.did, revoked: z.boolean() }).nullable(),
      usage,
    }),
  }),
  agentCommand({
    name: 'ledger.rotate_key',
    title: 'Change the root key',
    description: 'A new root key, shown once; the one that asked is refused from then on.',
    scope: 'ledger.read',
    project: 'none',
    mutates: true,
    tool: false,
    input: z.strictObject({}),
    output: z.strictObject({
      status,
      agent_id: ledgerAgentIdSchema,
      key_id: ltxKeyIdSchema,
      api_key: z.string(),
    }),
  }),
  agentCommand({
    name: 'ledger.policy',
    title: 'Your consolidation policy',
    description: 'The policy that you declared last.',
    scope: 'ledger.read',
    project: 'none',
    mutates: false,
    tool: false,
    input: z.strictObject({}),
    output: z.strictObject({ status, template_id: z.string(), params: jsonObjectSchema }),
  }),
  agentCommand({
    name: 'ledger.amend_policy',
    title: 'Declare a consolidation policy',
    description: 'Appends a version of the policy, signed with the passport over a challenge; edits nothing.',
    scope: 'ledger.read',
    project: 'none',
    mutates: true,
    tool: false,
    input: z.strictObject({
      template_id: z.string().max(128),
      params: jsonObjectSchema,
      challenge_id: z.string().max(128).optional(),
      passport_signature: z.string().max(256).optional(),
    }),
    output: z.strictObject({
      status,
      template_id: z.string(),
      params: jsonObjectSchema,
      policy_id: z.string(),
      version: z.int().min(1),
      supersedes: z.string().nullable(),
      custody_epoch: z.int().min(1),
      amended_at: timestampSchema,
    }),
  }),
] as const;
