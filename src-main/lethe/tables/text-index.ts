// The tables of the full-text index. Tokens come ready from `rules/segment.ts`; here they only get their project in
// front, so that each project has postings of its own and none is slowed down by another.

import { opsMax } from '../../../src-preload/contract/limits.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';
import { opsPerChangeset } from '../rules/numbers.ts';
import { liveStatuses, touchStatuses } from './touches.ts';

/** A version found in the index, and the memory that it is a state of. */
export interface IndexedVersion {
  readonly version: number;
  readonly memory: number;
}

/** What a version must have to be found. Tokens are those of `rules/segment.ts`. */
export interface IndexQuery {
  /** All of these; at least one. */
  readonly every: readonly string[];
  /** One of each of these groups; an empty group asks nothing. */
  readonly oneOf: readonly (readonly string[])[];
  /** None of these. */
  readonly none: readonly string[];
}

/** The version up to which everything is in the index; 0 before the first. */
export function findIndexedThrough(db: ReadableDb): number {
  return (
    db.query<[], { through: number }>('SELECT through FROM text_index_progress WHERE only = 1').get()?.through ?? 0
  );
}

export function setIndexedThrough(db: WritableDb, version: number): void {
  db.command<[number]>('UPDATE text_index_progress SET through = ? WHERE only = 1').run(version);
}

/** The number that stands for a project in the index; undefined when nothing of it is indexed. */
export function findProjectKey(db: ReadableDb, projectId: string): number | undefined {
  return db
    .query<[string], { project_key: number }>('SELECT project_key FROM text_projects WHERE project_id = ?')
    .get(projectId)?.project_key;
}

/** The same, made when there is none. */
export function ensureProjectKey(db: WritableDb, projectId: string): number {
  const known = findProjectKey(db, projectId);
  if (known !== undefined) return known;
  return db.command<[string]>('INSERT INTO text_projects (project_id) VALUES (?)').run(projectId).lastInsertRowid;
}

/** Adds one version. Versions must ascend over the life of the index. */
export function insertVersion(
  db: WritableDb,
  projectKey: number,
  found: IndexedVersion,
  tokens: ReadonlySet<string>,
): void {
  const text = [...tokens].map((token) => `${projectKey}${token}`).join(' ');
  db.command<[number, number]>('INSERT INTO text_versions (version, memory) VALUES (?, ?)').run(
    found.version,
    found.memory,
  );
  db.command<[number, string]>('INSERT INTO text_index (rowid, tokens) VALUES (CAST(? AS INTEGER), ?)').run(
    found.version,
    text,
  );
}

/** An op of the history and the memory that it left live, if it did. */
export interface TouchingOp {
  readonly op: number;
  readonly projectId: string;
  readonly memory: number | null;
  /** The op that made the state which the memory has from here on. */
  readonly version: number | null;
}

const live = liveStatuses.map((status) => touchStatuses.indexOf(status)).join(', ');
const touchingColumns = 'o.op AS op, c.project_id AS projectId, t.memory AS memory, t.version AS version';
const touchingJoin = `JOIN memory_changesets c ON c.seq = o.seq
  JOIN memory_places p ON p.seq = o.seq
  LEFT JOIN memory_touches t ON t.chain = p.chain AND t.key = o.op AND t.status IN (${live})`;

/** Numbers that stand for baseline events. */
const baselineJoin = `FROM memory_ids i INDEXED BY memory_ids_of_baselines
  JOIN memory_touches t ON t.memory = i.number AND t.key = i.number AND t.status IN (${live})
  WHERE i.baseline = 1`;
const baselineColumns = 'i.number AS op, i.project_id AS projectId, t.memory AS memory, t.version AS version';

/** Touches that a merge made without an op: numbers above those of its ops, each with a state of its own. */
const mergedJoin = `FROM memory_versions v
  CROSS JOIN memory_places p ON p.seq = v.version / ${opsPerChangeset} AND p.second_parent <> 0
  CROSS JOIN memory_changesets c ON c.seq = p.seq
  CROSS JOIN memory_touches t ON t.chain = p.chain AND t.key = v.version AND t.status IN (${live})
  WHERE v.version % ${opsPerChangeset} >= ${opsMax}`;
const mergedColumns = 'v.version AS op, c.project_id AS projectId, t.memory AS memory, t.version AS version';

export const textIndexQueries = {
  opsOn: `SELECT ${touchingColumns} FROM memory_changeset_ops o ${touchingJoin} WHERE o.op > ? ORDER BY o.op LIMIT +?`,
  baselinesOn: `SELECT ${baselineColumns} ${baselineJoin} AND i.number > ? ORDER BY i.number LIMIT +?`,
  opsBack: `SELECT ${touchingColumns} FROM memory_changeset_ops o ${touchingJoin}
    WHERE o.op > ? AND o.op <= ? ORDER BY o.op DESC LIMIT +?`,
  baselinesBack: `SELECT ${baselineColumns} ${baselineJoin} AND i.number > ? AND i.number <= ? ORDER BY i.number DESC LIMIT +?`,
  mergedBetween: `SELECT ${mergedColumns} ${mergedJoin} AND v.version > ? AND v.version <= ? ORDER BY v.version`,
} as const;

/** Ops, baseline events and what merges made without an op above `after`, of all projects, oldest first. */
export function listTouchingOps(db: ReadableDb, after: number, limit: number): readonly TouchingOp[] {
  const [ops, events] = [textIndexQueries.opsOn, textIndexQueries.baselinesOn].map((sql) =>
    db.query<[number, number], TouchingOp>(sql).all(after, limit),
  );
  const order = (one: TouchingOp, other: TouchingOp): number => one.op - other.op;
  const listed = joined(ops, events, limit, order);
  const upTo = listed.length < limit ? Number.MAX_SAFE_INTEGER : (listed.at(-1)?.op ?? after);
  return joined(listed, listMerged(db, after, upTo), limit, order);
}

/** The same above `after` and not above `upTo`, newest first. */
export function listTouchingOpsBack(db: ReadableDb, after: number, upTo: number, limit: number): readonly TouchingOp[] {
  const [ops, events] = [textIndexQueries.opsBack, textIndexQueries.baselinesBack].map((sql) =>
    db.query<[number, number, number], TouchingOp>(sql).all(after, upTo, limit),
  );
  const order = (one: TouchingOp, other: TouchingOp): number => other.op - one.op;
  const listed = joined(ops, events, limit, order);
  const above = listed.length < limit ? after : (listed.at(-1)?.op ?? after);
  return joined(listed, listMerged(db, above, upTo), limit, order);
}

/** Reads the states that grew between the two: no more than there are ops, which the caller bounds. */
function listMerged(db: ReadableDb, after: number, upTo: number): readonly TouchingOp[] {
  return db.query<[number, number], TouchingOp>(textIndexQueries.mergedBetween).all(after, upTo);
}

function joined(
  ops: readonly TouchingOp[] = [],
  events: readonly TouchingOp[] = [],
  limit: number,
  order: (one: TouchingOp, other: TouchingOp) => number,
): readonly TouchingOp[] {
  return events.length === 0 ? ops : [...ops, ...events].toSorted(order).slice(0, limit);
}

/** A version as the index holds it; undefined when it does not. */
export function findIndexedVersion(db: ReadableDb, version: number): IndexedVersion | undefined {
  return db.query<[number], IndexedVersion>('SELECT version, memory FROM text_versions WHERE version = ?').get(version);
}

/** True when the index holds every one of the tokens for the version. */
export function hasTokens(db: ReadableDb, projectKey: number, version: number, tokens: readonly string[]): boolean {
  return (
    db
      .query<[string, number], { version: number }>(
        'SELECT rowid AS version FROM text_index WHERE text_index MATCH ? AND rowid = CAST(? AS INTEGER)',
      )
      .get(matchText(projectKey, { every: tokens, oneOf: [], none: [] }), version) !== undefined
  );
}

/** Version numbers, both ends included. */
export interface VersionRange {
  readonly upTo: number;
  readonly downTo: number;
}

/** Versions of a project that the query finds in a range, newest first; read only as far as the caller goes. */
export function iterateVersions(
  db: ReadableDb,
  projectKey: number,
  query: IndexQuery,
  range: VersionRange,
): IterableIterator<IndexedVersion> {
  return db
    .query<[string, number, number], IndexedVersion>(
      `SELECT text_versions.version AS version, text_versions.memory AS memory
         FROM text_index CROSS JOIN text_versions ON text_versions.version = text_index.rowid
        WHERE text_index MATCH ? AND text_index.rowid BETWEEN CAST(? AS INTEGER) AND CAST(? AS INTEGER)
        ORDER BY text_index.rowid DESC`,
    )
    .iterate(matchText(projectKey, query), range.downTo, range.upTo);
}

/** Does one bounded step of merging the index's segments; true when another would do more. */
export function mergeSegments(db: WritableDb, pages: number): boolean {
  const total = 'SELECT total_changes() AS changes';
  const before = db.query<[], { changes: number }>(total).get()?.changes ?? 0;
  db.command<[number]>(`INSERT INTO text_index (text_index, rank) VALUES ('merge', CAST(? AS INTEGER))`).run(pages);
  const after = db.query<[], { changes: number }>(total).get()?.changes ?? 0;
  return after - before >= 2;
}

/** Empties the index; everything is waiting to be indexed again afterwards. */
export function clearTextIndex(db: WritableDb): void {
  db.command<[]>(`INSERT INTO text_index (text_index) VALUES ('delete-all')`).run();
  db.command<[]>('DELETE FROM text_versions').run();
  setIndexedThrough(db, 0);
}

function matchText(projectKey: number, query: IndexQuery): string {
  const quoted = (token: string): string => `"${projectKey}${token.replaceAll('"', '""')}"`;
  const groups = query.oneOf.filter((group) => group.length > 0);
  const wanted = [...query.every.map(quoted), ...groups.map((group) => `(${group.map(quoted).join(' OR ')})`)].join(
    ' AND ',
  );
  return query.none.length === 0 ? wanted : `(${wanted}) NOT (${query.none.map(quoted).join(' OR ')})`;
}
