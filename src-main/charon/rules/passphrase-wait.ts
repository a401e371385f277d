/** Wrong passphrases in a row that cost no wait. */
export const wrongFreeMax = 5;
const firstWaitMs = 5_000;
/** The longest wait: a person who mistyped is not shut out for the day. */
const waitMaxMs = 900_000;

/** How many wrong passphrases were typed in a row, and when the last one was. */
export interface WrongPassphrases {
  readonly inARow: number;
  readonly lastMs: number;
}

/**
 * Milliseconds until the next passphrase is looked at: none for the first five, then 5 s, doubled with each wrong one, 15
 * minutes at most. A clock that was set back lengthens no wait beyond that.
 */
export function passphraseWaitMs({ inARow, lastMs }: WrongPassphrases, nowMs: number): number {
  if (inARow < wrongFreeMax) return 0;
  const waitMs = Math.min(waitMaxMs, firstWaitMs * 2 ** Math.min(inARow - wrongFreeMax, 20));
  return Math.min(waitMs, Math.max(0, lastMs + waitMs - nowMs));
}
