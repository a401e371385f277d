import { type Backups, openBackups } from '../backup/backups.ts';
import { toolsOf } from '../backup/open-home.ts';
import { createStillness } from '../base/stillness.ts';
import type { Charon } from '../charon/api.ts';
import type { Environment } from '../home/home.ts';
import type { OpenHome } from '../home/open.ts';
import type { CommandDeps } from './deps.ts';

/** The backups of the home that an engine runs on. Close them before its stores. */
export function openEngineBackups(
  home: OpenHome,
  env: Environment,
  engine: Pick<CommandDeps, 'clock' | 'ids' | 'log' | 'events' | 'monotonicMs'> & {
    readonly charon: Charon;
    readonly isElsewhere: boolean;
    readonly version: string;
  },
): Backups {
  const { charon, clock, ids, log, events, monotonicMs, isElsewhere, version } = engine;
  return openBackups(toolsOf(home, { env, clock, ids, log, version }), {
    homeId: charon.homeId,
    stillness: createStillness(),
    flush: () => charon.audit.flush(),
    countOpenIntents: charon.countOpenIntents,
    record: charon.record,
    isElsewhere,
    keep: home.settings.backups.keep,
    tell: ({ job_id, phase, done, total, ended_at: endedAt }) =>
      events.publish([
        { kind: 'backup_progress', job_id, phase, done, total },
        ...(endedAt === null ? [] : [{ kind: 'backups_changed' } as const]),
      ]),
    monotonicMs,
  });
}
