import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';
import { type ValuedVersionRow, type VersionRow, versionColumns } from './versions.ts';

/** The newest version of a key: `live` is 1 when that is a put, also while its time is over and nothing has swept it. */
export interface HeadRow {
  readonly seq: number;
  readonly agent: number;
  readonly key: string;
  readonly live: number;
  readonly importance: number | null;
  readonly updated_ms: number;
  readonly expires_ms: number | null;
  readonly value_bytes: number;
}

const columns = 'seq, agent, key, live, importance, updated_ms, expires_ms, value_bytes';
const joined = 'FROM ledger_heads h CROSS JOIN ledger_versions v ON v.seq = h.seq';
const withBody = `SELECT ${versionColumns}, b.body AS body ${joined} CROSS JOIN ledger_values b ON b.seq = h.seq`;
const alive = 'h.live = 1 AND (h.expires_ms IS NULL OR h.expires_ms > +?)';
/** A page is found in its index alone; only what it answers is read. */
const pageOf = (which: string): string => `SELECT ${versionColumns} FROM (
    SELECT h.seq AS seq FROM ledger_heads h WHERE ${which} AND h.key >= +? AND h.key < +? ORDER BY h.key LIMIT +? OFFSET +?
  ) p CROSS JOIN ledger_versions v ON v.seq = p.seq`;

export const headQueries = {
  ofKey: `SELECT ${columns} FROM ledger_heads WHERE agent = ? AND key = ?`,
  live: `${withBody} WHERE h.agent = ? AND h.key = ? AND ${alive}`,
  list: pageOf(`h.agent = +? AND ${alive}`),
  listOfImportance: pageOf(`h.agent = +? AND h.importance = +? AND ${alive}`),
  count: `SELECT count(*) AS count FROM ledger_heads h WHERE h.agent = +? AND ${alive} AND h.key >= +? AND h.key < +?`,
  countOfImportance: `SELECT count(*) AS count FROM ledger_heads h
    WHERE h.agent = +? AND h.importance = +? AND ${alive} AND h.key >= +? AND h.key < +?`,
  context: `${withBody} WHERE h.agent = +? AND h.importance = +? AND ${alive}
    ORDER BY h.updated_ms DESC, h.key LIMIT +?`,
  due: `SELECT ${columns} FROM ledger_heads
    WHERE live = 1 AND expires_ms IS NOT NULL AND expires_ms <= +? ORDER BY expires_ms LIMIT +?`,
  ended: `SELECT importance, count(*) AS keys, coalesce(sum(value_bytes), 0) AS bytes FROM ledger_heads
    WHERE agent = +? AND live = 1 AND expires_ms IS NOT NULL AND expires_ms <= +? GROUP BY importance`,
  keys: `SELECT ${columns} FROM ledger_heads WHERE agent = +? AND key > +? AND key >= +? AND key < +? ORDER BY key LIMIT +?`,
  unindexed: `SELECT ${columns} FROM ledger_heads WHERE seq > +? AND live = 1 ORDER BY seq LIMIT +?`,
  newestOf: `${withBody} WHERE h.seq > +? AND h.agent = +? AND ${alive} ORDER BY h.seq DESC LIMIT +?`,
  after: `SELECT ${columns} FROM ledger_heads WHERE seq > +? ORDER BY seq LIMIT +?`,
} as const;

/** The head of a key, live or not. */
export function findHead(db: ReadableDb, agent: number, key: string): HeadRow | undefined {
  return db.query<[number, string], HeadRow>(headQueries.ofKey).get(agent, key);
}

/** The live version of a key at a time, with its value. */
export function findLive(db: ReadableDb, agent: number, key: string, nowMs: number): ValuedVersionRow | undefined {
  return db.query<[number, string, number], ValuedVersionRow>(headQueries.live).get(agent, key, nowMs);
}

/** Keys with one beginning: `from` included, `below` not. */
export interface KeyRange {
  readonly from: string;
  readonly below: string;
}

export interface ListQuery {
  readonly agent: number;
  readonly nowMs: number;
  readonly keys: KeyRange;
  readonly importance: number | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** Live versions in key order. */
export function listLive(db: ReadableDb, query: ListQuery): readonly VersionRow[] {
  const { agent, nowMs, keys, importance, limit, offset } = query;
  const rows =
    importance === undefined
      ? db
          .query<[number, number, string, string, number, number], VersionRow>(headQueries.list)
          .all(agent, nowMs, keys.from, keys.below, limit, offset)
      : db
          .query<[number, number, number, string, string, number, number], VersionRow>(headQueries.listOfImportance)
          .all(agent, importance, nowMs, keys.from, keys.below, limit, offset);
  return rows.sort((one, other) => (one.key < other.key ? -1 : 1));
}

/** Live versions of one importance, the newest first, then by key. */
export function listInContext(
  db: ReadableDb,
  agent: number,
  importance: number,
  nowMs: number,
  limit: number,
): readonly ValuedVersionRow[] {
  return db
    .query<[number, number, number, number], ValuedVersionRow>(headQueries.context)
    .all(agent, importance, nowMs, limit);
}

/** Heads of any agent whose time is over, and that nothing has swept, those that ended first. */
export function listDue(db: ReadableDb, nowMs: number, limit: number): readonly HeadRow[] {
  return db.query<[number, number], HeadRow>(headQueries.due).all(nowMs, limit);
}

/** Heads of an agent in key order above `after`, tombstones among them. */
export function listKeyHeads(
  db: ReadableDb,
  agent: number,
  after: string,
  keys: KeyRange,
  limit: number,
): readonly HeadRow[] {
  return db
    .query<[number, string, string, string, number], HeadRow>(headQueries.keys)
    .all(agent, after, keys.from, keys.below, limit);
}

/** Live heads above a number, oldest first. */
export function listUnindexed(db: ReadableDb, after: number, limit: number): readonly HeadRow[] {
  return db.query<[number, number], HeadRow>(headQueries.unindexed).all(after, limit);
}

/** Live versions of an agent above a number with their values, the newest first; read as far as the caller goes. */
export function iterateNewest(
  db: ReadableDb,
  agent: number,
  after: number,
  nowMs: number,
  limit: number,
): IterableIterator<ValuedVersionRow> {
  return db
    .query<[number, number, number, number], ValuedVersionRow>(headQueries.newestOf)
    .iterate(after, agent, nowMs, limit);
}

/** Heads of all agents above a number, oldest first. */
export function listHeadsAfter(db: ReadableDb, after: number, limit: number): readonly HeadRow[] {
  return db.query<[number, number], HeadRow>(headQueries.after).all(after, limit);
}

/** Puts a head in the place of the one that its key had. */
export function replaceHead(db: WritableDb, head: HeadRow): void {
  db.command<[number, string]>('DELETE FROM ledger_heads WHERE agent = ? AND key = ?').run(head.agent, head.key);
  db.command<[number, number, string, number, number | null, number, number | null, number]>(
    `INSERT INTO ledger_heads (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(head.seq, head.agent, head.key, head.live, head.importance, head.updated_ms, head.expires_ms, head.value_bytes);
}
