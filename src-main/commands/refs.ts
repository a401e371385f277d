import { type BoundCommand, bind, rowOf } from './bind.ts';
import type { CommandDeps } from './deps.ts';
import { chainOf } from './moves.ts';

/** What the owner does with refs as such. */
export function refCommands({ lethe }: CommandDeps): readonly BoundCommand[] {
  return [
    bind(rowOf('ref.archive'), {
      objects: (input) => [input.ref_name, input.expected_head],
      run: ({ input, caller }) =>
        lethe.archiveRef({
          projectId: input.project,
          refName: input.ref_name,
          expectedHead: input.expected_head,
          principal: caller.principal.principal_id,
        }),
      effects: (ref) => [ref.ref_name, ref.head_changeset_id, ...chainOf(lethe, ref.head_changeset_id)],
    }),
  ];
}
