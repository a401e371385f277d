import type { EngineEvent } from '../../src-preload/contract/events.ts';
import type { Log } from '../base/log.ts';

/** Where events of the stores meet whoever listens at the doors. */
export interface EventHub {
  /** Hands events to every listener, in order. Never throws: a listener that fails is logged and keeps listening. */
  publish(events: readonly EngineEvent[]): void;
  /** Returns the way to stop. */
  subscribe(listener: (event: EngineEvent) => void): () => void;
}

/** Builds a hub. Publish only what is durable already. */
export function createEventHub(log: Log): EventHub {
  const listeners = new Set<(event: EngineEvent) => void>();
  const deliver = (listener: (event: EngineEvent) => void, event: EngineEvent): void => {
    try {
      listener(event);
    } catch (thrown) {
      log.error({ err: thrown, event: event.kind }, 'a listener of events failed');
    }
  };
  return {
    publish: (events) => {
      for (const event of events) for (const listener of listeners) deliver(listener, event);
    },
    subscribe: (listener) => {
      // A wrapper of its own, so that one function may listen twice and stop once.
      const own = (event: EngineEvent): void => listener(event);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
  };
}
