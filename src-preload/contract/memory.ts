import { z } from 'zod';
import { memoryKinds, opTypeSchema, visibilities } from './changeset.ts';
import {
  changesetIdSchema,
  cursorSchema,
  digestSchema,
  manifestIdSchema,
  memoryIdSchema,
  projectIdSchema,
  refNameSchema,
  timestampSchema,
} from './ids.ts';
import { jsonObjectSchema } from './json.ts';
import { stringValueBytesMax, tagBytesMax, tagsMax } from './limits.ts';

export const projectionVersion = 'memory-context/v1';

export const memoryStatuses = [
  'active',
  'corrected',
  'superseded',
  'duplicate',
  'deprecation_proposed',
  'conflicted',
] as const;

/** One memory in the state that it has at a head (`lethe.md` §2.7). */
export const acceptedMemorySchema = z.strictObject({
  memory_id: memoryIdSchema,
  content: z.string(),
  event_type: z.string().optional(),
  kind: z.string().optional(),
  scope: z.string().optional(),
  visibility: z.string().optional(),
  tags: z.array(z.string()).optional(),
  confidence: z.number().optional(),
  status: z.enum(memoryStatuses),
  source: z.enum(['legacy_event', 'memory_git']),
  source_event_id: z.string().optional(),
  introduced_changeset_id: changesetIdSchema.optional(),
  last_changeset_id: changesetIdSchema.optional(),
  /** The newest entries, oldest first; a total says how many there are when these are not all. */
  evidence: z.array(jsonObjectSchema).optional(),
  evidence_total: z.int().min(1).optional(),
  verification: z.array(jsonObjectSchema).optional(),
  verification_total: z.int().min(1).optional(),
  payload: jsonObjectSchema.optional(),
});
export type AcceptedMemory = z.infer<typeof acceptedMemorySchema>;

export const relationshipSchema = z.strictObject({
  from_memory_id: memoryIdSchema,
  to_memory_id: memoryIdSchema,
  kind: z.string().optional(),
  payload: jsonObjectSchema.optional(),
  changeset_id: changesetIdSchema,
});
export type Relationship = z.infer<typeof relationshipSchema>;

/** What a memory without a visibility, or without a word on trust, is filtered by. */
export const unspecified = 'unspecified';

const values = z.array(z.string().min(1).max(stringValueBytesMax)).max(64).optional();

/**
 * Which memories a read keeps: those with one of the values of each list that is given, and with every one of the tags.
 * All is compared exactly; an absent or empty list keeps all.
 */
export const memoryFilterShape = {
  kinds: z.array(z.enum(memoryKinds)).max(memoryKinds.length).optional(),
  tags: z.array(z.string().min(1).max(tagBytesMax)).max(tagsMax).optional(),
  /** `unspecified` stands for a memory that has none. */
  visibilities: z
    .array(z.enum([...visibilities, unspecified]))
    .max(visibilities.length + 1)
    .optional(),
  scopes: values,
  /** The principal whose changeset changed the memory last. */
  authors: values,
  /** A memory's `approval`, else its `source_trust`, else `unspecified`. */
  trusts: values,
  /** The memory was changed last at or after this moment. */
  since: timestampSchema.optional(),
  /** The memory was changed last at or before this moment. */
  until: timestampSchema.optional(),
} as const;

/** Names of the parts of a filter, in the order in which they are asked. */
export const memoryFilterParts = [
  'kinds',
  'tags',
  'visibilities',
  'scopes',
  'authors',
  'trusts',
  'since',
  'until',
] as const;
export type MemoryFilterPart = (typeof memoryFilterParts)[number];

/** The accepted memory at an exact head, ranked, one page of it; or, when they were asked for, the memories that it leaves out. */
export const memoryContextSchema = z.strictObject({
  project_id: projectIdSchema,
  ref_name: refNameSchema,
  head_changeset_id: changesetIdSchema,
  manifest_id: manifestIdSchema.optional(),
  projection_version: z.literal(projectionVersion),
  total_active: z.int().min(0),
  memories: z.array(acceptedMemorySchema),
  relationships: z.array(relationshipSchema).optional(),
  unresolved_conflicts: z.array(z.string()).optional(),
  inclusion_reasons: z.record(z.string(), z.string()).optional(),
  /** Of memories that are left out: the first of those that conflicts withhold, or those of the page that was asked for. */
  exclusion_reasons: z.record(z.string(), z.string()).optional(),
  /** How many memories unresolved conflicts withhold; absent when none. */
  withheld_total: z.int().min(1).optional(),
  next_cursor: cursorSchema.optional(),
});
export type MemoryContext = z.infer<typeof memoryContextSchema>;

/** Why one memory matched a search. */
export const searchMatchSchema = z.strictObject({
  memory: acceptedMemorySchema,
  score: z.number(),
  why: z.array(z.strictObject({ token: z.string(), fields: z.array(z.enum(['content', 'kind', 'scope', 'tags'])) })),
});
export type SearchMatch = z.infer<typeof searchMatchSchema>;

/** One step in the life of a memory: which op of which changeset did what, and the state after it. */
export const lineageStepSchema = z.strictObject({
  changeset_id: changesetIdSchema,
  ordinal: z.int().min(0),
  op_type: opTypeSchema,
  memory_id: memoryIdSchema,
  author_principal: z.string(),
  actor_id: z.string().optional(),
  model: z.string().optional(),
  message: z.string(),
  created_at: timestampSchema,
  /** What a mark, a proposal or an attachment says; of ops whose payload is the memory's own, `after` says it. */
  payload: jsonObjectSchema.optional(),
  /** Of a duplicate, the memory that stays. */
  duplicate_of: memoryIdSchema.optional(),
  before: acceptedMemorySchema.nullable(),
  after: acceptedMemorySchema.nullable(),
});
export type LineageStep = z.infer<typeof lineageStepSchema>;

/**
 * An immutable record of exactly what was read, or of what came of it (`lethe.md` §2.5, §0.6). What describes the context
 * that it pins, from `query` to `context_digest`, is absent where it pins none: at a proposal, and where a client recorded it.
 */
export const manifestSchema = z.strictObject({
  manifest_id: manifestIdSchema,
  direction: z.enum(['input', 'output']),
  project_id: projectIdSchema,
  ref_name: refNameSchema,
  head_changeset_id: changesetIdSchema,
  base_changeset_id: changesetIdSchema.optional(),
  resulting_changeset_id: changesetIdSchema.optional(),
  proposed_target_ref: z.string().optional(),
  merge_proposal_id: z.string().optional(),
  selected_memory_ids: z.array(memoryIdSchema),
  inclusion_reasons: z.record(z.string(), z.string()).optional(),
  exclusion_reasons: z.record(z.string(), z.string()).optional(),
  unresolved_conflicts: z.array(z.string()).optional(),
  query: z.string().optional(),
  limit: z.int().optional(),
  kinds: z.array(z.string()).optional(),
  tags: z.array(z.string()).optional(),
  visibilities: z.array(z.string()).optional(),
  scopes: z.array(z.string()).optional(),
  authors: z.array(z.string()).optional(),
  trusts: z.array(z.string()).optional(),
  since: timestampSchema.optional(),
  until: timestampSchema.optional(),
  cursor: z.string().optional(),
  withheld_ids: z.array(memoryIdSchema).optional(),
  total_active: z.int().optional(),
  context_digest: digestSchema.optional(),
  session_id: z.string().optional(),
  actor_id: z.string().optional(),
  created_at: timestampSchema,
});
export type Manifest = z.infer<typeof manifestSchema>;
