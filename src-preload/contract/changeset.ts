import { z } from 'zod';
import { changesetIdSchema, digestSchema, projectIdSchema, refNameSchema, timestampSchema } from './ids.ts';
import { jsonObjectSchema } from './json.ts';

export const schemaVersion = 'memory_git/v1';

export const opTypes = [
  'add_memory',
  'add_relationship',
  'correct_memory',
  'supersede_memory',
  'mark_duplicate',
  'propose_deprecation',
  'attach_evidence',
  'attach_verification',
] as const;
export const opTypeSchema = z.enum(opTypes);
export type OpType = z.infer<typeof opTypeSchema>;

export const memoryKinds = ['observation', 'fact', 'decision', 'task', 'flag', 'record'] as const;
export const visibilities = ['private', 'internal', 'shared', 'public'] as const;

/** One semantic operation (`lethe.md` §2.2). `payload` is absent when empty. */
export const opSchema = z.strictObject({
  ordinal: z.int().min(0),
  op_type: opTypeSchema,
  target_event_id: z.string().optional(),
  resulting_event_id: z.string().optional(),
  payload: jsonObjectSchema.optional(),
});
export type Op = z.infer<typeof opSchema>;

/** One immutable, attributed change (`lethe.md` §2.1); optional fields are absent when empty. */
export const changesetSchema = z.strictObject({
  changeset_id: changesetIdSchema,
  schema_version: z.literal(schemaVersion),
  project_id: projectIdSchema,
  ref_name: z.string(),
  parent_ids: z.array(changesetIdSchema),
  author_principal: z.string(),
  persona_id: z.string().optional(),
  actor_id: z.string().optional(),
  surface: z.string().optional(),
  model: z.string().optional(),
  environment: z.string().optional(),
  session_id: z.string().optional(),
  topic_id: z.string().optional(),
  context_manifest_id: z.string().optional(),
  message: z.string(),
  created_at: timestampSchema,
  idempotency_key: z.string(),
  ops: z.array(opSchema).optional(),
  evidence: z.array(jsonObjectSchema).optional(),
  verification: z.array(jsonObjectSchema).optional(),
  integrity_digest: digestSchema,
  chain_digest: digestSchema,
});
export type Changeset = z.infer<typeof changesetSchema>;

/** A named pointer at a changeset (`lethe.md` §2.3). */
export const refSchema = z.strictObject({
  project_id: projectIdSchema,
  ref_name: refNameSchema,
  head_changeset_id: changesetIdSchema,
  protected: z.boolean(),
  created_at: timestampSchema,
  updated_at: timestampSchema,
  created_by_principal: z.string().optional(),
  /** Absent from a ref that is in use. */
  archived: z.literal(true).optional(),
});
export type Ref = z.infer<typeof refSchema>;

export const projectSchema = z.strictObject({
  project_id: projectIdSchema,
  name: z.string(),
  created_at: timestampSchema,
  updated_at: timestampSchema,
});
export type Project = z.infer<typeof projectSchema>;

/** One row of the commit graph: a changeset without its ops. */
export const graphNodeSchema = z.strictObject({
  changeset_id: changesetIdSchema,
  parent_ids: z.array(changesetIdSchema),
  ref_name: z.string(),
  author_principal: z.string(),
  actor_id: z.string().optional(),
  model: z.string().optional(),
  message: z.string(),
  created_at: timestampSchema,
  op_count: z.int().min(0),
});
export type GraphNode = z.infer<typeof graphNodeSchema>;
