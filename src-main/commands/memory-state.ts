import type { Ref } from '../../src-preload/contract/changeset.ts';
import { mainRefName, type ProjectId, type RefName, refNameSchema } from '../../src-preload/contract/ids.ts';
import { listLimitDefault } from '../../src-preload/contract/limits.ts';
import type { Caller } from '../charon/api.ts';
import { type BoundCommand, bind, rowOf } from './bind.ts';
import type { CommandDeps } from './deps.ts';
import type { MemoryStore } from './memory-store.ts';
import { fitPage, formatNameCursor, parseNameCursor } from './page.ts';

const refListName = 'memory.ref_list';

/** Where a project stands: its heads, and the caller in it. */
export function memoryStateCommands({ lethe, charon, recoveryReadonly }: CommandDeps): readonly BoundCommand[] {
  return [
    bind(rowOf('memory.status'), {
      run: async ({ input, caller }) => {
        const { principal } = caller;
        await lethe.getProject(input.project);
        return {
          project: input.project,
          principal_id: principal.principal_id,
          actor_id: principal.actor_id,
          profile: principal.profile,
          scopes: [...caller.scopes],
          grants: principal.grants,
          refs: await statusRefs(lethe, caller, input.project),
          owned_prefixes: [...charon.ownedPrefixes(principal)],
          open_proposals: charon.countPending(input.project),
          mode: 'git' as const,
          recovery_readonly: recoveryReadonly,
        };
      },
    }),
    bind(rowOf(refListName), {
      run: ({ input }) => {
        const after =
          input.cursor === undefined ? undefined : parseNameCursor(input.cursor, refListName, input.project);
        const read = async (limit: number) => {
          const found = await lethe.listRefs(input.project, { limit: limit + 1, after });
          const refs = found.slice(0, limit);
          const last = refs.at(-1);
          if (found.length <= limit || last === undefined) return { refs };
          return { refs, next_cursor: formatNameCursor(refListName, input.project, last.ref_name) };
        };
        return fitPage(listLimitDefault * 4, read, ({ refs }) => refs.length);
      },
    }),
  ];
}

/** Refs that a status shows before it keeps to those which matter to the caller. */
const statusRefsMax = 50;

/** All refs of a small project; of a larger one the shared ones and the caller's own, in name order. */
async function statusRefs(lethe: MemoryStore, caller: Caller, projectId: ProjectId): Promise<Ref[]> {
  const all = await lethe.listRefs(projectId, { limit: statusRefsMax + 1 });
  if (all.length <= statusRefsMax) return [...all];
  const { actor_id: actor } = caller.principal;
  const prefixes = [`refs/agents/${actor}`, `refs/sessions/${actor}`];
  const own = await Promise.all(prefixes.map((prefix) => refsBelow(lethe, projectId, refNameSchema.parse(prefix))));
  const main = await lethe.findRef(projectId, mainRefName);
  return [...own.flat(), ...(main === undefined ? [] : [main])].sort((left, right) =>
    left.ref_name < right.ref_name ? -1 : 1,
  );
}

/** The first refs below a name, in name order: names after `prefix/` follow the name `prefix` itself. */
async function refsBelow(lethe: MemoryStore, projectId: ProjectId, prefix: RefName): Promise<readonly Ref[]> {
  const found = await lethe.listRefs(projectId, { limit: statusRefsMax, after: prefix });
  return found.filter(({ ref_name: name }) => name.startsWith(`${prefix}/`));
}
