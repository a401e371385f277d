/**
 * How the desk stands to its engine. `signed_out`: this page holds no session (a code is used once and lives 60 s).
 * `stopped`: nothing has answered for a while; the desk goes on trying.
 */
export type ConnectionState = 'connecting' | 'live' | 'reconnecting' | 'stopped' | 'signed_out';

export interface ConnectionWatch {
  readonly get: () => ConnectionState;
  readonly set: (state: ConnectionState) => void;
  readonly watch: (listener: () => void) => () => void;
}

/** One state and those who watch it; listeners hear of changes only. */
export function createConnectionWatch(initial: ConnectionState): ConnectionWatch {
  let state = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => state,
    set(next) {
      if (next === state) return;
      state = next;
      for (const listener of listeners) listener();
    },
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Milliseconds to wait before the next try: doubling from 250 to 5 000. `failures` counts from 1. */
export function retryDelayMs(failures: number): number {
  return Math.min(5_000, 250 * 2 ** Math.min(failures - 1, 10));
}

/** After this many failures in a row (about 12 s) the engine counts as stopped. */
export const failuresUntilStopped = 6;

/** The state after `failures` tries in a row that reached nobody. */
export function stateAfterFailures(failures: number): ConnectionState {
  return failures >= failuresUntilStopped ? 'stopped' : 'reconnecting';
}
