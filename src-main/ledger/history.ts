import type {
  LedgerAgentId,
  LedgerChange,
  LedgerDiff,
  LedgerHistory,
  LedgerKey,
  LedgerKeyState,
  LedgerPoint,
  LedgerState,
  LedgerUsage,
} from '../../src-preload/contract/ledger.ts';
import { fromTimestamp, toTimestamp } from '../base/clock.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import type { Ledger, PageInput } from './api.ts';
import { readUsage } from './reads.ts';
import { keyNotFound, versionNotFound } from './refusals.ts';
import { importanceOf } from './rules/importance.ts';
import { diffJson } from './rules/json-diff.ts';
import { keysWithPrefix } from './rules/key-range.ts';
import { decodePageCursor, encodePageCursor } from './rules/page-cursor.ts';
import { isLive } from './rules/succession.ts';
import { findAgent, listAgentRows } from './tables/agents.ts';
import { type HeadRow, listKeyHeads } from './tables/heads.ts';
import {
  findNewestVersion,
  findVersion,
  findVersionAt,
  findVersionBySeq,
  listVersionsBefore,
  type ValuedVersionRow,
} from './tables/versions.ts';
import { readBody, toVersion } from './version-rows.ts';

/** Agents that have a history, in id order (`G30`). Throws CURSOR_INVALID. */
export function listAgents(db: ReadableDb, page: PageInput, nowMs: number): ReturnType<Ledger['listAgents']> {
  const question = ['ledger-agents'];
  const rows = listAgentRows(db, decodePageCursor(question, page.cursor, ''), page.limit + 1);
  const agents = rows.slice(0, page.limit).map((row): { agent_id: LedgerAgentId; usage: LedgerUsage } => {
    const agentId = row.agent_id as LedgerAgentId;
    return { agent_id: agentId, usage: readUsage(db, agentId, nowMs) };
  });
  return { agents, ...next(question, rows.length > page.limit, agents.at(-1)?.agent_id) };
}

/** Keys of an agent that have a history, in key order (`G30`). Throws CURSOR_INVALID. */
export function listKeys(
  db: ReadableDb,
  input: Parameters<Ledger['listKeys']>[0],
  nowMs: number,
): ReturnType<Ledger['listKeys']> {
  const { agentId, prefix = '', limit } = input;
  const question = ['ledger-keys', agentId, prefix];
  const after = decodePageCursor(question, input.cursor, '');
  const agent = findAgent(db, agentId);
  if (agent === undefined) return { keys: [] };
  const heads = listKeyHeads(db, agent, after, keysWithPrefix(prefix), limit + 1);
  const keys = heads.slice(0, limit).map((head) => toKeyState(db, head, nowMs));
  return { keys, ...next(question, heads.length > limit, keys.at(-1)?.key) };
}

/** Versions of a key, the newest first (`G31`). Throws MEMORY_KEY_NOT_FOUND, CURSOR_INVALID, INTEGRITY_MISMATCH. */
export function readHistory(db: ReadableDb, input: Parameters<Ledger['history']>[0]): LedgerHistory {
  const { agentId, key, limit } = input;
  const question = ['ledger-history', agentId, key];
  const before = decodePageCursor(question, input.cursor, Number.MAX_SAFE_INTEGER);
  const agent = getAgentOfKey(db, agentId, key);
  const rows = listVersionsBefore(db, agent, key, before, limit + 1);
  const versions = rows.slice(0, limit).map((row) => toVersion(agentId, row, row.redacted === 1));
  return {
    key,
    versions,
    ...(rows.length > limit ? { next_cursor: encodePageCursor(question, versions.at(-1)?.version ?? 0) } : {}),
  };
}

/** What a key held at a point (`G32`). Throws MEMORY_KEY_NOT_FOUND, INTEGRITY_MISMATCH. */
export function readValueAt(db: ReadableDb, input: Parameters<Ledger['valueAt']>[0]): LedgerState {
  const { agentId, key, point } = input;
  const agent = getAgentOfKey(db, agentId, key);
  const row = findAtPoint(db, agent, key, point);
  if (row === undefined) return { kind: 'absent', reason: 'not_yet', version: null };
  const redacted = row.kind === 'put' && row.body === null;
  const version = toVersion(agentId, row, redacted);
  const absent = (reason: 'deleted' | 'expired' | 'redacted'): LedgerState => ({ kind: 'absent', reason, version });
  if (row.kind === 'delete') return absent('deleted');
  if (row.kind === 'expire' || ('at' in point && !isLive(row, fromTimestamp(point.at)))) return absent('expired');
  return redacted ? absent('redacted') : { kind: 'value', version, value: readBody(row) };
}

/** What differs between two points of a key, in pages of places (`G33`). Throws as `readValueAt`, and CURSOR_INVALID. */
export function readDiff(db: ReadableDb, input: Parameters<Ledger['diff']>[0]): LedgerDiff {
  const { agentId, key, from, to, limit } = input;
  const question = ['ledger-diff', agentId, key, JSON.stringify(from), JSON.stringify(to)];
  const start = decodePageCursor(question, input.cursor, 0);
  const before = readValueAt(db, { agentId, key, point: from });
  const after = readValueAt(db, { agentId, key, point: to });
  const changes = changesBetween(before, after);
  const end = start + limit;
  return {
    key,
    from: before.version?.version ?? null,
    to: after.version?.version ?? null,
    fields: changedFields(before, after),
    changes: changes.slice(start, end),
    total: changes.length,
    ...(changes.length > end ? { next_cursor: encodePageCursor(question, end) } : {}),
  };
}

function changesBetween(before: LedgerState, after: LedgerState): readonly LedgerChange[] {
  if (before.kind === 'value' && after.kind === 'value') return diffJson(before.value, after.value);
  if (before.kind === 'value') return [{ kind: 'removed', path: '', before: before.value }];
  return after.kind === 'value' ? [{ kind: 'added', path: '', after: after.value }] : [];
}

const comparedFields = ['importance', 'source', 'confidence', 'expires_at', 'derived_from'] as const;

function changedFields(before: LedgerState, after: LedgerState): LedgerDiff['fields'] {
  if (before.version?.kind !== 'put' || after.version?.kind !== 'put') return [];
  const [one, other] = [before.version, after.version];
  return comparedFields.filter((field) => JSON.stringify(one[field]) !== JSON.stringify(other[field]));
}

function findAtPoint(db: ReadableDb, agent: number, key: LedgerKey, point: LedgerPoint): ValuedVersionRow | undefined {
  if ('at' in point) return findVersionAt(db, agent, key, fromTimestamp(point.at));
  const row = findVersion(db, agent, key, point.version);
  if (row === undefined) throw versionNotFound(key, point.version);
  return row;
}

function getAgentOfKey(db: ReadableDb, agentId: LedgerAgentId, key: LedgerKey): number {
  const agent = findAgent(db, agentId);
  if (agent === undefined || findNewestVersion(db, agent, key) === undefined) throw keyNotFound(key);
  return agent;
}

function toKeyState(db: ReadableDb, head: HeadRow, nowMs: number): LedgerKeyState {
  const row = findVersionBySeq(db, head.seq);
  if (row === undefined) throw keyNotFound(head.key);
  const live = isLive(row, nowMs);
  return {
    key: head.key as LedgerKey,
    version: row.version,
    state: live ? 'live' : row.kind === 'delete' ? 'deleted' : 'expired',
    importance: row.importance === null ? null : importanceOf(row.importance),
    size_bytes: row.value_bytes,
    written_at: toTimestamp(row.written_ms),
    expires_at: row.expires_ms === null ? null : toTimestamp(row.expires_ms),
  };
}

function next(
  question: readonly string[],
  more: boolean,
  last: string | undefined,
): { readonly nextCursor?: string | undefined } {
  return more && last !== undefined ? { nextCursor: encodePageCursor(question, last) } : {};
}
