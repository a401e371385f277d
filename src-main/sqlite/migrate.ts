import type { Clock } from '../base/clock.ts';
import { toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { Connection, WritableDb } from './driver.ts';

/** One step of a schema. Names are unique and applied in the order of the list; a landed one is never edited. */
export interface Migration {
  readonly name: string;
  /** Statements that build the step. */
  readonly sql: string;
  /** Data work that SQL cannot do, in the same transaction, after `sql`. */
  readonly then?: (db: WritableDb) => void;
}

/**
 * Applies what is missing, each migration in one transaction with its record.
 * A database that knows a migration which this list does not was written by a newer version: refused, untouched.
 */
export function migrate(connection: Connection, migrations: readonly Migration[], clock: Clock): void {
  connection.exec(
    'CREATE TABLE IF NOT EXISTS schema_versions (name TEXT PRIMARY KEY, applied_at TEXT NOT NULL) STRICT',
  );
  const applied = appliedMigrations(connection);
  refuseUnknown(applied, migrations);
  for (const migration of migrations) {
    if (applied.has(migration.name)) continue;
    connection.exec('BEGIN IMMEDIATE');
    try {
      connection.exec(migration.sql);
      migration.then?.(connection);
      connection
        .command<[string, string]>('INSERT INTO schema_versions (name, applied_at) VALUES (?, ?)')
        .run(migration.name, toTimestamp(clock.nowMs()));
      connection.exec('COMMIT');
    } catch (thrown) {
      if (connection.inTransaction) connection.exec('ROLLBACK');
      throw thrown;
    }
  }
}

/** Refuses a database whose schema is older or newer than the list: for read-only openings, which never migrate. */
export function requireMigrated(connection: Connection, migrations: readonly Migration[]): void {
  const applied = appliedMigrations(connection);
  refuseUnknown(applied, migrations);
  const missing = migrations.find((migration) => !applied.has(migration.name));
  if (missing === undefined) return;
  throw new Fault(
    'HOME_INVALID',
    'This database was written by an older version and is opened read-only. Open it once normally, then again in recovery.',
    { missing: missing.name },
  );
}

function appliedMigrations(connection: Connection): ReadonlySet<string> {
  const known = connection
    .query<[], { name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name = 'schema_versions'")
    .get();
  if (known === undefined) return new Set();
  return new Set(
    connection
      .query<[], { name: string }>('SELECT name FROM schema_versions')
      .all()
      .map((row) => row.name),
  );
}

function refuseUnknown(applied: ReadonlySet<string>, migrations: readonly Migration[]): void {
  const names = new Set(migrations.map((migration) => migration.name));
  const unknown = [...applied].find((name) => !names.has(name));
  if (unknown === undefined) return;
  throw new Fault(
    'HOME_INVALID',
    'This database was written by a newer version of Memory Git. Update Memory Git to open it; nothing was changed.',
    { unknown },
  );
}
