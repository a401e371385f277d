import Database from 'better-sqlite3';
import { assert } from '../base/assert.ts';
import { toStoreFault } from './store-fault.ts';

export type SqlValue = null | number | string | bigint | Uint8Array;
export type SqlParameters = readonly SqlValue[];

/** Rows and statements since the database was opened: costs are asserted in these, never in time. */
export interface SqlCounters {
  rowsRead: number;
  rowsWritten: number;
  statements: number;
}

/** A prepared read. `Row` is what the codec of the table expects; it is parsed there. */
export interface Query<Parameters extends SqlParameters, Row> {
  get(...parameters: Parameters): Row | undefined;
  all(...parameters: Parameters): Row[];
  iterate(...parameters: Parameters): IterableIterator<Row>;
}

/** A prepared write. */
export interface Command<Parameters extends SqlParameters> {
  /** Number of rows changed, and the rowid of the last insert. */
  run(...parameters: Parameters): { readonly changes: number; readonly lastInsertRowid: number };
}

/** A database as a reader sees it. Statements are prepared once per text and kept. */
export interface ReadableDb {
  readonly counters: Readonly<SqlCounters>;
  query<Parameters extends SqlParameters, Row>(sql: string): Query<Parameters, Row>;
  /** Runs `work` in one read transaction, so that it sees one state of the database; inside another it just runs. */
  reading<Result>(work: () => Result): Result;
}

/** A database as a writer sees it: handed out by `batch` and `migrate` only, always inside a transaction. */
export interface WritableDb extends ReadableDb {
  command<Parameters extends SqlParameters>(sql: string): Command<Parameters>;
  /** Runs `work` in a savepoint of its own: when it throws, what it wrote is undone and the error goes on. */
  savepoint<Result>(work: () => Result): Result;
}

/** One connection. Only `sqlite/` uses the members below `WritableDb`. */
export interface Connection extends WritableDb {
  readonly path: string;
  readonly inTransaction: boolean;
  exec(sql: string): void;
  pragma(text: string): unknown;
  /** The query plan of a statement, one line a step, for tests of indexes. */
  explain(sql: string): string[];
  /**
   * Copies the database page by page into a new file, some pages at a time, others working in between. Inside a read
   * transaction it copies the state that the transaction sees. `onPages` says how many pages come next, and may throw to stop.
   */
  copyInto(path: string, onPages: (pages: { readonly total: number; readonly left: number }) => number): Promise<void>;
  close(): void;
}

/**
 * Opens one connection to a database file. Pragmas and migrations are the business of `open.ts`.
 * Every error of SQLite leaves as a fault (`toStoreFault`).
 * @param options.readOnly refuses every write at the level of SQLite
 * @param options.mustExist refuses to create the file
 */
export function connect(
  path: string,
  options: { readonly readOnly: boolean; readonly mustExist: boolean },
): Connection {
  const raw = guarded(() => new Database(path, { readonly: options.readOnly, fileMustExist: options.mustExist }));
  const counters: SqlCounters = { rowsRead: 0, rowsWritten: 0, statements: 0 };
  const statement = (sql: string) => guarded(() => raw.prepare<unknown[], unknown>(sql));
  const query = keptByText((sql) => wrapQuery<SqlParameters, unknown>(statement(sql), counters));
  const command = keptByText((sql) => wrapCommand<SqlParameters>(statement(sql), counters));
  let depth = 0;

  const savepoint = <Result>(work: () => Result): Result => {
    assert(raw.inTransaction, 'a savepoint needs a transaction around it');
    depth += 1;
    const name = `s${depth}`;
    try {
      guarded(() => raw.exec(`SAVEPOINT ${name}`));
      const result = work();
      guarded(() => raw.exec(`RELEASE ${name}`));
      return result;
    } catch (thrown) {
      if (raw.inTransaction) guarded(() => raw.exec(`ROLLBACK TO ${name}; RELEASE ${name}`));
      throw thrown;
    } finally {
      depth -= 1;
    }
  };

  const reading = <Result>(work: () => Result): Result => {
    if (raw.inTransaction) return work();
    guarded(() => raw.exec('BEGIN'));
    try {
      return work();
    } finally {
      if (raw.inTransaction) guarded(() => raw.exec('COMMIT'));
    }
  };

  return {
    path,
    counters,
    get inTransaction() {
      return raw.inTransaction;
    },
    // The text of a statement decides what it takes and gives; whoever writes the text names both.
    query: <Parameters extends SqlParameters, Row>(sql: string) => query(sql) as Query<Parameters, Row>,
    command: <Parameters extends SqlParameters>(sql: string) => command(sql) as Command<Parameters>,
    savepoint,
    reading,
    exec: (sql) => guarded(() => void raw.exec(sql)),
    pragma: (text) => guarded(() => raw.pragma(text, { simple: true })),
    explain: (sql) =>
      guarded(() =>
        raw
          .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
          .all()
          .map((row) => row.detail),
      ),
    copyInto: async (to, onPages) => {
      try {
        await raw.backup(to, {
          progress: ({ totalPages, remainingPages }) => onPages({ total: totalPages, left: remainingPages }),
        });
      } catch (thrown) {
        throw toStoreFault(thrown);
      }
    },
    close: () => {
      if (raw.open) raw.close();
    },
  };
}

/** Makes a thing once per text and keeps it. */
function keptByText<Kept>(make: (text: string) => Kept): (text: string) => Kept {
  const kept = new Map<string, Kept>();
  return (text) => {
    const known = kept.get(text);
    if (known !== undefined) return known;
    const fresh = make(text);
    kept.set(text, fresh);
    return fresh;
  };
}

function guarded<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (thrown) {
    throw toStoreFault(thrown);
  }
}

function wrapQuery<Parameters extends SqlParameters, Row>(
  statement: Database.Statement<unknown[], unknown>,
  counters: SqlCounters,
): Query<Parameters, Row> {
  return {
    get: (...parameters) => {
      counters.statements += 1;
      const row = guarded(() => statement.get(...parameters));
      if (row !== undefined) counters.rowsRead += 1;
      return row as Row | undefined;
    },
    all: (...parameters) => {
      counters.statements += 1;
      const rows = guarded(() => statement.all(...parameters));
      counters.rowsRead += rows.length;
      return rows as Row[];
    },
    *iterate(...parameters) {
      counters.statements += 1;
      for (const row of guarded(() => statement.iterate(...parameters))) {
        counters.rowsRead += 1;
        yield row as Row;
      }
    },
  };
}

function wrapCommand<Parameters extends SqlParameters>(
  statement: Database.Statement<unknown[], unknown>,
  counters: SqlCounters,
): Command<Parameters> {
  return {
    run: (...parameters) => {
      counters.statements += 1;
      const done = guarded(() => statement.run(...parameters));
      counters.rowsWritten += done.changes;
      return { changes: done.changes, lastInsertRowid: Number(done.lastInsertRowid) };
    },
  };
}
