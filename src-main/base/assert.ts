/** A broken promise of our own code. Not a refusal: it stops the command and reaches the caller as `INTERNAL`. */
export class AssertionFailed extends Error {
  override readonly name = 'AssertionFailed';
}

/** Stops the command when one of our own promises does not hold. `sentence` says what must be true. */
export function assert(condition: unknown, sentence: string): asserts condition {
  if (!condition) throw new AssertionFailed(sentence);
}

/** Closes a union: the compiler refuses a variant that was not handled. */
export function assertNever(value: never, sentence: string): never {
  throw new AssertionFailed(`${sentence}: ${JSON.stringify(value)}`);
}
