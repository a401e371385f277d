import { obolLifeDefaultMs } from '../../src-preload/contract/limits.ts';
import { type BoundCommand, bind, rowOf } from './bind.ts';
import type { CommandDeps } from './deps.ts';

/** Bearer tokens of agents. For the owner alone; a token is in the answer of its minting and nowhere else. */
export function obolCommands({ charon }: CommandDeps): readonly BoundCommand[] {
  return [
    bind(rowOf('obol.mint'), {
      objects: (input) => [input.principal_id],
      prepare: ({ input }) => void charon.getPrincipal(input.principal_id),
      run: ({ input }) =>
        charon.mintObol({
          principalId: input.principal_id,
          expiresMs: input.expires_ms === undefined ? obolLifeDefaultMs : input.expires_ms,
        }),
      effects: ({ obol }) => [obol.obol_id],
    }),
    bind(rowOf('obol.list'), { run: ({ input }) => ({ obols: [...charon.listObols(input.principal_id)] }) }),
    bind(rowOf('obol.revoke'), {
      objects: (input) => [input.obol_id],
      run: ({ input }) => charon.revokeObol(input.obol_id),
    }),
  ];
}
