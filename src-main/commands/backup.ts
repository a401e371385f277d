import type { Backups } from '../backup/backups.ts';
import { Fault } from '../base/fault.ts';
import { type BoundCommand, bind, rowOf } from './bind.ts';
import type { CommandDeps } from './deps.ts';

/** Backups of this home, and what a restore asks of the owner. For the owner alone. */
export function backupCommands(deps: CommandDeps): readonly BoundCommand[] {
  const { charon } = deps;
  return [
    bind(rowOf('backup.create'), {
      run: ({ input }) => backupsOf(deps).create(input.out),
      effects: ({ job_id: id }) => [id],
    }),
    bind(rowOf('backup.status'), { run: () => ({ job: backupsOf(deps).last() }) }),
    bind(rowOf('backup.cancel'), {
      objects: (input) => [input.job_id],
      run: ({ input }) => backupsOf(deps).cancel(input.job_id),
    }),
    bind(rowOf('backup.list'), {
      run: async () => {
        const backups = backupsOf(deps);
        return { backups: [...(await backups.list())], keep: backups.keep };
      },
    }),
    bind(rowOf('backup.inspect'), { run: ({ input }) => backupsOf(deps).inspect(input.directory) }),
    bind(rowOf('backup.rehearse'), { run: ({ input }) => backupsOf(deps).rehearse(input.directory) }),
    bind(rowOf('backup.prune'), {
      run: ({ input }) => backupsOf(deps).prune(input.keep),
      effects: ({ removed }) => removed,
    }),
    bind(rowOf('obol.reapprove'), {
      objects: (input) => [input.obol_id],
      run: ({ input }) => charon.reapproveObol(input.obol_id),
    }),
    bind(rowOf('ltx.reapprove'), {
      objects: (input) => [`ltx_${input.key_id}`],
      run: ({ input }) => charon.ltx.reapproveKey(input.key_id),
    }),
  ];
}

function backupsOf({ backups }: CommandDeps): Backups {
  if (backups !== undefined) return backups;
  throw new Fault('STORE_UNAVAILABLE', 'This process makes no backups. Ask the one that serves this home.');
}
