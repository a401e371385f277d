import { chmodSync, existsSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import { busyRetriesMax } from './batch.ts';
import { type Connection, connect } from './driver.ts';
import { type Migration, migrate, requireMigrated } from './migrate.ts';

/** Settings that `LETHE_SQLITE_*` may tune; durability is never below FULL. */
export interface StoreTuning {
  /** How long opening and reading wait for a lock, and writing in all of its tries. */
  readonly busyTimeoutMs: number;
  /** Pages of the write-ahead log after which SQLite checkpoints. */
  readonly autocheckpointPages: number;
}

export const defaultTuning: StoreTuning = { busyTimeoutMs: 5_000, autocheckpointPages: 1_000 };

const oldestSqlite = [3, 51, 3] as const;

/**
 * Opens a store for writing: WAL, `synchronous=FULL`, foreign keys, untrusted schema, all set and read back; then
 * migrates it. The file and its companions are 0600. Refuses when any of it does not hold (`design.md` §3).
 */
export function openStore(
  path: string,
  migrations: readonly Migration[],
  clock: Clock,
  tuning: StoreTuning = defaultTuning,
): Connection {
  const connection = connect(path, { readOnly: false, mustExist: false });
  try {
    requireVersion(connection);
    connection.pragma(`busy_timeout = ${tuning.busyTimeoutMs}`);
    connection.pragma('journal_mode = WAL');
    connection.pragma('synchronous = FULL');
    connection.pragma('foreign_keys = ON');
    connection.pragma('trusted_schema = OFF');
    connection.pragma('recursive_triggers = ON');
    // The savepoint of a verb remembers pages: in memory, and never in a file of the system's temp folder.
    connection.pragma('temp_store = MEMORY');
    connection.pragma(`wal_autocheckpoint = ${tuning.autocheckpointPages}`);
    requirePragma(connection, 'journal_mode', 'wal');
    requirePragma(connection, 'synchronous', 2);
    requirePragma(connection, 'foreign_keys', 1);
    requirePragma(connection, 'trusted_schema', 0);
    migrate(connection, migrations, clock);
    ownFilesOnly(path);
    // A batch that does not get the lock is tried again; between two tries readers go on.
    connection.pragma(`busy_timeout = ${Math.ceil(tuning.busyTimeoutMs / (busyRetriesMax + 1))}`);
    return connection;
  } catch (thrown) {
    connection.close();
    throw thrown;
  }
}

/** Opens a store that must exist for reading only: nothing is written, not even a migration (`lethe.md` D13). */
export function openStoreReadOnly(
  path: string,
  migrations: readonly Migration[],
  tuning: StoreTuning = defaultTuning,
): Connection {
  const connection = connect(path, { readOnly: true, mustExist: true });
  try {
    requireVersion(connection);
    connection.pragma(`busy_timeout = ${tuning.busyTimeoutMs}`);
    connection.pragma('trusted_schema = OFF');
    connection.pragma('query_only = ON');
    requireMigrated(connection, migrations);
    return connection;
  } catch (thrown) {
    connection.close();
    throw thrown;
  }
}

/** Checkpoints the write-ahead log into the file and closes: a clean shutdown leaves one file. */
export function closeStore(connection: Connection): void {
  try {
    connection.pragma('wal_checkpoint(TRUNCATE)');
  } finally {
    connection.close();
  }
}

function requireVersion(connection: Connection): void {
  const row = connection.query<[], { version: string }>('SELECT sqlite_version() AS version').get();
  const found = (row?.version ?? '0').split('.').map(Number);
  for (const [index, wanted] of oldestSqlite.entries()) {
    const part = found[index] ?? 0;
    if (part > wanted) return;
    if (part < wanted)
      throw new Fault('STORE_UNAVAILABLE', `SQLite ${oldestSqlite.join('.')} or newer is needed.`, {
        found: row?.version,
      });
  }
}

function requirePragma(connection: Connection, name: string, wanted: string | number): void {
  const found = connection.pragma(name);
  if (found === wanted) return;
  throw new Fault(
    'STORE_UNAVAILABLE',
    `The database refuses ${name} = ${wanted}, which durability needs. Put it on a local disk.`,
    { pragma: name, found, wanted },
  );
}

function ownFilesOnly(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) chmodSync(file, 0o600);
}
