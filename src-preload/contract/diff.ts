import { z } from 'zod';
import { opTypeSchema } from './changeset.ts';
import { changesetIdSchema, memoryIdSchema, projectIdSchema } from './ids.ts';
import { jsonObjectSchema } from './json.ts';
import { acceptedMemorySchema } from './memory.ts';

/** What became of one memory between two states, and the op that made it so (`lethe.md` §6, D4). */
export const diffItemSchema = z.strictObject({
  memory_id: memoryIdSchema,
  op_ordinal: z.int().min(0),
  op_type: opTypeSchema,
  changeset_id: changesetIdSchema,
  author_principal: z.string(),
  target_event_id: z.string().optional(),
  resulting_event_id: z.string().optional(),
  summary: z.string(),
  kind: z.enum(['temporal_update', 'direct_contradiction']).optional(),
  payload: jsonObjectSchema.optional(),
  before: acceptedMemorySchema.nullable(),
  after: acceptedMemorySchema.nullable(),
});
export type DiffItem = z.infer<typeof diffItemSchema>;

export const diffCategories = [
  'memories_added',
  'corrections_proposed',
  'records_superseded',
  'relationships_added',
  'decisions_changed',
  'tasks_or_flags_changed',
  'duplicates_detected',
  'permissions_or_visibility_affected',
  'evidence_added_or_removed',
] as const;
export type DiffCategory = (typeof diffCategories)[number];

const items = z.array(diffItemSchema);

/** What changed in meaning from base to target. Every list is present, ordered by the op that made the change. */
export const semanticDiffSchema = z.strictObject({
  project_id: projectIdSchema,
  base_changeset_id: changesetIdSchema,
  target_changeset_id: changesetIdSchema,
  memories_added: items,
  corrections_proposed: items,
  records_superseded: items,
  relationships_added: items,
  decisions_changed: items,
  tasks_or_flags_changed: items,
  duplicates_detected: items,
  permissions_or_visibility_affected: items,
  evidence_added_or_removed: items,
  unresolved_conflicts: z.array(z.string()),
  kind_notes: z
    .array(
      z.strictObject({
        left: z.string(),
        right: z.string(),
        kind: z.enum(['temporal_update', 'direct_contradiction']),
        reason: z.string(),
      }),
    )
    .optional(),
  next_cursor: z.string().optional(),
});
export type SemanticDiff = z.infer<typeof semanticDiffSchema>;
