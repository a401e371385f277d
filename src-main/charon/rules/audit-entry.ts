import { type AuditEntry, auditEntrySchema, type Door } from '../../../src-preload/contract/audit.ts';
import type { Timestamp } from '../../../src-preload/contract/ids.ts';
import { auditEntryHash, auditGenesisHash } from '../../canonical/policy-digest.ts';
import { hmacSha256Hex, verifyHmacSha256Hex } from '../../canonical/signature.ts';

/** Who asked for what, with ids and digests only. */
export interface RecordedSubject {
  readonly principal: string;
  readonly credentialKind: AuditEntry['credential_kind'];
  readonly credentialId: string;
  readonly door: Door;
  readonly command: string;
  readonly project: string;
  readonly objectIds: readonly string[];
  readonly requestDigest: string;
  readonly correlationId: string;
  /** The caller's idempotency key, so that an intent without an outcome can be settled after a crash; forgotten with the outcome, never in an entry. */
  readonly idempotencyKey?: string | undefined;
}

/** A MAC key and the id that entries name it by. */
export interface MacKey {
  readonly id: string;
  readonly key: Buffer;
}

/** Where a chain ends: the place that the next entry takes and the hash that it follows. */
export interface AuditHead {
  readonly seq: number;
  readonly hash: string;
}

/** The head of a ledger without entries. */
export const emptyHead: AuditHead = { seq: 0, hash: auditGenesisHash };

/** The outcome of an intent that no record decides: it stays open until it is settled by hand (`charon.md` §6). */
export const ambiguousOutcome = 'ambiguous';

/** The outcome that ends an ambiguous intent by the owner's order: nobody knows what came of it. */
export const closedByHandOutcome = 'settled: by_hand';

/** What is recorded, before it has a place in the chain. */
export interface AuditRecord {
  readonly at: Timestamp;
  readonly subject: RecordedSubject;
  readonly phase: AuditEntry['phase'];
  readonly outcome: string;
}

/** Longest text that an entry takes for one of its columns, in characters; what is longer is cut, marked with `…`. */
const columnCharactersMax = 1_024;
const objectIdsMax = 64;

/** The entry that follows `head`: chained by `prev_hash`, its hash under the ledger's MAC (`charon.md` §6). */
export function nextEntry(head: AuditHead, record: AuditRecord, macKey: MacKey): AuditEntry {
  const { subject } = record;
  const columns = {
    seq: head.seq + 1,
    at: record.at,
    prev_hash: head.hash,
    mac_key_id: macKey.id,
    principal: bounded(subject.principal),
    credential_kind: subject.credentialKind,
    credential_id: bounded(subject.credentialId),
    door: subject.door,
    command: bounded(subject.command),
    project: bounded(subject.project),
    object_ids: boundedIds(subject.objectIds),
    request_digest: bounded(subject.requestDigest),
    phase: record.phase,
    outcome: bounded(record.outcome),
    correlation_id: bounded(subject.correlationId),
  };
  const hash = auditEntryHash(columns);
  return auditEntrySchema.parse({ ...columns, entry_hash: hash, mac: hmacSha256Hex(macKey.key, hash) });
}

/** Why an entry does not hold, or undefined when it does. `keys` are the MAC keys at hand, by id. */
export type EntryProblem = 'seq' | 'prev_hash' | 'entry_hash' | 'mac' | 'mac_key_absent';

/** Checks one stored entry against the one before it (`charon.md` §6). */
export function checkEntry(
  entry: AuditEntry,
  head: AuditHead,
  keys: ReadonlyMap<string, Buffer>,
): EntryProblem | undefined {
  if (entry.seq !== head.seq + 1) return 'seq';
  if (entry.prev_hash !== head.hash) return 'prev_hash';
  const { entry_hash: hash, mac, ...columns } = entry;
  if (auditEntryHash(columns) !== hash) return 'entry_hash';
  const key = keys.get(entry.mac_key_id);
  if (key === undefined) return 'mac_key_absent';
  return verifyHmacSha256Hex(key, hash, mac) ? undefined : 'mac';
}

function boundedIds(ids: readonly string[]): string[] {
  const named = ids.slice(0, objectIdsMax).map(bounded);
  return ids.length <= objectIdsMax ? named : [...named, `and ${ids.length - objectIdsMax} more`];
}

function bounded(text: string): string {
  const wellFormed = text.toWellFormed();
  if (wellFormed.length <= columnCharactersMax) return wellFormed;
  return `${wellFormed.slice(0, columnCharactersMax).toWellFormed()}…`;
}
