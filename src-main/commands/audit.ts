import { listLimitDefault } from '../../src-preload/contract/limits.ts';
import { type BoundCommand, bind, rowOf } from './bind.ts';
import type { CommandDeps } from './deps.ts';

/** The audit ledger, read and verified. For the owner alone. */
export function auditCommands({ charon }: CommandDeps): readonly BoundCommand[] {
  return [
    bind(rowOf('audit.verify'), {
      run: async () => {
        await charon.audit.flush();
        return charon.audit.verify();
      },
    }),
    bind(rowOf('audit.tail'), {
      run: async ({ input }) => {
        await charon.audit.flush();
        return {
          entries: [...charon.audit.tail({ limit: input.limit ?? listLimitDefault, beforeSeq: input.before_seq })],
        };
      },
    }),
  ];
}
