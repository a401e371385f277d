/** Collects names and hands them over together: an agent may call thousands of times a second. */
export interface Coalescer<Name> {
  readonly add: (names: readonly Name[]) => void;
  /** Drops what waits. */
  readonly stop: () => void;
}

/** The first name waits `waitMs` for others; then `flush` gets each of them once. */
export function createCoalescer<Name>(flush: (names: ReadonlySet<Name>) => void, waitMs: number): Coalescer<Name> {
  let waiting = new Set<Name>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const handOver = (): void => {
    const names = waiting;
    waiting = new Set();
    timer = undefined;
    flush(names);
  };
  return {
    add(names) {
      for (const name of names) waiting.add(name);
      if (waiting.size > 0) timer ??= setTimeout(handOver, waitMs);
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
      waiting = new Set();
    },
  };
}
