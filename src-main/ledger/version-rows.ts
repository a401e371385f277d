import type { Digest } from '../../src-preload/contract/ids.ts';
import type { JsonValue } from '../../src-preload/contract/json.ts';
import type { LedgerEntry, LedgerKey, LedgerValue, LedgerVersion } from '../../src-preload/contract/ledger.ts';
import { toTimestamp } from '../base/clock.ts';
import { sha256Hex } from '../canonical/digest.ts';
import { versionMismatch } from './refusals.ts';
import { importanceOf } from './rules/importance.ts';
import { versionDigest } from './rules/version-digest.ts';
import type { ValuedVersionRow, VersionRow } from './tables/versions.ts';

/** A live version of an agent in its public form, without its value. Throws INTEGRITY_MISMATCH. */
export function toEntry(agentId: string, row: VersionRow): LedgerEntry {
  requireIntact(agentId, row);
  if (row.created_ms === null) throw versionMismatch(row.key, row.version);
  return {
    key: row.key as LedgerKey,
    version: row.version,
    ...describedOf(row),
    created_at: toTimestamp(row.created_ms),
    updated_at: toTimestamp(row.written_ms),
  };
}

/** A live version with its value, which is checked against its digest. Throws INTEGRITY_MISMATCH. */
export function toValue(agentId: string, row: ValuedVersionRow): LedgerValue {
  return { ...toEntry(agentId, row), value: readBody(row) };
}

/** The value of a version, checked against its digest. Throws INTEGRITY_MISMATCH. */
export function readBody(row: ValuedVersionRow): JsonValue {
  if (row.body === null || sha256Hex(row.body) !== row.value_digest) throw versionMismatch(row.key, row.version);
  return JSON.parse(row.body);
}

/** Any version as the owner sees it in the history. Throws INTEGRITY_MISMATCH. */
export function toVersion(agentId: string, row: VersionRow, redacted: boolean): LedgerVersion {
  requireIntact(agentId, row);
  const common = {
    version: row.version,
    written_at: toTimestamp(row.written_ms),
    digest: row.row_digest as Digest,
  };
  if (row.kind !== 'put') return { kind: row.kind, ...common };
  if (row.created_ms === null) throw versionMismatch(row.key, row.version);
  return {
    kind: 'put',
    ...common,
    ...describedOf(row),
    created_at: toTimestamp(row.created_ms),
    ttl: row.ttl_seconds,
    value_digest: row.value_digest as Digest,
    redacted,
  };
}

function requireIntact(agentId: string, row: VersionRow): void {
  if (versionDigest(agentId, row) !== row.row_digest) throw versionMismatch(row.key, row.version);
}

type Described = Pick<
  LedgerEntry,
  'importance' | 'source' | 'confidence' | 'expires_at' | 'size_bytes' | 'derived_from'
>;

function describedOf(row: VersionRow): Described {
  return {
    importance: importanceOf(row.importance),
    source: row.source,
    confidence: row.confidence ?? 1,
    expires_at: row.expires_ms === null ? null : toTimestamp(row.expires_ms),
    size_bytes: row.value_bytes,
    ...(row.derived_start === null || row.derived_end === null
      ? {}
      : { derived_from: { start_version: row.derived_start, end_version: row.derived_end } }),
  };
}
