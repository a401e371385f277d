/** Work that is due at most once at a time, and does not keep the process alive. */
export interface Timer {
  /** Runs the work after `delayMs` unless it is already due sooner. */
  due(delayMs: number): void;
  cancel(): void;
}

/** A timer that is not running yet. */
export function createTimer(work: () => void): Timer {
  let running: { readonly handle: NodeJS.Timeout; readonly atMs: number } | undefined;
  const cancel = (): void => {
    if (running !== undefined) clearTimeout(running.handle);
    running = undefined;
  };
  return {
    cancel,
    due: (delayMs) => {
      const atMs = performance.now() + delayMs;
      if (running !== undefined && running.atMs <= atMs) return;
      cancel();
      const handle = setTimeout(() => {
        running = undefined;
        work();
      }, delayMs);
      handle.unref();
      running = { handle, atMs };
    },
  };
}
