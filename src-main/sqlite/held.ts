import { statSync } from 'node:fs';
import { Fault } from '../base/fault.ts';
import { type Connection, connect, type ReadableDb } from './driver.ts';

/** Bytes to which the write-ahead log may grow while a copy is made of what was before (`charon.md` §7): beyond, the copy gives up. */
export const logBytesMax = 1_073_741_824;
/** Pages of one step of a copy: half a megabyte, so that others wait for a millisecond or two. */
const pagesPerStep = 128;

/** One state of a database that is held while others go on writing. */
export interface HeldState {
  /** The state, to be read; only after `hold`. */
  readonly db: ReadableDb;
  /** Takes hold of the state of this very moment. Waits for nobody. */
  hold(): void;
  /**
   * Copies that state into a new file, which then needs no other file beside it (`journal_mode=DELETE`). `onBytes` hears how
   * many bytes are copied, of how many, and may throw to stop. Throws STORE_BUSY when the log grew beyond `logBytesMax`.
   */
  copyInto(path: string, onBytes: (done: number, total: number) => void): Promise<void>;
  close(): void;
}

/** Opens a connection that can hold a state. The file must be there; nothing is written to it. */
export function openHeld(path: string, bytesMax: number = logBytesMax): HeldState {
  const connection = connect(path, { readOnly: true, mustExist: true });
  try {
    connection.pragma('query_only = ON');
    connection.pragma('trusted_schema = OFF');
  } catch (thrown) {
    connection.close();
    throw thrown;
  }
  return {
    db: connection,
    hold: () => {
      connection.exec('BEGIN');
      // A transaction sees the state of its first read.
      connection.query<[], { rows: number }>('SELECT count(*) AS rows FROM sqlite_schema').get();
    },
    copyInto: async (to, onBytes) => {
      const pageBytes = pageBytesOf(connection);
      await connection.copyInto(to, ({ total, left }) => {
        onBytes((total - left) * pageBytes, total * pageBytes);
        requireLog(path, bytesMax);
        return pagesPerStep;
      });
      standAlone(to);
    },
    close: () => connection.close(),
  };
}

function pageBytesOf(connection: Connection): number {
  const bytes = connection.pragma('page_size');
  return typeof bytes === 'number' ? bytes : 0;
}

/** A copy of a database in WAL says so of itself: it is turned into a file that stands alone. */
function standAlone(path: string): void {
  const connection = connect(path, { readOnly: false, mustExist: true });
  try {
    connection.pragma('synchronous = FULL');
    const mode = connection.pragma('journal_mode = DELETE');
    if (mode !== 'delete')
      throw new Fault('STORE_UNAVAILABLE', 'The copy of a database cannot be made to stand alone on this disk.');
  } finally {
    connection.close();
  }
}

function requireLog(path: string, bytesMax: number): void {
  const bytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes <= bytesMax) return;
  throw new Fault(
    'STORE_BUSY',
    'So much was written while the copy was made that it was given up. Try again when agents are quieter.',
  );
}
