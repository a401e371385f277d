import { toFault } from '../../base/fault.ts';
import type { Log } from '../../base/log.ts';
import type { Lethe } from '../../lethe/api.ts';
import type { AssemblyRetention } from '../../lethe/session-api.ts';

const pruneEveryMs = 3_600_000;

/** Lets assemblies go that are older than they are kept, at once and every hour, a bounded write at a time. */
export function startPruning(lethe: Lethe, retention: AssemblyRetention, log: Log): { stop(): Promise<void> } {
  let stopped = false;
  const prune = async (): Promise<void> => {
    try {
      while (!stopped && (await lethe.pruneAssemblies(retention)));
    } catch (thrown) {
      log.warn({ code: toFault(thrown).code }, 'assemblies that are older than they are kept could not be let go');
    }
  };
  let running = prune();
  const timer = setInterval(() => {
    running = running.then(prune);
  }, pruneEveryMs);
  timer.unref();
  return {
    stop: () => {
      stopped = true;
      clearInterval(timer);
      return running;
    },
  };
}

/** Interrupts the sessions that are active, since nobody hears of them any more (`lethe.md` §9.3). */
export async function interruptAll(lethe: Lethe, log: Log): Promise<void> {
  try {
    const count = await lethe.interruptSessions();
    if (count > 0) log.info({ count }, 'active sessions were interrupted, since the store stops being served');
  } catch (thrown) {
    log.warn({ code: toFault(thrown).code }, 'active sessions could not be interrupted');
  }
}
