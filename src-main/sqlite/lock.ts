import { closeSync, existsSync, openSync } from 'node:fs';
import { Fault } from '../base/fault.ts';
import { connect } from './driver.ts';

/** A file held by this process alone. It frees itself when the process dies, however it dies. */
export interface FileLock {
  release(): void;
}

/**
 * Takes the file for this process: a SQLite file held with `BEGIN EXCLUSIVE` (`design.md` §3 Home), made 0600 when it is
 * missing. Undefined when another holder has it; never waits. Throws STORE_UNAVAILABLE when the file cannot be used.
 */
export function acquireFileLock(path: string): FileLock | undefined {
  // SQLite gives its journal the mode of the file. Only a new one is opened here: closing a file that this process has
  // locked through SQLite would let go of it.
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
  const connection = connect(path, { readOnly: false, mustExist: false });
  try {
    connection.pragma('busy_timeout = 0');
    connection.exec('BEGIN EXCLUSIVE');
  } catch (thrown) {
    connection.close();
    if (thrown instanceof Fault && thrown.code === 'STORE_BUSY') return undefined;
    throw thrown;
  }
  return { release: () => connection.close() };
}
