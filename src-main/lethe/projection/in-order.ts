/**
 * Several runs, each ascending, as one that ascends. Takes from each run no more than one value ahead of what was asked for.
 * @param keyOf what the runs ascend by
 */
export function* inOrder<Value>(
  runs: readonly Iterator<Value>[],
  keyOf: (value: Value) => number,
): IterableIterator<Value> {
  const nextOf = (run: Iterator<Value>): { readonly value: Value; readonly run: Iterator<Value> }[] => {
    const step = run.next();
    return step.done === true ? [] : [{ value: step.value, run }];
  };
  const waiting = runs.flatMap((run) => nextOf(run));
  while (waiting.length > 0) {
    const first = waiting.reduce((least, one) => (keyOf(one.value) < keyOf(least.value) ? one : least));
    yield first.value;
    const following = nextOf(first.run);
    waiting.splice(waiting.indexOf(first), 1, ...following);
  }
}
