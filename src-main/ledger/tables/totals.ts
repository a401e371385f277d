import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';
import { headQueries, type ListQuery } from './heads.ts';

/**
 * All that was ever written for an agent: acts of its own, versions (expirations among them), bytes of values, policies,
 * openings and closings of custody.
 */
export interface TotalsRow {
  readonly ops: number;
  readonly versions: number;
  readonly bytes: number;
  readonly policies: number;
  readonly custody_steps: number;
}

/** Live values of one importance. */
export interface LiveTotalsRow {
  readonly importance: number;
  readonly keys: number;
  readonly bytes: number;
}

/** The totals of an agent; undefined before its first write. */
export function findTotals(db: ReadableDb, agent: number): TotalsRow | undefined {
  return db
    .query<[number], TotalsRow>(
      'SELECT ops, versions, bytes, policies, custody_steps FROM ledger_totals WHERE agent = ?',
    )
    .get(agent);
}

/** The live totals of an agent by importance, values whose time is over among them until they are swept. */
export function listLiveTotals(db: ReadableDb, agent: number): readonly LiveTotalsRow[] {
  return db
    .query<[number], LiveTotalsRow>(
      'SELECT importance, keys, bytes FROM ledger_live_totals WHERE agent = ? ORDER BY importance',
    )
    .all(agent);
}

/** Of the live totals, what belongs to values whose time is over. Reads those values' index entries. */
export function listEndedTotals(db: ReadableDb, agent: number, nowMs: number): readonly LiveTotalsRow[] {
  return db.query<[number, number], LiveTotalsRow>(headQueries.ended).all(agent, nowMs);
}

/** Counts live keys of a range at a time: reads their index entries. */
export function countLive(
  db: ReadableDb,
  { agent, nowMs, keys, importance }: Omit<ListQuery, 'limit' | 'offset'>,
): number {
  const row =
    importance === undefined
      ? db
          .query<[number, number, string, string], { count: number }>(headQueries.count)
          .get(agent, nowMs, keys.from, keys.below)
      : db
          .query<[number, number, number, string, string], { count: number }>(headQueries.countOfImportance)
          .get(agent, importance, nowMs, keys.from, keys.below);
  return row?.count ?? 0;
}

/** Counts one more version of an agent. */
export function addVersionToTotals(db: WritableDb, agent: number, ops: number, bytes: number): void {
  db.command<[number, number, number]>(
    'UPDATE ledger_totals SET ops = ops + ?, versions = versions + 1, bytes = bytes + ? WHERE agent = ?',
  ).run(ops, bytes, agent);
}

/** Counts one more policy of an agent. */
export function addPolicyToTotals(db: WritableDb, agent: number): void {
  db.command<[number]>('UPDATE ledger_totals SET policies = policies + 1 WHERE agent = ?').run(agent);
}

/** Counts one more opening or closing of an agent's custody. */
export function addCustodyToTotals(db: WritableDb, agent: number): void {
  db.command<[number]>('UPDATE ledger_totals SET custody_steps = custody_steps + 1 WHERE agent = ?').run(agent);
}

/** Counts live values of one importance in, or out with negative numbers. */
export function addLive(db: WritableDb, agent: number, importance: number, keys: number, bytes: number): void {
  const { changes } = db
    .command<[number, number, number, number]>(
      'UPDATE ledger_live_totals SET keys = keys + ?, bytes = bytes + ? WHERE agent = ? AND importance = ?',
    )
    .run(keys, bytes, agent, importance);
  if (changes > 0) return;
  db.command<[number, number, number, number]>(
    'INSERT INTO ledger_live_totals (agent, importance, keys, bytes) VALUES (?, ?, ?, ?)',
  ).run(agent, importance, keys, bytes);
}
