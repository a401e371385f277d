import { mainRefName } from '../../src-preload/contract/ids.ts';
import { listLimitDefault } from '../../src-preload/contract/limits.ts';
import { assert } from '../base/assert.ts';
import { type BoundCommand, bind, rowOf } from './bind.ts';
import type { CommandDeps } from './deps.ts';
import { chainOf } from './moves.ts';
import { fitPage, formatNameCursor, nextCursor, parseNameCursor } from './page.ts';
import { getRef } from './served-refs.ts';

/** What the owner does with refs as such. */
export function refCommands({ lethe }: CommandDeps): readonly BoundCommand[] {
  return [
    bind(rowOf('ref.overview'), {
      run: async ({ input }) => {
        const { project, cursor, archived } = input;
        const main = await getRef(lethe, project, mainRefName);
        const list = archived === true ? 'ref.overview archived' : 'ref.overview';
        const after = cursor === undefined ? undefined : parseNameCursor(cursor, list, project);
        const read = async (limit: number) => {
          const found = await lethe.listRefs(project, { limit, after, archived });
          const apart = await lethe.countAheadBehind({
            projectId: project,
            base: main.head_changeset_id,
            heads: found.map((ref) => ref.head_changeset_id),
          });
          const heads = await Promise.all(found.map((ref) => lethe.findChangeset(ref.head_changeset_id)));
          const refs = found.map((ref, index) => {
            const head = heads[index];
            const counts = apart[index];
            assert(head !== undefined && counts !== undefined, 'a ref stands at a changeset');
            return { ref, ...counts, message: head.message, author_principal: head.author_principal };
          });
          const last = found.length < limit ? undefined : found.at(-1);
          const next = last === undefined ? undefined : formatNameCursor(list, project, last.ref_name);
          return { main_head: main.head_changeset_id, refs, ...nextCursor(next) };
        };
        return fitPage(input.limit ?? listLimitDefault, read, ({ refs }) => refs.length);
      },
    }),
    bind(rowOf('ref.archive'), {
      objects: (input) => [input.ref_name, input.expected_head],
      run: ({ input, caller }) =>
        lethe.archiveRef({
          projectId: input.project,
          refName: input.ref_name,
          expectedHead: input.expected_head,
          principal: caller.principal.principal_id,
        }),
      effects: async (ref) => [ref.ref_name, ref.head_changeset_id, ...(await chainOf(lethe, ref.head_changeset_id))],
    }),
  ];
}
