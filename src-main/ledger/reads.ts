import type {
  LedgerAgentId,
  LedgerEntry,
  LedgerKey,
  LedgerUsage,
  LedgerValue,
} from '../../src-preload/contract/ledger.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import type { Ledger, ListInput } from './api.ts';
import { keyNotFound } from './refusals.ts';
import { rankOf, ranksFrom } from './rules/importance.ts';
import { keysWithPrefix } from './rules/key-range.ts';
import { findAgent } from './tables/agents.ts';
import { findLive, listInContext, listLive } from './tables/heads.ts';
import { countLive, findTotals, listEndedTotals, listLiveTotals } from './tables/totals.ts';
import { toEntry, toValue } from './version-rows.ts';

/** The live value of a key (`G7`). Throws MEMORY_KEY_NOT_FOUND, INTEGRITY_MISMATCH. */
export function readValue(db: ReadableDb, agentId: LedgerAgentId, key: LedgerKey, nowMs: number): LedgerValue {
  const agent = findAgent(db, agentId);
  const row = agent === undefined ? undefined : findLive(db, agent, key, nowMs);
  if (row === undefined) throw keyNotFound(key);
  return toValue(agentId, row);
}

/**
 * One page of live entries in key order, and how many match (`G8`). The number of all, or of one importance, is kept; that of
 * a prefix is counted from the index.
 */
export function listEntries(
  db: ReadableDb,
  input: ListInput,
  nowMs: number,
): { readonly entries: readonly LedgerEntry[]; readonly total: number } {
  const { agentId, page, perPage, prefix = '' } = input;
  const agent = findAgent(db, agentId);
  if (agent === undefined) return { entries: [], total: 0 };
  const importance = input.importance === undefined ? undefined : rankOf(input.importance);
  const query = { agent, nowMs, keys: keysWithPrefix(prefix), importance };
  const total = prefix === '' ? liveKeys(db, agent, importance, nowMs) : countLive(db, query);
  const offset = (page - 1) * perPage;
  const rows = offset >= total ? [] : listLive(db, { ...query, limit: perPage, offset });
  return { entries: rows.map((row) => toEntry(agentId, row)), total };
}

/** Live values by importance, then newest, then key (`G9`). Reads no more rows than it answers, but for ended ones. */
export function readContext(db: ReadableDb, input: Parameters<Ledger['context']>[0], nowMs: number): LedgerValue[] {
  const agent = findAgent(db, input.agentId);
  const values: LedgerValue[] = [];
  if (agent === undefined) return values;
  for (const rank of ranksFrom(input.importance)) {
    const room = input.limit - values.length;
    if (room === 0) break;
    values.push(...listInContext(db, agent, rank, nowMs, room).map((row) => toValue(input.agentId, row)));
  }
  return values;
}

/** What an agent's memory amounts to at a time (`G10`): kept figures, less those of values whose time is over. */
export function readUsage(db: ReadableDb, agentId: LedgerAgentId, nowMs: number): LedgerUsage {
  const agent = findAgent(db, agentId);
  const totals = agent === undefined ? undefined : findTotals(db, agent);
  if (agent === undefined || totals === undefined)
    return { ops: 0, bytes: 0, live_keys: 0, ledger_rows: 0, ledger_bytes: 0 };
  const live = listLiveTotals(db, agent);
  const ended = listEndedTotals(db, agent, nowMs);
  const sum = (rows: typeof live, of: 'keys' | 'bytes'): number => rows.reduce((total, row) => total + row[of], 0);
  return {
    ops: totals.ops,
    bytes: sum(live, 'bytes') - sum(ended, 'bytes'),
    live_keys: sum(live, 'keys') - sum(ended, 'keys'),
    ledger_rows: totals.versions,
    ledger_bytes: totals.bytes,
  };
}

function liveKeys(db: ReadableDb, agent: number, importance: number | undefined, nowMs: number): number {
  const keys = (rows: readonly { readonly importance: number; readonly keys: number }[]): number =>
    rows.reduce((sum, row) => (importance === undefined || row.importance === importance ? sum + row.keys : sum), 0);
  return keys(listLiveTotals(db, agent)) - keys(listEndedTotals(db, agent, nowMs));
}
