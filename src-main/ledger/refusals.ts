import { Fault } from '../base/fault.ts';

/** The refusal of a key that holds nothing. */
export function keyNotFound(key: string): Fault {
  return new Fault('MEMORY_KEY_NOT_FOUND', 'key: there is no memory under this key. Put it, or list the keys.', {
    key,
  });
}

/** The refusal of a version that a key never had. */
export function versionNotFound(key: string, version: number): Fault {
  return new Fault('MEMORY_KEY_NOT_FOUND', 'version: this key has no such version. List its history.', {
    key,
    version,
  });
}

/** The refusal of a write that expected another version to be live; `actual` is null when nothing is. */
export function versionConflict(key: string, expected: number, actual: number | null): Fault {
  return new Fault(
    'MEMORY_LEDGER_VERSION_CONFLICT',
    'If-Match: the key has another version now. Get it, decide again, and send its version.',
    { key, expected, actual },
  );
}

/** The fault of a row that is not what its digest says. */
export function versionMismatch(key: string, version: number): Fault {
  return new Fault(
    'INTEGRITY_MISMATCH',
    'A stored version is not what its digest says: something was altered or damaged. Run lethe verify-chain.',
    { key, version },
  );
}

/** Store faults that say that a write cannot be had now; whatever the reason, nothing was written. */
const unavailable = new Set(['DISK_FULL', 'STORE_BUSY', 'STORE_UNAVAILABLE', 'READ_ONLY', 'CLOSED']);

/** What a failed write is to the caller (`ledger.md` §3): the store's own reason stays as `cause` and in `data.reason`. */
export function toLedgerFault(thrown: unknown): unknown {
  if (!(thrown instanceof Fault) || !unavailable.has(thrown.code)) return thrown;
  return new Fault(
    'MEMORY_LEDGER_UNAVAILABLE',
    `Memory cannot be written now, and nothing was: ${thrown.message}`,
    { reason: thrown.code },
    { cause: thrown },
  );
}
