import Database from 'better-sqlite3';
import { Fault } from '../base/fault.ts';

/** A constraint that a row broke: verbs that expect one (a unique key) catch it; anywhere else it is our own bug. */
export class ConstraintBroken extends Error {
  override readonly name = 'ConstraintBroken';
  /** SQLite's extended code, such as `SQLITE_CONSTRAINT_UNIQUE` or `SQLITE_CONSTRAINT_TRIGGER`. */
  readonly sqliteCode: string;

  constructor(sqliteCode: string, cause: Error) {
    super(cause.message, { cause });
    this.sqliteCode = sqliteCode;
  }
}

/** SQLite's error as ours. The text of SQLite never crosses a door: it stays as `cause` for the log. */
export function toStoreFault(thrown: unknown): unknown {
  if (!(thrown instanceof Database.SqliteError)) return thrown;
  const code = thrown.code;
  if (code.startsWith('SQLITE_CONSTRAINT')) return new ConstraintBroken(code, thrown);
  if (code.startsWith('SQLITE_FULL')) {
    return new Fault(
      'DISK_FULL',
      'The disk is full. Nothing of this request was written; free some space and try again.',
      {},
      { cause: thrown },
    );
  }
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) {
    return new Fault(
      'STORE_BUSY',
      'The database is held by another process. Nothing was written; try again.',
      {},
      { cause: thrown },
    );
  }
  if (code.startsWith('SQLITE_READONLY')) {
    return new Fault('READ_ONLY', 'The database is read-only here. Nothing was written.', {}, { cause: thrown });
  }
  if (code.startsWith('SQLITE_CORRUPT') || code.startsWith('SQLITE_NOTADB')) {
    return new Fault(
      'INTEGRITY_MISMATCH',
      'The database file is damaged. Restore a verified backup; nothing was written.',
      {},
      { cause: thrown },
    );
  }
  if (code.startsWith('SQLITE_IOERR') || code.startsWith('SQLITE_CANTOPEN') || code.startsWith('SQLITE_PERM')) {
    return new Fault(
      'STORE_UNAVAILABLE',
      'The database file cannot be read or written. Check its disk and its permissions.',
      {},
      { cause: thrown },
    );
  }
  return thrown;
}
