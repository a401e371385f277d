import type { Backups } from '../backup/backups.ts';
import { Fault } from '../base/fault.ts';
import { type BoundCommand, bind, rowOf } from './bind.ts';
import type { CommandDeps } from './deps.ts';
import { reconcile } from './reconcile.ts';

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
      run: () => {
        const backups = backupsOf(deps);
        return { backups: [...backups.list()], keep: backups.keep };
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

/** Restoring a backup. What needs the databases closed waits for the next start. For the owner alone. */
export function restoreCommands(deps: CommandDeps): readonly BoundCommand[] {
  return [
    bind(rowOf('restore.status'), { run: () => backupsOf(deps).restoreStatus() }),
    bind(rowOf('restore.stage'), {
      run: ({ input }) => backupsOf(deps).stage(input.directory, input.confirm),
      effects: ({ manifest_digest: digest }) => (digest === null ? [] : [digest]),
    }),
    bind(rowOf('restore.withdraw'), { run: () => ({ withdrawn: backupsOf(deps).withdraw() }) }),
    bind(rowOf('restore.lift'), {
      run: async () => {
        const report = await reconcile(deps);
        if (report.ok) backupsOf(deps).lift();
        return { lifted: report.ok, report };
      },
    }),
    bind(rowOf('restore.put_back'), {
      run: ({ input }) => {
        backupsOf(deps).stagePutBack(input.confirm);
        return { waiting: true as const };
      },
    }),
  ];
}

function backupsOf({ backups }: CommandDeps): Backups {
  if (backups !== undefined) return backups;
  throw new Fault('STORE_UNAVAILABLE', 'This process makes no backups. Ask the one that serves this home.');
}
