import { z } from 'zod';
import { ownerCommand } from '../command.ts';
import {
  changesetIdSchema,
  digestSchema,
  projectIdSchema,
  proposalIdSchema,
  refNameSchema,
  timestampSchema,
} from '../ids.ts';

const count = z.int().min(0);

/** What an import of a reference database writes, or would write, into one project. */
const plannedProjectSchema = z.strictObject({
  project: projectIdSchema,
  /**
   * `whole`: unknown here, comes with its history. `start`: unknown here, sessions and events only, its memory starts with them.
   * `beside`: known here, its history lands under refs of its own. `events`: known here, sessions and events only.
   */
  mode: z.enum(['whole', 'start', 'beside', 'events']),
  new_changesets: count,
  known_changesets: count,
  new_events: count,
  known_refs: count,
  refs: z.array(
    z.strictObject({
      ref_name: z.string(),
      lands_as: refNameSchema,
      head_changeset_id: changesetIdSchema,
      protected: z.boolean(),
    }),
  ),
});

/** What an import writes, or would write; nothing when everything is here already. */
const importPlanSchema = z.strictObject({
  content_digest: digestSchema,
  nothing_new: z.boolean(),
  /** When the same content was imported before. */
  imported_at: timestampSchema.optional(),
  projects: z.array(plannedProjectSchema),
  /** Agents, sessions, checkpoints, threads and links. */
  new_session_rows: count,
  new_records: count,
});
export type ImportPlanOutput = z.infer<typeof importPlanSchema>;

/** An absolute path on the machine of the engine. */
const file = z.string().min(1).max(4_096);

/** Bringing in reference databases: for the owner, while nobody else uses the home. */
export const importCommands = [
  ownerCommand({
    name: 'store.inspect_import',
    title: 'Look at a file to import',
    description:
      'Verifies a reference database as a hostile file and says what an import of it would write: projects, heads, refs.',
    mutates: false,
    input: z.strictObject({ file }),
    output: importPlanSchema,
  }),
  ownerCommand({
    name: 'store.import',
    title: 'Import a reference database',
    description:
      'Writes what is new of a file that was looked at: unknown projects whole, others beside what is here and proposed to you.',
    mutates: true,
    power: true,
    input: z.strictObject({ file, content_digest: digestSchema }),
    output: z.strictObject({
      ...importPlanSchema.shape,
      proposals: z.array(z.strictObject({ project: projectIdSchema, proposal_id: proposalIdSchema })),
      /** What could not be proposed, and why. */
      notes: z.array(z.string()),
    }),
  }),
] as const;
