import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { encodeCanonical } from '../../canonical/json.ts';
import { compareUtf8 } from '../../canonical/text.ts';
import { type ForeignDb, openForeign } from '../../sqlite/foreign.ts';
import type { ForeignTable } from '../rules/foreign-columns.ts';
import { gitTables, laterTables } from '../rules/foreign-git-tables.ts';
import { decodeForeignRow, type ForeignRow, nameForeignRow, textOf } from '../rules/foreign-row.ts';
import { decideForeignKind, versionTable } from '../rules/foreign-schema.ts';
import { assemblyTables, sessionTables } from '../rules/foreign-session-tables.ts';
import {
  countForeignRows,
  type ForeignKey,
  findForeignRow,
  findOversized,
  listForeignOps,
  listForeignRows,
} from '../tables/foreign-rows.ts';
import { importRefused, refusingRows } from './refusal.ts';

/** A reference database whose schema was found to be one, open for reading. Every fault of it is IMPORT_REFUSED. */
export interface ForeignFile {
  readonly kind: 'sessions' | 'git';
  /** Whether changesets may bear a digest of the first algorithm. */
  readonly mayHoldFirstDigests: boolean;
  /** The rows of a table in the order of their keys, in pages that let others work; none of a table that the file has not. */
  pages(table: ForeignTable): AsyncGenerator<readonly ForeignRow[]>;
  /** The same rows at one go, for a transaction. */
  rows(table: ForeignTable): Generator<ForeignRow>;
  /** The ops of one changeset in their order, at most `limit` and one. */
  ops(changesetId: string, limit: number): readonly ForeignRow[];
  /** The row of a changeset that a page has shown before. */
  changeset(changesetId: string): ForeignRow;
  /** The row of an event that a page has shown before. */
  event(eventId: string): ForeignRow;
  /** The tables that it has and that are read. */
  readonly tables: readonly ForeignTable[];
  /** How many rows a table has. */
  count(table: ForeignTable): number;
  close(): void;
}

const rowsPerPage = 200;

/**
 * Opens the copy of a file and looks at its schema before anything of it is read: ordinary tables only, each with the columns of a
 * reference database and no other, no value over its bound. Tables of other names are not looked at. Throws IMPORT_REFUSED.
 */
export function openForeignFile(path: string): ForeignFile {
  const db = openForeign(path);
  try {
    return fileOver(db);
  } catch (thrown) {
    db.close();
    throw thrown;
  }
}

function fileOver(db: ForeignDb): ForeignFile {
  const columns = new Map<string, readonly string[]>();
  requireTable(db, versionTable, columns);
  const applied = new Set<string>();
  for (const row of rowsOf(db, versionTable, columns)) applied.add(textOf(row, 'name'));
  const decided = decideForeignKind(applied);
  if (decided.kind === 'refused') throw importRefused(decided.reason);
  for (const table of Object.values(sessionTables)) requireTable(db, table, columns);
  if (decided.kind === 'git') for (const table of Object.values(gitTables)) requireTable(db, table, columns);
  for (const table of [...Object.values(assemblyTables), ...(decided.kind === 'git' ? Object.values(laterTables) : [])])
    if (db.columnsOf(table.name) !== undefined) requireTable(db, table, columns);
  const all: readonly ForeignTable[] = [sessionTables, assemblyTables, gitTables, laterTables].flatMap((group) =>
    Object.values(group),
  );
  const ops = gitTables.memory_changeset_ops;
  const changesets = gitTables.memory_changesets;
  const one = (table: ForeignTable, key: string): ForeignRow => {
    const raw = findForeignRow(db, table, columns.get(table.name) ?? [], [key]);
    if (raw === undefined || raw[table.key[0] ?? ''] !== key)
      throw importRefused('its tables and their indexes disagree: it is damaged');
    return refusingRows(() => decodeForeignRow(table, raw));
  };
  return {
    kind: decided.kind,
    mayHoldFirstDigests: decided.mayHoldFirstDigests,
    pages: async function* (table) {
      for (const page of pagesOf(db, table, columns)) {
        yield page;
        await setImmediate();
      }
    },
    rows: (table) => rowsOf(db, table, columns),
    ops: (changesetId, limit) =>
      refusingRows(() =>
        listForeignOps(db, ops, columns.get(ops.name) ?? [], changesetId, limit).map((raw) =>
          decodeForeignRow(ops, raw),
        ),
      ),
    changeset: (changesetId) => one(changesets, changesetId),
    event: (eventId) => one(sessionTables.events, eventId),
    tables: all.filter((table) => columns.has(table.name)),
    count: (table) => (columns.has(table.name) ? countForeignRows(db, table) : 0),
    close: () => db.close(),
  };
}

/** Finds the columns of a table that are to be read; a file without one of them, or with one more, is another schema. */
function requireTable(db: ForeignDb, table: ForeignTable, columns: Map<string, readonly string[]>): void {
  const found = db.columnsOf(table.name);
  if (found === undefined) throw importRefused(`it has no table ${table.name}: it is no reference database`);
  for (const [name, rule] of Object.entries(table.columns)) {
    if (!rule.isOptional && !found.some((column) => column.name === name))
      throw importRefused(`its table ${table.name} has no column ${name}: it is no reference database`);
  }
  const strange = found.find((column) => !Object.hasOwn(table.columns, column.name));
  if (strange !== undefined)
    throw importRefused(`its table ${table.name} has a column that a reference database has not`);
  // Rows are read page by page along the key, which a declared key makes cheap.
  const key = found
    .filter((column) => column.keyPosition > 0)
    .sort((left, right) => left.keyPosition - right.keyPosition);
  if (key.length !== table.key.length || key.some(({ name }, index) => name !== table.key[index]))
    throw importRefused(`its table ${table.name} has another primary key: it is no reference database`);
  const names = found.map((column) => column.name);
  columns.set(table.name, names);
  const oversized = findOversized(db, table, names);
  if (oversized !== undefined)
    throw importRefused(`${nameForeignRow(table, oversized)}: a value is larger than is allowed`);
}

function* rowsOf(
  db: ForeignDb,
  table: ForeignTable,
  columns: ReadonlyMap<string, readonly string[]>,
): Generator<ForeignRow> {
  for (const page of pagesOf(db, table, columns)) yield* page;
}

/** Pages by key. A key that does not ascend, or rows that no page shows, mean a damaged index or a key that is none. */
function* pagesOf(
  db: ForeignDb,
  table: ForeignTable,
  columns: ReadonlyMap<string, readonly string[]>,
): Generator<readonly ForeignRow[]> {
  const names = columns.get(table.name);
  if (names === undefined) return;
  let shown = 0;
  let after: ForeignKey = table.key.map((name) => (table.columns[name]?.type === 'text' ? '' : -1));
  for (;;) {
    const raws = listForeignRows(db, table, names, after, rowsPerPage);
    const rows = refusingRows(() => raws.map((raw) => decodeForeignRow(table, raw)));
    if (rows.length === 0) break;
    for (const row of rows) {
      const next = table.key.map((name) => row[name] ?? null);
      if (!isAfter(next, after)) throw importRefused(`its table ${table.name} is damaged: its keys do not ascend`);
      after = next;
    }
    shown += rows.length;
    yield rows;
  }
  if (shown !== countForeignRows(db, table))
    throw importRefused(`its table ${table.name} has rows without a usable ${table.key.join(', ')}`);
}

function isAfter(next: ForeignKey, before: ForeignKey): boolean {
  for (const [index, part] of next.entries()) {
    const earlier = before[index];
    if (part === earlier) continue;
    if (typeof part === 'string' && typeof earlier === 'string') return compareUtf8(part, earlier) > 0;
    return typeof part === 'number' && typeof earlier === 'number' && part > earlier;
  }
  return false;
}

/** The identity of what a file holds, whatever its pages look like: a digest that grows by row. */
export interface ContentDigest {
  add(table: ForeignTable, row: ForeignRow): void;
  /** Lower-case hex, once all rows were added. */
  end(): string;
}

/** Starts the identity of a file's content: SHA-256 over its rows in the order of tables and keys. */
export function openContentDigest(): ContentDigest {
  const hash = createHash('sha256').update('lethe/import/v1\n');
  return {
    add: (table, row) => void hash.update(`${table.name}\n${encodeCanonical(row)}\n`),
    end: () => hash.digest('hex'),
  };
}
