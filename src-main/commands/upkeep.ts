import type { Log } from '../base/log.ts';
import type { Charon } from '../charon/api.ts';
import type { Ledger } from '../ledger/api.ts';
import type { Lethe } from '../lethe/api.ts';
import type { EventHub } from './events.ts';

const expireEveryMs = 60_000;
/** Between two chunks of store work, so that requests go first. */
const chunkPauseMs = 5;
/** How long after the last write the stores' work begins. */
const restMs = 50;

/** Work that nobody asks for: indexes that follow behind writes, values and proposals whose time is over. */
export interface Upkeep {
  /** Waits for the chunk that runs, then does no more. */
  stop(): Promise<void>;
}

/** Starts it. A failure is logged and tried again with the next write or minute; it never reaches a caller. */
export function startUpkeep(deps: {
  readonly lethe: Lethe;
  readonly ledger: Ledger;
  readonly charon: Charon;
  readonly events: Pick<EventHub, 'subscribe'>;
  readonly log: Log;
}): Upkeep {
  const { lethe, ledger, charon, events, log } = deps;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let chunk: Promise<void> = Promise.resolve();

  const later = (delayMs: number): void => {
    if (stopped || timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      chunk = maintainOnce();
    }, delayMs);
    timer.unref();
  };
  const maintainOnce = async (): Promise<void> => {
    try {
      const more = [await lethe.maintain(), await ledger.maintain()];
      // What is behind the indexes is verified and sealed once they wait for nothing.
      if (more.includes(true) || (await lethe.sealNext())) later(chunkPauseMs);
    } catch (thrown) {
      log.error({ err: thrown }, 'the indexes could not be brought up to date');
    }
  };
  const expire = async (): Promise<void> => {
    try {
      const expired = await charon.expireProposals();
      if (expired > 0) log.info({ expired }, 'proposals expired');
    } catch (thrown) {
      log.error({ err: thrown }, 'proposals past their time could not be expired');
    }
  };

  let expiring: Promise<void> = expire();
  const sweep = setInterval(() => {
    expiring = expire();
    // Also where nobody writes, the indexes are looked after, one step at a time.
    later(0);
  }, expireEveryMs);
  sweep.unref();
  const unsubscribe = events.subscribe((event) => {
    if (event.kind === 'changeset_created' || event.kind === 'ledger_changed') later(restMs);
  });
  later(0);

  return {
    stop: async () => {
      stopped = true;
      unsubscribe();
      clearInterval(sweep);
      clearTimeout(timer);
      await Promise.all([chunk, expiring]);
    },
  };
}
