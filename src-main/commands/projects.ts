import type { Project, Ref } from '../../src-preload/contract/changeset.ts';
import { mainRefName } from '../../src-preload/contract/ids.ts';
import { listLimitDefault, listLimitMax } from '../../src-preload/contract/limits.ts';
import { assert } from '../base/assert.ts';
import { type BoundCommand, bind, rowOf } from './bind.ts';
import type { CommandDeps } from './deps.ts';
import { nextCursor } from './page.ts';

/** The owner's view of projects: what there is, its whole history, whether it holds. */
export function projectCommands({ lethe, charon }: CommandDeps): readonly BoundCommand[] {
  const describe = async (project: Project) => {
    const main: Ref | undefined = await lethe.findRef(project.project_id, mainRefName);
    const head = main === undefined ? undefined : await lethe.findChangeset(main.head_changeset_id);
    assert(head !== undefined, 'a project is made together with its main ref');
    return {
      ...project,
      main_head: head.changeset_id,
      main_chain_digest: head.chain_digest,
      total_active: await lethe.totalActive(head.changeset_id),
      pending_proposals: charon.countPending(project.project_id),
    };
  };
  return [
    bind(rowOf('project.list'), {
      run: async () => ({ projects: await Promise.all((await lethe.listProjects()).map(describe)) }),
    }),
    bind(rowOf('history.graph'), {
      run: async ({ input }) => {
        const page = await lethe.graph({
          projectId: input.project,
          limit: input.limit ?? listLimitDefault,
          cursor: input.cursor,
        });
        const refs = await lethe.listRefs(input.project, { limit: listLimitMax });
        return { project: input.project, nodes: [...page.nodes], refs: [...refs], ...nextCursor(page.nextCursor) };
      },
    }),
    bind(rowOf('store.verify_chain'), {
      run: ({ input }) => lethe.verifyChain(input.project, undefined, { isFull: input.full }),
    }),
  ];
}
