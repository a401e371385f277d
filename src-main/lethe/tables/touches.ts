import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

/**
 * What a touch made of its memory. A proposed deprecation leaves it as alive as it was: active, without text, or retired.
 */
export const touchStatuses = [
  'blank',
  'active',
  'corrected',
  'superseded',
  'duplicate',
  'deprecation_proposed',
  'deprecation_blank',
  'deprecation_retired',
] as const;
export type TouchStatus = (typeof touchStatuses)[number];

/** Statuses in which a memory is live: shown, searched, and good for a target. */
export const liveStatuses = ['active', 'deprecation_proposed'] as const satisfies readonly TouchStatus[];

/** One change of one memory by one op, or by a merge that no op of it decides about (`L151`). */
export interface Touch {
  readonly memory: number;
  /** Number of the op that changed it; of a merge without one, a number above those of its ops. */
  readonly key: number;
  readonly chain: number;
  /** The op that made the state which the memory has from here on (retiring keeps the state it had). */
  readonly version: number;
  readonly status: TouchStatus;
  /** The other memory of an op that retired one and made another from it: the one it came from, or became. */
  readonly linked: number | undefined;
}

interface TouchRow {
  memory: number;
  key: number;
  chain: number;
  version: number;
  status: number;
  linked: number | null;
}

const columns = 'memory, key, chain, version, status, linked';

/**
 * Where SQLite would take the primary key and filter, the index is named: that walk would grow with the touches. Values are
 * bound as `+?`: a bare one beside ORDER BY is prepared again at every execution.
 */
export const touchQueries = {
  newest: `SELECT ${columns} FROM memory_touches WHERE memory = +? AND key <= +? ORDER BY key DESC LIMIT +?`,
  exact: `SELECT ${columns} FROM memory_touches WHERE memory = +? AND key = +?`,
  nextChain:
    'SELECT chain FROM memory_touches INDEXED BY memory_touches_by_memory_chain WHERE memory = +? AND key <> memory AND chain > +? ORDER BY chain LIMIT 1',
  newestOfChain: `SELECT ${columns} FROM memory_touches INDEXED BY memory_touches_by_memory_chain
    WHERE memory = +? AND key <> memory AND chain = +? AND key <= +? ORDER BY key DESC LIMIT 1`,
  ofMemoryInChain: `SELECT ${columns} FROM memory_touches INDEXED BY memory_touches_by_memory_chain
    WHERE memory = +? AND key <> memory AND chain = +? AND key > +? AND key <= +? ORDER BY key LIMIT +?`,
  ofChainAscending: `SELECT ${columns} FROM memory_touches WHERE chain = +? AND key > +? AND key <= +? ORDER BY key, memory LIMIT +?`,
  ofChainDescending: `SELECT ${columns} FROM memory_touches WHERE chain = +? AND key >= +? AND key <= +? ORDER BY key DESC, memory DESC LIMIT +?`,
  ofMemory: `SELECT ${columns} FROM memory_touches WHERE memory = +? AND key > +? AND key <= +? ORDER BY key LIMIT +?`,
  linked: `SELECT ${columns} FROM memory_touches INDEXED BY memory_touches_linked
    WHERE memory = +? AND key <= +? AND linked IS NOT NULL ORDER BY key DESC LIMIT +?`,
  duplicatesOfChain: `SELECT ${columns} FROM memory_touches INDEXED BY memory_duplicates_by_chain
    WHERE chain = +? AND key > +? AND key <= +? AND status = 4 ORDER BY key LIMIT +?`,
} as const;

/** The newest touch of a memory at or below an op number, visible or not. */
export function findNewestOf(db: ReadableDb, memory: number, upTo: number): Touch | undefined {
  const row = db.query<[number, number, number], TouchRow>(touchQueries.newest).get(memory, upTo, 1);
  return row === undefined ? undefined : toTouch(row);
}

/** Touches of a memory at or below an op number, newest first, visible or not. */
export function listNewestTouches(db: ReadableDb, memory: number, upTo: number, limit: number): readonly Touch[] {
  return db.query<[number, number, number], TouchRow>(touchQueries.newest).all(memory, upTo, limit).map(toTouch);
}

/** The touch of a memory by one op. */
export function findTouch(db: ReadableDb, memory: number, key: number): Touch | undefined {
  const row = db.query<[number, number], TouchRow>(touchQueries.exact).get(memory, key);
  return row === undefined ? undefined : toTouch(row);
}

/** The next chain above `after` that touched a memory after the op that first named it. */
export function findNextTouchingChain(db: ReadableDb, memory: number, after: number): number | undefined {
  return db.query<[number, number], { chain: number }>(touchQueries.nextChain).get(memory, after)?.chain;
}

/** The newest touch of a memory by one chain at or below an op number, but for the op that first named it. */
export function findNewestOfChain(db: ReadableDb, memory: number, chain: number, upTo: number): Touch | undefined {
  const row = db.query<[number, number, number], TouchRow>(touchQueries.newestOfChain).get(memory, chain, upTo);
  return row === undefined ? undefined : toTouch(row);
}

/** Touches of a memory by one chain with `after` < key ≤ `upTo`, but for the op that first named it, oldest first. */
export function listTouchesInChain(
  db: ReadableDb,
  memory: number,
  chain: number,
  after: number,
  upTo: number,
  limit: number,
): readonly Touch[] {
  return db
    .query<[number, number, number, number, number], TouchRow>(touchQueries.ofMemoryInChain)
    .all(memory, chain, after, upTo, limit)
    .map(toTouch);
}

/** Touches of a chain with `after` < key ≤ `upTo`, oldest first. */
export function listTouchesOfChain(
  db: ReadableDb,
  chain: number,
  after: number,
  upTo: number,
  limit: number,
): readonly Touch[] {
  return listRun(db, touchQueries.ofChainAscending, chain, after, upTo, limit);
}

/** Touches of a chain with `after` < key ≤ `upTo` that marked their memory a duplicate, oldest first. */
export function listDuplicatesOfChain(
  db: ReadableDb,
  chain: number,
  after: number,
  upTo: number,
  limit: number,
): readonly Touch[] {
  return listRun(db, touchQueries.duplicatesOfChain, chain, after, upTo, limit);
}

/** Touches of a chain with `from` ≤ key ≤ `upTo`, newest first. */
export function listTouchesBack(
  db: ReadableDb,
  chain: number,
  from: number,
  upTo: number,
  limit: number,
): readonly Touch[] {
  return listRun(db, touchQueries.ofChainDescending, chain, from, upTo, limit);
}

/** Touches of a memory with `after` < key ≤ `upTo`, oldest first, visible or not. */
export function listTouchesOfMemory(
  db: ReadableDb,
  memory: number,
  after: number,
  upTo: number,
  limit: number,
): readonly Touch[] {
  return listRun(db, touchQueries.ofMemory, memory, after, upTo, limit);
}

/** Touches of a memory at or below an op number that link it with another, newest first, visible or not. */
export function listLinkedTouches(db: ReadableDb, memory: number, upTo: number, limit: number): readonly Touch[] {
  return db.query<[number, number, number], TouchRow>(touchQueries.linked).all(memory, upTo, limit).map(toTouch);
}

/** Adds a touch; touches are never changed. */
export function insertTouch(db: WritableDb, touch: Touch): void {
  db.command<[number, number, number, number, number, number | null]>(
    `INSERT INTO memory_touches (${columns}) VALUES (?, ?, ?, ?, ?, ?)`,
  ).run(touch.memory, touch.key, touch.chain, touch.version, touchStatuses.indexOf(touch.status), touch.linked ?? null);
}

function toTouch(row: TouchRow): Touch {
  const { memory, key, chain, version } = row;
  return { memory, key, chain, version, status: touchStatuses[row.status] ?? 'blank', linked: row.linked ?? undefined };
}

/** Touches of one chain or memory between two ops, as the statement bounds and orders them. */
function listRun(
  db: ReadableDb,
  sql: string,
  owner: number,
  low: number,
  high: number,
  limit: number,
): readonly Touch[] {
  return db.query<[number, number, number, number], TouchRow>(sql).all(owner, low, high, limit).map(toTouch);
}
