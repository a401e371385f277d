import type { ReadableDb, SqlValue, WritableDb } from '../../sqlite/driver.ts';

/** A version as it is stored; absent fields are null. `importance` is its place in the contract's list. */
export interface VersionRow {
  readonly seq: number;
  readonly agent: number;
  readonly key: string;
  readonly version: number;
  readonly kind: 'put' | 'delete' | 'expire';
  readonly written_ms: number;
  /** The latest of the times of this version and those before it. */
  readonly moment_ms: number;
  readonly created_ms: number | null;
  readonly importance: number | null;
  readonly source: string | null;
  readonly confidence: number | null;
  readonly ttl_seconds: number | null;
  readonly expires_ms: number | null;
  readonly derived_start: number | null;
  readonly derived_end: number | null;
  readonly value_bytes: number;
  readonly value_digest: string | null;
  readonly previous_digest: string;
  readonly row_digest: string;
}

/** A version with its value; `body` is null for a tombstone and for a value that was taken out. */
export type ValuedVersionRow = VersionRow & { readonly body: string | null };

const columns = [
  'seq',
  'agent',
  'key',
  'version',
  'kind',
  'written_ms',
  'moment_ms',
  'created_ms',
  'importance',
  'source',
  'confidence',
  'ttl_seconds',
  'expires_ms',
  'derived_start',
  'derived_end',
  'value_bytes',
  'value_digest',
  'previous_digest',
  'row_digest',
] as const satisfies readonly (keyof VersionRow)[];

/** The columns of a version, for statements that join it as `v`. */
export const versionColumns = columns.map((column) => `v.${column} AS ${column}`).join(', ');
const from = 'FROM ledger_versions v';
const withBody = `SELECT ${versionColumns}, b.body AS body ${from} LEFT JOIN ledger_values b ON b.seq = v.seq`;

export const versionQueries = {
  lastSeq: 'SELECT max(seq) AS seq FROM ledger_versions',
  bySeq: `${withBody} WHERE v.seq = ?`,
  byNumber: `${withBody} WHERE v.agent = ? AND v.key = ? AND v.version = ?`,
  newest: `SELECT ${versionColumns} ${from} WHERE v.agent = ? AND v.key = ? ORDER BY v.version DESC LIMIT 1`,
  before: `SELECT ${versionColumns}, b.body IS NULL AND v.kind = 'put' AS redacted ${from}
    LEFT JOIN ledger_values b ON b.seq = v.seq
    WHERE v.agent = +? AND v.key = +? AND v.version < +? ORDER BY v.version DESC LIMIT +?`,
  atMoment: `${withBody} WHERE v.agent = +? AND v.key = +? AND v.moment_ms <= +?
    ORDER BY v.moment_ms DESC, v.version DESC LIMIT 1`,
  after: `SELECT ${versionColumns}, b.body AS body, b.redacted_ms IS NOT NULL AS redacted ${from}
    LEFT JOIN ledger_values b ON b.seq = v.seq WHERE v.seq > +? ORDER BY v.seq LIMIT +?`,
} as const;

/** The greatest number of a version of any agent; 0 before the first. */
export function findLastSeq(db: ReadableDb): number {
  return db.query<[], { seq: number | null }>(versionQueries.lastSeq).get()?.seq ?? 0;
}

/** A version with its value by its number inside. */
export function findVersionBySeq(db: ReadableDb, seq: number): ValuedVersionRow | undefined {
  return db.query<[number], ValuedVersionRow>(versionQueries.bySeq).get(seq);
}

/** A version of a key with its value. */
export function findVersion(db: ReadableDb, agent: number, key: string, version: number): ValuedVersionRow | undefined {
  return db.query<[number, string, number], ValuedVersionRow>(versionQueries.byNumber).get(agent, key, version);
}

/** The newest version of a key, tombstone or not. */
export function findNewestVersion(db: ReadableDb, agent: number, key: string): VersionRow | undefined {
  return db.query<[number, string], VersionRow>(versionQueries.newest).get(agent, key);
}

/** Versions of a key below a number, the newest first. */
export function listVersionsBefore(
  db: ReadableDb,
  agent: number,
  key: string,
  before: number,
  limit: number,
): readonly (VersionRow & { readonly redacted: number })[] {
  return db
    .query<[number, string, number, number], VersionRow & { readonly redacted: number }>(versionQueries.before)
    .all(agent, key, before, limit);
}

/** The version of a key that stood at a moment; undefined before the first. */
export function findVersionAt(
  db: ReadableDb,
  agent: number,
  key: string,
  momentMs: number,
): ValuedVersionRow | undefined {
  return db.query<[number, string, number], ValuedVersionRow>(versionQueries.atMoment).get(agent, key, momentMs);
}

/** Versions of all agents above a number, oldest first, with their values. */
export function listVersionsAfter(
  db: ReadableDb,
  after: number,
  limit: number,
): readonly (ValuedVersionRow & { readonly redacted: number })[] {
  return db
    .query<[number, number], ValuedVersionRow & { readonly redacted: number }>(versionQueries.after)
    .all(after, limit);
}

/** Appends a version, and its value when it has one. */
export function insertVersion(db: WritableDb, row: VersionRow, body: string | null): void {
  const places = columns.map(() => '?').join(', ');
  db.command<SqlValue[]>(`INSERT INTO ledger_versions (${columns.join(', ')}) VALUES (${places})`).run(
    ...columns.map((column) => row[column]),
  );
  if (body !== null)
    db.command<[number, string]>('INSERT INTO ledger_values (seq, body) VALUES (?, ?)').run(row.seq, body);
}
