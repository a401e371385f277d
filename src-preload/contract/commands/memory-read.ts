import { z } from 'zod';
import { changesetSchema, refSchema } from '../changeset.ts';
import { agentCommand } from '../command.ts';
import { semanticDiffSchema } from '../diff.ts';
import {
  actorIdSchema,
  changesetIdSchema,
  cursorSchema,
  manifestIdSchema,
  memoryIdSchema,
  principalIdSchema,
  projectIdSchema,
  refNameSchema,
  timestampSchema,
} from '../ids.ts';
import { contextLimitMax, logLimitMax, queryBytesMax } from '../limits.ts';
import {
  acceptedMemorySchema,
  lineageStepSchema,
  memoryContextSchema,
  memoryFilterShape,
  relationshipSchema,
  searchMatchSchema,
} from '../memory.ts';
import { grantSchema, profileSchema, scopeSchema } from '../principal.ts';

/** Commands that read memory. Reads never write, but for the manifest that `memory.context_at` pins when asked. */
export const memoryReadCommands = [
  agentCommand({
    name: 'memory.status',
    title: 'Status of a project',
    description:
      'Heads of the project, and who you are in it: principal, actor id, profile, scopes, grants, the ref prefixes you own, open proposals, recovery mode. Call this first.',
    scope: 'memory.read',
    project: 'project',
    mutates: false,
    input: z.strictObject({ project: projectIdSchema }),
    output: z.strictObject({
      project: projectIdSchema,
      principal_id: principalIdSchema,
      actor_id: actorIdSchema,
      profile: profileSchema,
      scopes: z.array(scopeSchema),
      grants: z.array(grantSchema),
      refs: z.array(refSchema),
      owned_prefixes: z.array(z.string()),
      open_proposals: z.int().min(0),
      mode: z.literal('git'),
      recovery_readonly: z.boolean(),
    }),
  }),
  agentCommand({
    name: 'memory.log',
    title: 'History of a ref',
    description:
      'Changesets of a ref, newest first: along first parents, or along all parents with all_parents. Ref defaults to refs/shared/main. Follow next_cursor for older ones.',
    scope: 'memory.read',
    project: 'project',
    mutates: false,
    input: z.strictObject({
      project: projectIdSchema,
      ref: refNameSchema.optional(),
      limit: z.int().min(1).max(logLimitMax).optional(),
      cursor: cursorSchema.optional(),
      all_parents: z.boolean().optional(),
    }),
    output: z.strictObject({
      project: projectIdSchema,
      ref: refNameSchema,
      changesets: z.array(changesetSchema),
      next_cursor: cursorSchema.optional(),
    }),
  }),
  agentCommand({
    name: 'memory.show',
    title: 'One changeset',
    description:
      'One changeset with its operations, author, parents and digests. A large one comes in pages: follow next_cursor for the rest of its ops, evidence and verification.',
    scope: 'memory.read',
    project: 'object',
    mutates: false,
    input: z.strictObject({ id: changesetIdSchema, cursor: cursorSchema.optional() }),
    output: z.strictObject({ ...changesetSchema.shape, next_cursor: cursorSchema.optional() }),
  }),
  agentCommand({
    name: 'memory.diff',
    title: 'Compare two changesets by meaning',
    description:
      'What changed in meaning from the base changeset to the target: memories added, corrected, superseded, marked duplicate, decisions and proposed deprecations, tasks, relationships, visibility, evidence, each before and after.',
    scope: 'memory.read',
    project: 'object',
    mutates: false,
    input: z.strictObject({
      base_changeset_id: changesetIdSchema,
      target_changeset_id: changesetIdSchema,
      cursor: cursorSchema.optional(),
    }),
    output: semanticDiffSchema,
  }),
  agentCommand({
    name: 'memory.ref_list',
    title: 'Refs of a project',
    description: 'Every ref of the project with its head, in name order.',
    scope: 'memory.read',
    project: 'project',
    mutates: false,
    input: z.strictObject({ project: projectIdSchema, cursor: cursorSchema.optional() }),
    output: z.strictObject({ refs: z.array(refSchema), next_cursor: cursorSchema.optional() }),
  }),
  agentCommand({
    name: 'memory.context_at',
    title: 'Accepted memory at an exact head',
    description:
      'The accepted memory at a head, best matches for query first, then the most recently touched. Ref defaults to refs/shared/main; head_changeset_id or at (a timestamp) reads it as it was. Filters: kinds, tags, visibilities, scopes, authors, trusts, since, until. Memories in an unresolved conflict are withheld; excluded lists what is left out, and why, instead. With commit authority it also pins an input manifest unless pin is false; manifest_id reads a pinned context again, exactly.',
    scope: 'memory.read',
    project: 'project',
    mutates: false,
    records: true,
    input: z.strictObject({
      project: projectIdSchema,
      ref: refNameSchema.optional(),
      head_changeset_id: changesetIdSchema.optional(),
      at: timestampSchema.optional(),
      query: z.string().max(queryBytesMax).optional(),
      limit: z.int().min(1).max(contextLimitMax).optional(),
      ...memoryFilterShape,
      excluded: z.boolean().optional(),
      cursor: cursorSchema.optional(),
      pin: z.boolean().optional(),
      manifest_id: manifestIdSchema.optional(),
    }),
    output: memoryContextSchema,
  }),
  agentCommand({
    name: 'memory.search',
    title: 'Search memory',
    description:
      'Memories at a head that match the query, best first, each with the reason; at (a timestamp) searches it as it was. Filters as for the context. Any language and punctuation; words are matched as written.',
    scope: 'memory.search',
    project: 'project',
    mutates: false,
    input: z.strictObject({
      project: projectIdSchema,
      query: z.string().min(1).max(queryBytesMax),
      ref: refNameSchema.optional(),
      head_changeset_id: changesetIdSchema.optional(),
      at: timestampSchema.optional(),
      ...memoryFilterShape,
      limit: z.int().min(1).max(contextLimitMax).optional(),
      cursor: cursorSchema.optional(),
    }),
    output: z.strictObject({
      head_changeset_id: changesetIdSchema,
      matches: z.array(searchMatchSchema),
      complete: z.boolean(),
      next_cursor: cursorSchema.optional(),
    }),
  }),
  agentCommand({
    name: 'memory.get',
    title: 'One memory and its lineage',
    description:
      'One memory in its state at a head (that of ref, refs/shared/main by default, now or at a timestamp, or head_changeset_id), with every step of its lineage and its relationships, newest first. exclusion_reason says why a context does not show it.',
    scope: 'memory.read',
    project: 'project',
    mutates: false,
    input: z.strictObject({
      project: projectIdSchema,
      memory_id: memoryIdSchema,
      ref: refNameSchema.optional(),
      head_changeset_id: changesetIdSchema.optional(),
      at: timestampSchema.optional(),
      cursor: cursorSchema.optional(),
    }),
    output: z.strictObject({
      memory: acceptedMemorySchema,
      head_changeset_id: changesetIdSchema,
      exclusion_reason: z.string().optional(),
      lineage: z.array(lineageStepSchema),
      relationships: z.array(relationshipSchema),
      next_cursor: cursorSchema.optional(),
    }),
  }),
] as const;
