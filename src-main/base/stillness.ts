/** Where work that must not be cut in two says that it is under way, and who needs a moment without any gets one. */
export interface Stillness {
  /** Resolves when nobody holds a moment still, with the way to say, once, that the work is over. */
  enter(): Promise<() => void>;
  /**
   * Keeps new work waiting until what is under way is over and `settle` is done, then runs `moment`, and lets all go on. When
   * that takes longer than `withinMs` it lets all go on as well, runs nothing and answers undefined: try again later.
   */
  hold<Result>(
    withinMs: number,
    settle: () => Promise<void>,
    moment: () => Result,
  ): Promise<{ readonly value: Result } | undefined>;
}

/** A place for one engine. Only one moment is held at a time; those who ask meanwhile are answered undefined. */
export function createStillness(): Stillness {
  let running = 0;
  let gate: PromiseWithResolvers<void> | undefined;
  let quiet: PromiseWithResolvers<void> | undefined;

  const leave = (): void => {
    running -= 1;
    if (running === 0) quiet?.resolve();
  };
  return {
    enter: async () => {
      while (gate !== undefined) await gate.promise;
      running += 1;
      let isOver = false;
      return () => {
        if (!isOver) leave();
        isOver = true;
      };
    },
    hold: async (withinMs, settle, moment) => {
      if (gate !== undefined) return undefined;
      const closed = Promise.withResolvers<void>();
      gate = closed;
      quiet = Promise.withResolvers<void>();
      if (running === 0) quiet.resolve();
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<'late'>((resolve) => {
        timer = setTimeout(() => resolve('late'), withinMs);
      });
      try {
        const settled = quiet.promise.then(settle).then(() => 'settled' as const);
        // One that is late goes on by itself, and nobody waits for it any more.
        settled.catch(() => undefined);
        if ((await Promise.race([settled, late])) === 'late') return undefined;
        return { value: moment() };
      } finally {
        clearTimeout(timer);
        gate = undefined;
        quiet = undefined;
        closed.resolve();
      }
    },
  };
}
