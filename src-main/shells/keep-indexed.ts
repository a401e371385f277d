import type { EngineEvent } from '../../src-preload/contract/events.ts';
import type { Log } from '../base/log.ts';
import type { Lethe } from '../lethe/api.ts';

/** How long after the last commit the index is brought up to date, and between two chunks of that work. Milliseconds. */
const restMs = 50;
const chunkPauseMs = 5;

/** Keeps the derived indexes of a store up to date that has no policy engine beside it, and seals what is behind them. */
export interface IndexKeeper {
  /** Hears of commits. */
  onEvents(events: readonly EngineEvent[]): void;
  start(lethe: Pick<Lethe, 'maintain' | 'sealNext'>): void;
  /** Waits for the chunk that runs, then does no more. */
  stop(): Promise<void>;
}

/** Builds one. A failure is logged and tried again after the next commit; it never reaches a caller. */
export function keepIndexed(log: Log): IndexKeeper {
  let store: Pick<Lethe, 'maintain' | 'sealNext'> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let chunk: Promise<void> = Promise.resolve();
  const later = (delayMs: number): void => {
    if (store === undefined || timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      chunk = maintainOnce();
    }, delayMs);
    timer.unref();
  };
  const maintainOnce = async (): Promise<void> => {
    try {
      if ((await store?.maintain()) === true || (await store?.sealNext()) === true) later(chunkPauseMs);
    } catch (thrown) {
      log.error({ err: thrown }, 'the indexes could not be brought up to date');
    }
  };
  return {
    onEvents: (events) => {
      if (events.some(({ kind }) => kind === 'changeset_created')) later(restMs);
    },
    start: (lethe) => {
      store = lethe;
      later(0);
    },
    stop: async () => {
      store = undefined;
      clearTimeout(timer);
      await chunk;
    },
  };
}
