import { Fault } from '../base/fault.ts';
import { type Connection, connect, type Query, type SqlParameters } from './driver.ts';

/** A column of a table of a foreign file. */
export interface ForeignColumn {
  readonly name: string;
  /** Its place in the primary key, from 1; 0 for a column that is none of it. */
  readonly keyPosition: number;
}

/** A database file of unknown origin, open for reading only. Whatever is wrong with it leaves as IMPORT_REFUSED. */
export interface ForeignDb {
  query<Parameters extends SqlParameters, Row>(sql: string): Pick<Query<Parameters, Row>, 'get' | 'all'>;
  /** The columns of an ordinary table, or undefined when the file has none of that name. */
  columnsOf(table: string): readonly ForeignColumn[] | undefined;
  close(): void;
}

/**
 * Opens a copy of a file that nobody vouches for: read-only, its schema trusted with nothing, cells checked when they are
 * read, and looked over page by page before anything of it is used. A file with views, triggers, virtual tables, computed columns
 * or indexes over expressions is refused first: a reference database has none, and looking at them could run them. Throws
 * IMPORT_REFUSED.
 */
export function openForeign(path: string): ForeignDb {
  const connection = refusing(() => connect(path, { readOnly: true, mustExist: true }));
  try {
    refusing(() => harden(connection));
    requireOrdinary(connection);
    requireStored(connection);
    const checked = refusing(() => connection.pragma('quick_check(1)'));
    if (checked !== 'ok') throw damaged();
    return readerOf(connection);
  } catch (thrown) {
    connection.close();
    throw thrown;
  }
}

function harden(connection: Connection): void {
  connection.pragma('trusted_schema = OFF');
  connection.pragma('cell_size_check = ON');
  connection.pragma('query_only = ON');
  connection.pragma('mmap_size = 0');
  // Its CHECK expressions are the file's own: every value is checked by us instead.
  connection.pragma('ignore_check_constraints = ON');
  connection.pragma('temp_store = MEMORY');
}

function requireOrdinary(connection: Connection): void {
  const found = refusing(() =>
    connection
      .query<[], { type: string }>(
        "SELECT type FROM sqlite_schema WHERE type NOT IN ('table', 'index') OR (type = 'table' AND coalesce(rootpage, 0) = 0) LIMIT 1",
      )
      .get(),
  );
  if (found !== undefined) {
    const kind = found.type === 'table' ? 'virtual table' : found.type === 'view' ? 'view' : 'trigger';
    throw refused(`it has a ${kind}, and a reference database has none`);
  }
  if (refusing(() => connection.pragma('encoding')) !== 'UTF-8') throw refused('its texts are not stored as UTF-8');
}

/** Everything is stored: no value and no key of an index is computed by an expression of the file. */
function requireStored(connection: Connection): void {
  const entries = refusing(() =>
    connection
      .query<[], { type: string; name: string }>('SELECT type, name FROM sqlite_schema WHERE name IS NOT NULL')
      .all(),
  );
  for (const { type, name } of entries) {
    const quoted = `"${name.replaceAll('"', '""')}"`;
    if (type === 'table' && columnsWhere(connection, `PRAGMA table_xinfo(${quoted})`, ({ hidden }) => hidden !== 0))
      throw refused('it has a computed column, and a reference database has none');
    if (
      type === 'index' &&
      columnsWhere(connection, `PRAGMA index_xinfo(${quoted})`, ({ cid }) => cid === computedColumn)
    )
      throw refused('it has an index over an expression, and a reference database has none');
  }
}

/** The number that SQLite gives to an expression among the columns of an index. */
const computedColumn = -2;

interface PragmaColumn {
  readonly cid: number;
  readonly hidden?: number;
}

/** Whether a column among those that a pragma lists is such a one. */
function columnsWhere(connection: Connection, pragma: string, isSuch: (column: PragmaColumn) => boolean): boolean {
  return refusing(() => connection.query<[], PragmaColumn>(pragma).all()).some(isSuch);
}

function readerOf(connection: Connection): ForeignDb {
  return {
    query: <Parameters extends SqlParameters, Row>(sql: string) => {
      const query = refusing(() => connection.query<Parameters, Row>(sql));
      return {
        get: (...parameters: Parameters) => refusing(() => query.get(...parameters)),
        all: (...parameters: Parameters) => refusing(() => query.all(...parameters)),
      };
    },
    columnsOf: (table) => columnsOf(connection, table),
    close: () => connection.close(),
  };
}

function columnsOf(connection: Connection, table: string): readonly ForeignColumn[] | undefined {
  const isThere = refusing(() =>
    connection
      .query<[string], { found: number }>("SELECT 1 AS found FROM sqlite_schema WHERE type = 'table' AND name = ?")
      .get(table),
  );
  if (isThere === undefined) return undefined;
  return refusing(() => connection.query<[], { name: string; pk: number }>(`PRAGMA table_xinfo(${table})`).all()).map(
    ({ name, pk }) => ({ name, keyPosition: pk }),
  );
}

/** Errors of SQLite over a foreign file say something about the file, never about our store. */
function refusing<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.code !== 'INTEGRITY_MISMATCH') throw thrown;
    throw damaged(thrown);
  }
}

function damaged(cause?: unknown): Fault {
  return refused('it is damaged, or no SQLite database', cause);
}

function refused(reason: string, cause?: unknown): Fault {
  return new Fault(
    'IMPORT_REFUSED',
    `The file is not imported: ${reason}. Nothing was written.`,
    { reason },
    { cause },
  );
}
