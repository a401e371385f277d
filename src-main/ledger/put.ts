import { type LedgerEntry, ledgerValueBytesMax } from '../../src-preload/contract/ledger.ts';
import { Fault } from '../base/fault.ts';
import { utf8Length } from '../canonical/text.ts';
import type { WritableDb } from '../sqlite/driver.ts';
import type { Ledger, PutInput } from './api.ts';
import { appendVersion, type PutDraft } from './append.ts';
import { keyNotFound, versionConflict } from './refusals.ts';
import { rankOf } from './rules/importance.ts';
import type { Succession } from './rules/succession.ts';
import { ensureAgent, findAgent } from './tables/agents.ts';
import type { VersionRow } from './tables/versions.ts';
import { toEntry } from './version-rows.ts';

/** A put as it is stored, made before the transaction. Throws MEMORY_VALUE_TOO_LARGE. */
export function draftPut(input: PutInput): PutDraft {
  const body = JSON.stringify(input.value);
  const bytes = utf8Length(body);
  if (bytes > ledgerValueBytesMax)
    throw new Fault(
      'MEMORY_VALUE_TOO_LARGE',
      `value: ${bytes} bytes as compact JSON are more than ${ledgerValueBytesMax}. Keep it in several keys.`,
      { bytes, bytes_max: ledgerValueBytesMax },
    );
  return {
    importance: rankOf(input.importance ?? 'normal'),
    source: input.source?.toWellFormed() ?? null,
    confidence: input.confidence ?? 1,
    ttlSeconds: input.ttl ?? null,
    derivedStart: input.derivedFrom?.start_version ?? null,
    derivedEnd: input.derivedFrom?.end_version ?? null,
    body,
    bytes,
  };
}

/** Appends a put (`G1` to `G4`). Throws MEMORY_LEDGER_VERSION_CONFLICT. */
export function put(db: WritableDb, input: PutInput, draft: PutDraft, nowMs: number): LedgerEntry {
  const agent = ensureAgent(db, input.agentId);
  const change = { kind: 'put', put: draft } as const;
  const row = appendVersion(db, { agent, key: input.key, nowMs, change }, (succession, previous) =>
    requireVersion(input.key, input.ifVersion, succession, previous),
  );
  return toEntry(input.agentId, row);
}

/** Appends a tombstone and answers its version (`G5`). Throws MEMORY_KEY_NOT_FOUND, MEMORY_LEDGER_VERSION_CONFLICT. */
export function tombstone(db: WritableDb, input: Parameters<Ledger['delete']>[0], nowMs: number): number {
  const agent = findAgent(db, input.agentId);
  if (agent === undefined) throw keyNotFound(input.key);
  const draft = { agent, key: input.key, nowMs, change: { kind: 'delete' } } as const;
  const { version } = appendVersion(db, draft, (succession, previous) => {
    if (!succession.replacesLive) throw keyNotFound(input.key);
    requireVersion(input.key, input.ifVersion, succession, previous);
  });
  return version;
}

function requireVersion(
  key: string,
  expected: number | undefined,
  { replacesLive }: Succession,
  previous: VersionRow | undefined,
): void {
  if (expected === undefined) return;
  const actual = replacesLive ? (previous?.version ?? null) : null;
  if (actual !== expected) throw versionConflict(key, expected, actual);
}
