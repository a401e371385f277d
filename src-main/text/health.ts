import { AssertionFailed } from '../base/assert.ts';
import { Fault } from '../base/fault.ts';

/**
 * What is known of the full-text index while a store is open. Readers and verification say when it turned out damaged; from
 * then on nobody asks it, and maintenance makes it anew (`L225`).
 */
export interface TextHealth {
  readonly isDamaged: boolean;
  /** It gave an error, or an answer that the history contradicts. */
  noticeDamage(): void;
  /** It was emptied, to be filled again. */
  noticeEmptied(): void;
}

/** The health of an index that nothing is known against. */
export function openTextHealth(): TextHealth {
  let isDamaged = false;
  return {
    get isDamaged() {
      return isDamaged;
    },
    noticeDamage: () => {
      isDamaged = true;
    },
    noticeEmptied: () => {
      isDamaged = false;
    },
  };
}

/**
 * Whether an error may come from a damaged index: SQLite calls the file corrupt, or cannot open the index's table at all. A
 * store that is busy or gone is another matter.
 */
export function isDamage(thrown: unknown): boolean {
  if (thrown instanceof Fault) return thrown.code === 'INTEGRITY_MISMATCH';
  return thrown instanceof Error && !(thrown instanceof AssertionFailed);
}
