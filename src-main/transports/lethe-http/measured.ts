import type { Lethe } from '../../lethe/api.ts';
import type { LetheMetrics, MeasuredVerb } from './metrics.ts';

/**
 * The store with the times of its heavy verbs observed (`lethe.md` §9.5), from the call until the answer or the refusal;
 * for a write that is until it is durable.
 */
export function measuredLethe(lethe: Lethe, metrics: LetheMetrics, monotonicMs: () => number): Lethe {
  const timed =
    <Input extends readonly unknown[], Output>(verb: MeasuredVerb, run: (...input: Input) => Output) =>
    (...input: Input): Output => {
      const startedMs = monotonicMs();
      const done = (): void => metrics.observeVerb(verb, Math.max(0, monotonicMs() - startedMs) / 1_000);
      let output: Output;
      try {
        output = run(...input);
      } catch (thrown) {
        done();
        throw thrown;
      }
      if (output instanceof Promise) output.then(done, done);
      else done();
      return output;
    };
  return {
    ...lethe,
    commit: timed('commit', lethe.commit),
    commitCreatingRef: timed('commit', lethe.commitCreatingRef),
    advance: timed('advance', lethe.advance),
    context: timed('context', lethe.context),
    pinContext: timed('context', lethe.pinContext),
    manifestContext: timed('context', lethe.manifestContext),
    search: timed('search', lethe.search),
    diff: timed('diff', lethe.diff),
    detectConflicts: timed('detection', lethe.detectConflicts),
    verifyChain: timed('verify', lethe.verifyChain),
  };
}
