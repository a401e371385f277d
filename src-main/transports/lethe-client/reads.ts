import { z } from 'zod';
import { verifyReportSchema } from '../../../src-preload/contract/audit.ts';
import { changesetSchema, graphNodeSchema, projectSchema, refSchema } from '../../../src-preload/contract/changeset.ts';
import { conflictSchema } from '../../../src-preload/contract/conflict.ts';
import { semanticDiffSchema } from '../../../src-preload/contract/diff.ts';
import { changesetIdSchema } from '../../../src-preload/contract/ids.ts';
import {
  acceptedMemorySchema,
  lineageStepSchema,
  memoryContextSchema,
  relationshipSchema,
  searchMatchSchema,
} from '../../../src-preload/contract/memory.ts';
import { type Advance, advanceSchema, mergePreviewSchema } from '../../../src-preload/contract/proposal.ts';
import { Fault } from '../../base/fault.ts';
import type { MemoryStore } from '../../commands/memory-store.ts';
import type { ContextInput, HeadSelector } from '../../lethe/api.ts';
import type { MemoryFilter } from '../../lethe/rules/memory-filter.ts';
import type { Question, Wire } from './wire.ts';

type Reads = Pick<
  MemoryStore,
  | 'listProjects'
  | 'getProject'
  | 'listRefs'
  | 'findRef'
  | 'countAheadBehind'
  | 'findChangeset'
  | 'findChangesetByKey'
  | 'log'
  | 'graph'
  | 'isAncestor'
  | 'context'
  | 'totalActive'
  | 'manifestContext'
  | 'search'
  | 'getMemory'
  | 'diff'
  | 'mergePreview'
  | 'originators'
  | 'detectConflicts'
  | 'listConflicts'
  | 'findAdvance'
  | 'listAdvances'
  | 'listRefMoves'
  | 'verifyChain'
>;

const more = { next_cursor: z.string().optional() };
const refMoveSchema = z.object({
  ...{ seq: z.int(), project_id: z.string(), ref_name: z.string(), from_head: z.string(), to_head: z.string() },
  ...{
    moved_at: z.string(),
    principal: z.string(),
    cause: z.string(),
    chain_digest: z.string(),
    signature: z.string(),
  },
});
const answers = {
  projects: z.object({ projects: z.array(projectSchema) }),
  apart: z.object({ apart: z.array(z.object({ ahead: z.int(), behind: z.int() })) }),
  log: z.object({ changesets: z.array(changesetSchema), ...more }),
  graph: z.object({ nodes: z.array(graphNodeSchema), ...more }),
  contains: z.object({ contains: z.boolean() }),
  active: z.object({ total_active: z.int() }),
  originators: z.object({ originators: z.array(z.string()) }),
  conflicts: z.object({ conflicts: z.array(conflictSchema), ...more }),
  advances: z.object({ advances: z.array(advanceSchema), ...more }),
  moves: z.object({ ref_moves: z.array(refMoveSchema), ...more }),
  search: z.object({
    head_changeset_id: changesetIdSchema,
    matches: z.array(searchMatchSchema),
    complete: z.boolean(),
    ...more,
  }),
  memory: z.object({
    head_changeset_id: changesetIdSchema,
    memory: acceptedMemorySchema,
    exclusion_reason: z.string().optional(),
    lineage: z.array(lineageStepSchema),
    relationships: z.array(relationshipSchema),
    ...more,
  }),
};

/** The reads of a store in another process. Each is asked again when no answer came. */
export function readsOver(wire: Wire): Reads {
  const get = <Schema extends z.ZodType>(path: string, answer: Schema, query?: Question<Schema>['query']) =>
    wire.ask({ method: 'GET', path, isRead: true, answer, ...(query === undefined ? {} : { query }) });
  return {
    ...refReads(wire, get),
    ...historyReads(wire, get),
    ...stateReads(wire, get),
    ...mergeReads(wire, get),
    ...recordReads(get),
  };
}

type Get = <Schema extends z.ZodType>(
  path: string,
  answer: Schema,
  query?: Question<Schema>['query'],
) => Promise<z.output<Schema>>;

function refReads(
  wire: Wire,
  get: Get,
): Pick<Reads, 'listProjects' | 'getProject' | 'listRefs' | 'findRef' | 'countAheadBehind'> {
  return {
    listProjects: async () => (await get('/memory/projects', answers.projects)).projects,
    getProject: (projectId) => get(`${of(projectId)}/project`, projectSchema),
    listRefs: (projectId, { limit, after, archived }) =>
      get(`${of(projectId)}/refs`, z.array(refSchema), { limit, after, archived }),
    findRef: (projectId, refName) =>
      unlessMissing('REF_NOT_FOUND', get(`${of(projectId)}/refs/resolve`, refSchema, { name: refName })),
    countAheadBehind: async ({ projectId, base, heads }) =>
      (
        await wire.ask({
          ...{ method: 'POST', path: `${of(projectId)}/ahead-behind`, body: { base, heads } },
          ...{ isRead: true, answer: answers.apart },
        })
      ).apart,
  };
}

function historyReads(
  wire: Wire,
  get: Get,
): Pick<
  Reads,
  'findChangeset' | 'findChangesetByKey' | 'log' | 'graph' | 'isAncestor' | 'totalActive' | 'diff' | 'verifyChain'
> {
  return {
    findChangeset: (id) => unlessMissing('CHANGESET_NOT_FOUND', get(changeset(id), changesetSchema)),
    findChangesetByKey: (projectId, author, key) =>
      unlessMissing('CHANGESET_NOT_FOUND', get(`${of(projectId)}/changeset`, changesetSchema, { author, key })),
    log: async ({ projectId, refName, limit, cursor, allParents }) => {
      const query = { ref: refName, limit, cursor, all_parents: allParents };
      const page = await get(`${of(projectId)}/changesets`, answers.log, query);
      return { changesets: page.changesets, nextCursor: page.next_cursor };
    },
    graph: async ({ projectId, limit, cursor }) => {
      const page = await get(`${of(projectId)}/graph`, answers.graph, { limit, cursor });
      return { nodes: page.nodes, nextCursor: page.next_cursor };
    },
    isAncestor: async (ancestor, descendant) =>
      (await get(`${changeset(descendant)}/contains`, answers.contains, { ancestor })).contains,
    totalActive: async (id) => (await get(`${changeset(id)}/total-active`, answers.active)).total_active,
    diff: ({ baseChangesetId, targetChangesetId, side, limit, cursor }) =>
      wire.ask({
        method: 'POST',
        path: `${changeset(targetChangesetId)}/diff`,
        body: { base_changeset_id: baseChangesetId, side, limit, cursor },
        isRead: true,
        answer: semanticDiffSchema,
      }),
    verifyChain: (projectId, _, { isFull = false } = {}) =>
      wire.ask({
        ...{ method: 'GET', path: `${of(projectId)}/verify${isFull ? '?full=true' : ''}`, isUnhurried: true },
        ...{ isRead: true, answer: verifyReportSchema },
      }),
  };
}

function stateReads(wire: Wire, get: Get): Pick<Reads, 'context' | 'manifestContext' | 'search' | 'getMemory'> {
  return {
    context: (input) =>
      wire.ask({
        ...{ method: 'POST', path: `${of(input.projectId)}/context`, body: contextBody(input) },
        ...{ isRead: true, answer: memoryContextSchema },
      }),
    manifestContext: async (projectId, manifestId) => {
      const context = await get(`/memory/manifests/${segment(manifestId)}/context`, memoryContextSchema);
      if (context.project_id === projectId) return context;
      throw new Fault('MANIFEST_NOT_FOUND', 'manifest_id: there is no such manifest in this project.', {
        field: 'manifest_id',
      });
    },
    search: async (input) => {
      const { limit, cursor } = input;
      const query = { q: input.query, limit, cursor, ...selectorOf(input), ...filterOf(input) };
      const found = await get(`${of(input.projectId)}/search`, answers.search, query);
      const { head_changeset_id: headChangesetId, matches, complete, next_cursor: nextCursor } = found;
      return { headChangesetId, matches, complete, nextCursor };
    },
    getMemory: async ({ projectId, memoryId, refName, headChangesetId, at, limit, cursor }) => {
      const query = { ref: refName, head: headChangesetId, at, limit, cursor, lineage: true };
      const found = await get(`${of(projectId)}/memories/${segment(memoryId)}`, answers.memory, query);
      const { memory, lineage, relationships, exclusion_reason: exclusionReason, next_cursor: nextCursor } = found;
      return { headChangesetId: found.head_changeset_id, memory, exclusionReason, lineage, relationships, nextCursor };
    },
  };
}

function mergeReads(
  wire: Wire,
  get: Get,
): Pick<Reads, 'mergePreview' | 'originators' | 'detectConflicts' | 'listConflicts' | 'findAdvance'> {
  return {
    mergePreview: ({ projectId, targetHead, head }) =>
      get(`${of(projectId)}/merge-preview`, mergePreviewSchema, { target_head: targetHead, head }),
    originators: async (from, to) =>
      (await get(`${changeset(to)}/originators`, answers.originators, { from })).originators,
    detectConflicts: async ({ projectId, ...sides }) =>
      (
        await wire.ask({
          ...{ method: 'POST', path: `${of(projectId)}/conflicts/detect`, body: sidesBody(sides) },
          ...{ isRead: true, answer: answers.conflicts },
        })
      ).conflicts,
    listConflicts: async ({ projectId, status, proposalId, limit, cursor }) => {
      const query = { status, proposal_id: proposalId, limit, cursor };
      const page = await get(`${of(projectId)}/conflicts`, answers.conflicts, query);
      // The protocol has none of a project that does not exist; the store refuses to list them.
      if (page.conflicts.length === 0) await get(`${of(projectId)}/project`, projectSchema);
      return { conflicts: page.conflicts, nextCursor: page.next_cursor };
    },
    findAdvance: async ({ projectId, proposalId }) =>
      (await get(`${of(projectId)}/advances`, answers.advances, { proposal_id: proposalId })).advances[0],
  };
}

/** Records of what moved; the store says them in pages of its own size. */
function recordReads(get: Get): Pick<Reads, 'listAdvances' | 'listRefMoves'> {
  return {
    listAdvances: async (projectId, { limit, cursor }) => {
      const found: Advance[] = [];
      for (let after = cursor; ; ) {
        const page = await get(`${of(projectId)}/advances`, answers.advances, { cursor: after });
        found.push(...page.advances);
        after = page.next_cursor;
        if (after === undefined || found.length >= limit) return found.slice(0, limit);
      }
    },
    listRefMoves: async ({ projectId, refName, cursor }) => {
      const page = await get(`${of(projectId)}/ref-moves`, answers.moves, { ref: refName, cursor });
      return { moves: page.ref_moves, nextCursor: page.next_cursor };
    },
  };
}

/** One segment of a path, in the encoding that the store routes by (`lethe.md` §1.0). */
export function segment(text: string): string {
  return encodeURIComponent(text);
}

/** Where the routes of a project are. */
export function of(projectId: string): string {
  return `/memory/${segment(projectId)}`;
}

function changeset(id: string): string {
  return `/memory/changesets/${segment(id)}`;
}

/** The sides of a detection in the protocol's names. */
export function sidesBody(sides: {
  readonly baseChangesetId: string;
  readonly leftChangesetId: string;
  readonly rightChangesetId: string;
}) {
  return {
    base_changeset_id: sides.baseChangesetId,
    left_changeset_id: sides.leftChangesetId,
    right_changeset_id: sides.rightChangesetId,
  };
}

/** A question about context in the protocol's names. */
export function contextBody(input: ContextInput) {
  const { refName, headChangesetId, at, query, limit, excluded, cursor } = input;
  const selector = { ref_name: refName, head_changeset_id: headChangesetId, at };
  return { ...selector, query, limit, excluded, cursor, ...filterOf(input) };
}

function selectorOf({ refName, headChangesetId, at }: HeadSelector) {
  return { ref: refName, head: headChangesetId, at };
}

function filterOf(filter: MemoryFilter) {
  const { kinds, tags, visibilities, scopes, authors, trusts, since, until } = filter;
  return { kinds, tags, visibilities, scopes, authors, trusts, since, until };
}

async function unlessMissing<Found>(code: Fault['code'], asked: Promise<Found>): Promise<Found | undefined> {
  try {
    return await asked;
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.code === code) return undefined;
    throw thrown;
  }
}
