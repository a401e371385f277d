import { domainDigest } from '../../canonical/digest.ts';

/** A version as its digest sees it: every column of its row, its agent by id, its value by digest. */
export type DigestedVersion = {
  readonly seq: number;
  readonly key: string;
  readonly version: number;
  readonly kind: string;
  readonly written_ms: number;
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
  /** The digest of the version before, empty for the first: so each one stands for all of its key's history. */
  readonly previous_digest: string;
};

/** `row_digest` of a version (`ledger.md` §3). */
export function versionDigest(agentId: string, row: DigestedVersion): string {
  return domainDigest('ledger/version/v1', {
    agent_id: agentId,
    confidence: row.confidence,
    created_ms: row.created_ms,
    derived_end: row.derived_end,
    derived_start: row.derived_start,
    expires_ms: row.expires_ms,
    importance: row.importance,
    key: row.key,
    kind: row.kind,
    moment_ms: row.moment_ms,
    previous_digest: row.previous_digest,
    seq: row.seq,
    source: row.source,
    ttl_seconds: row.ttl_seconds,
    value_bytes: row.value_bytes,
    value_digest: row.value_digest,
    version: row.version,
    written_ms: row.written_ms,
  });
}
