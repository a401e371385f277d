/** What every refusal and failure of the store is. */
export abstract class LedgerStoreError extends Error {}

/** The ledger refused: `message` is the door's own, with its remedy; `code` and `status` are for programs. */
export class LedgerRefusedError extends LedgerStoreError {
  override readonly name = 'LedgerRefusedError';
  /** As documented: `MEMORY_VALUE_TOO_LARGE`, `INVALID_API_KEY` … */
  readonly code: string;
  /** Of HTTP. */
  readonly status: number;
  /** Seconds to wait before asking again, when the door said so. */
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, code: string, status: number, retryAfterSeconds: number | undefined) {
    super(message);
    this.code = code;
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** No answer came, or not within the time. Nothing is sent again by itself: a put that is sent twice is two versions. */
export class LedgerUnreachableError extends LedgerStoreError {
  override readonly name = 'LedgerUnreachableError';
  readonly reason: 'timeout' | 'connection';
  /** True when a put or delete was on its way: it was carried out or was not. Get the item before you decide. */
  readonly mayHaveHappened: boolean;

  constructor(message: string, reason: 'timeout' | 'connection', mayHaveHappened: boolean, cause: unknown) {
    super(message, { cause });
    this.reason = reason;
    this.mayHaveHappened = mayHaveHappened;
  }
}

/** Something answered that is no memory ledger. */
export class NotALedgerError extends LedgerStoreError {
  override readonly name = 'NotALedgerError';
}

/** The namespace and the key together are longer than a key of the ledger may be. Nothing was sent. */
export class KeyTooLongError extends LedgerStoreError {
  override readonly name = 'KeyTooLongError';
}
