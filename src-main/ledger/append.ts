import { assert } from '../base/assert.ts';
import { sha256Hex } from '../canonical/digest.ts';
import type { WritableDb } from '../sqlite/driver.ts';
import { type Succession, succeed } from './rules/succession.ts';
import { versionDigest } from './rules/version-digest.ts';
import { findAgentId } from './tables/agents.ts';
import { findHead, type HeadRow, replaceHead } from './tables/heads.ts';
import { noteStale } from './tables/text-index.ts';
import { addLive, addVersionToTotals } from './tables/totals.ts';
import { findLastSeq, findNewestVersion, insertVersion, type VersionRow } from './tables/versions.ts';

/** What a put brings; a tombstone brings nothing. */
export interface PutDraft {
  readonly importance: number;
  readonly source: string | null;
  readonly confidence: number;
  readonly ttlSeconds: number | null;
  readonly derivedStart: number | null;
  readonly derivedEnd: number | null;
  /** The compact JSON, and its length in bytes of UTF-8. */
  readonly body: string;
  readonly bytes: number;
}

export interface VersionDraft {
  readonly agent: number;
  readonly key: string;
  readonly nowMs: number;
  readonly change: { readonly kind: 'put'; readonly put: PutDraft } | { readonly kind: 'delete' | 'expire' };
}

/**
 * Appends a version to its key and brings what is derived from the history along, in the caller's transaction: the head, the
 * totals, and the note that the version before is in the search index no longer of right.
 * @param decide hears what the key holds now, and may refuse by throwing
 */
export function appendVersion(
  db: WritableDb,
  draft: VersionDraft,
  decide: (succession: Succession, previous: VersionRow | undefined) => void = () => {},
): VersionRow {
  const { agent, key, nowMs, change } = draft;
  const previous = findNewestVersion(db, agent, key);
  const succession = succeed(previous, nowMs);
  decide(succession, previous);
  const put = change.kind === 'put' ? change.put : undefined;
  const undigested = {
    seq: findLastSeq(db) + 1,
    agent,
    key,
    version: succession.version,
    kind: change.kind,
    written_ms: nowMs,
    moment_ms: succession.moment_ms,
    created_ms: put === undefined ? null : succession.created_ms,
    importance: put?.importance ?? null,
    source: put?.source ?? null,
    confidence: put?.confidence ?? null,
    ttl_seconds: put?.ttlSeconds ?? null,
    expires_ms: put === undefined || put.ttlSeconds === null ? null : nowMs + put.ttlSeconds * 1_000,
    derived_start: put?.derivedStart ?? null,
    derived_end: put?.derivedEnd ?? null,
    value_bytes: put?.bytes ?? 0,
    value_digest: put === undefined ? null : sha256Hex(put.body),
    previous_digest: succession.previous_digest,
  } as const;
  const agentId = findAgentId(db, agent);
  assert(agentId !== undefined, 'an agent with a number has an id');
  const row: VersionRow = { ...undigested, row_digest: versionDigest(agentId, undigested) };
  insertVersion(db, row, put?.body ?? null);
  advanceHead(db, row);
  return row;
}

function advanceHead(db: WritableDb, row: VersionRow): void {
  const before = findHead(db, row.agent, row.key);
  const head: HeadRow = {
    seq: row.seq,
    agent: row.agent,
    key: row.key,
    live: row.kind === 'put' ? 1 : 0,
    importance: row.importance,
    updated_ms: row.written_ms,
    expires_ms: row.expires_ms,
    value_bytes: row.value_bytes,
  };
  if (before?.live === 1) noteStale(db, before.seq);
  replaceHead(db, head);
  if (before?.live === 1 && before.importance !== null)
    addLive(db, row.agent, before.importance, -1, -before.value_bytes);
  if (row.kind === 'put' && row.importance !== null) addLive(db, row.agent, row.importance, 1, row.value_bytes);
  addVersionToTotals(db, row.agent, row.kind === 'expire' ? 0 : 1, row.value_bytes);
}
