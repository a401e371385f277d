import { diffCategories, type SemanticDiff } from '../../src-preload/contract/diff.ts';
import { mainRefName } from '../../src-preload/contract/ids.ts';
import { contextLimitDefault, listLimitDefault, logLimitDefault } from '../../src-preload/contract/limits.ts';
import { type BoundCommand, bind, rowOf } from './bind.ts';
import { pageChangeset, withoutBulk } from './changeset-page.ts';
import { checkContextInput, checkMoment, filterOf, readContext } from './context-at.ts';
import type { CommandDeps } from './deps.ts';
import { changesetNotFound } from './faults.ts';
import { fitPage, nextCursor } from './page.ts';
import { getRef, getServedRef } from './served-refs.ts';

/** Commands that read memory and its history. */
export function memoryReadCommands(deps: CommandDeps): readonly BoundCommand[] {
  const { lethe } = deps;
  return [
    bind(rowOf('memory.log'), {
      prepare: async ({ input }) => void (await getRef(lethe, input.project, input.ref)),
      run: async ({ input }) => {
        const refName = input.ref ?? mainRefName;
        const read = async (limit: number) => {
          const page = await lethe.log({
            projectId: input.project,
            refName,
            limit,
            cursor: input.cursor,
            allParents: input.all_parents ?? false,
          });
          return { ...page, changesets: page.changesets.map(withoutBulk) };
        };
        const page = await fitPage(input.limit ?? logLimitDefault, read, ({ changesets }) => changesets.length);
        return {
          project: input.project,
          ref: refName,
          changesets: page.changesets,
          ...nextCursor(page.nextCursor),
        };
      },
    }),
    bind(rowOf('memory.show'), {
      objects: ({ id }) => [id],
      locate: async ({ id }) => {
        const missing = changesetNotFound(id, 'id');
        const changeset = await lethe.findChangeset(id);
        if (changeset === undefined) throw missing;
        return { projectId: changeset.project_id, missing };
      },
      run: async ({ input }) => {
        const changeset = await lethe.findChangeset(input.id);
        if (changeset === undefined) throw changesetNotFound(input.id, 'id');
        return pageChangeset(changeset, input.cursor);
      },
    }),
    bind(rowOf('memory.diff'), {
      objects: (input) => [input.base_changeset_id, input.target_changeset_id],
      locate: async (input) => {
        const missing = changesetNotFound(input.target_changeset_id, 'target_changeset_id');
        const target = await lethe.findChangeset(input.target_changeset_id);
        if (target === undefined) throw missing;
        return { projectId: target.project_id, missing };
      },
      prepare: async ({ input, projectId }) => {
        const base = await lethe.findChangeset(input.base_changeset_id);
        if (base?.project_id !== projectId) throw changesetNotFound(input.base_changeset_id, 'base_changeset_id');
      },
      run: ({ input }) => {
        const read = (limit: number) =>
          lethe.diff({
            baseChangesetId: input.base_changeset_id,
            targetChangesetId: input.target_changeset_id,
            side: 'both',
            limit,
            cursor: input.cursor,
          });
        return fitPage(listLimitDefault, read, countItems);
      },
    }),
    bind(rowOf('memory.context_at'), {
      check: checkContextInput,
      objects: (input) => [input.ref ?? mainRefName],
      prepare: async ({ input, caller }) => {
        if (input.manifest_id === undefined) await getServedRef(lethe, caller, input.project, input.ref);
      },
      run: (call) => readContext(deps, call),
      effects: (context) => [
        context.head_changeset_id,
        ...(context.manifest_id === undefined ? [] : [context.manifest_id]),
      ],
    }),
    bind(rowOf('memory.search'), {
      objects: (input) => [input.ref ?? mainRefName],
      check: checkMoment,
      prepare: async ({ input, caller }) => void (await getServedRef(lethe, caller, input.project, input.ref)),
      run: async ({ input }) => {
        const read = (limit: number) =>
          lethe.search({
            projectId: input.project,
            refName: input.ref ?? mainRefName,
            headChangesetId: input.head_changeset_id,
            at: input.at,
            query: input.query,
            ...filterOf(input),
            limit,
            cursor: input.cursor,
          });
        const found = await fitPage(input.limit ?? contextLimitDefault, read, ({ matches }) => matches.length);
        return {
          head_changeset_id: found.headChangesetId,
          matches: [...found.matches],
          complete: found.complete,
          ...nextCursor(found.nextCursor),
        };
      },
      effects: (found) => [found.head_changeset_id],
    }),
    bind(rowOf('memory.get'), {
      check: checkMoment,
      objects: (input) => [input.memory_id],
      prepare: async ({ input, caller }) => {
        if (input.ref !== undefined) await getServedRef(lethe, caller, input.project, input.ref);
      },
      run: async ({ input }) => {
        const read = (limit: number) =>
          lethe.getMemory({
            projectId: input.project,
            memoryId: input.memory_id,
            refName: input.ref,
            headChangesetId: input.head_changeset_id,
            at: input.at,
            limit,
            cursor: input.cursor,
          });
        const found = await fitPage(listLimitDefault, read, ({ lineage, relationships }) =>
          Math.max(lineage.length, relationships.length),
        );
        return {
          memory: found.memory,
          head_changeset_id: found.headChangesetId,
          ...(found.exclusionReason === undefined ? {} : { exclusion_reason: found.exclusionReason }),
          lineage: [...found.lineage],
          relationships: [...found.relationships],
          ...nextCursor(found.nextCursor),
        };
      },
      effects: (found) => [found.head_changeset_id],
    }),
  ];
}

/** Items of a diff page, each counted once however many lists it stands in. */
export function countItems(diff: SemanticDiff): number {
  return new Set(
    diffCategories.flatMap((category) => diff[category].map((item) => `${item.changeset_id}:${item.op_ordinal}`)),
  ).size;
}
