import { z } from 'zod';
import { type AuditEntry, auditEntrySchema } from '../../../src-preload/contract/audit.ts';
import { assert } from '../../base/assert.ts';
import { encodeCanonical } from '../../canonical/json.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';
import { type AuditHead, emptyHead } from '../rules/audit-entry.ts';

type EntryRow = Readonly<Record<string, unknown>> & { readonly seq: number; readonly object_ids: string };

const columns =
  'seq, at, prev_hash, entry_hash, mac, mac_key_id, principal, credential_kind, credential_id, door, command, project, object_ids, request_digest, phase, outcome, correlation_id';

const objectIdsSchema = z.array(z.string());

/** Where the chain ends, as this connection sees it: inside a savepoint, with what the savepoint wrote. */
export function auditHead(db: ReadableDb): AuditHead {
  const row = db
    .query<[], { seq: number; entry_hash: string }>(
      'SELECT seq, entry_hash FROM audit_entries ORDER BY seq DESC LIMIT 1',
    )
    .get();
  return row === undefined ? emptyHead : { seq: row.seq, hash: row.entry_hash };
}

/** Appends an entry; the table refuses one that does not follow the last. */
export function insertAuditEntry(db: WritableDb, entry: AuditEntry): void {
  db.command<
    [
      number,
      string,
      string,
      string,
      string,
      string,
      string,
      string,
      string,
      string,
      string,
      string,
      string,
      string,
      string,
      string,
      string,
    ]
  >(`INSERT INTO audit_entries (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`).run(
    entry.seq,
    entry.at,
    entry.prev_hash,
    entry.entry_hash,
    entry.mac,
    entry.mac_key_id,
    entry.principal,
    entry.credential_kind,
    entry.credential_id,
    entry.door,
    entry.command,
    entry.project,
    encodeCanonical(entry.object_ids),
    entry.request_digest,
    entry.phase,
    entry.outcome,
    entry.correlation_id,
  );
}

/** Newest first, those before `beforeSeq` when given. */
export function listAuditEntries(db: ReadableDb, limit: number, beforeSeq: number | undefined): readonly AuditEntry[] {
  const rows = db
    .query<[number, number], EntryRow>(`SELECT ${columns} FROM audit_entries WHERE seq < +? ORDER BY seq DESC LIMIT +?`)
    .all(beforeSeq ?? Number.MAX_SAFE_INTEGER, limit);
  return rows.map((row) => parseEntry(row));
}

/** The entry of that place. */
/** Whether any entry is about a project. The first such stands among the first entries of a home that has one. */
export function isAnyProjectNamed(db: ReadableDb): boolean {
  return (
    db.query<[], { found: number }>("SELECT 1 AS found FROM audit_entries WHERE project <> '' LIMIT 1").get() !==
    undefined
  );
}

export function findAuditEntry(db: ReadableDb, seq: number): AuditEntry | undefined {
  const row = db.query<[number], EntryRow>(`SELECT ${columns} FROM audit_entries WHERE seq = ?`).get(seq);
  return row && parseEntry(row);
}

/** The stored hash of the entry of that place. */
export function findAuditHash(db: ReadableDb, seq: number): string | undefined {
  return db.query<[number], { entry_hash: string }>('SELECT entry_hash FROM audit_entries WHERE seq = ?').get(seq)
    ?.entry_hash;
}

/** A stored row as it is, for verification: one that cannot be read is a finding and not a fault. */
export interface ScannedEntry {
  readonly seq: number;
  readonly entry: AuditEntry | undefined;
}

/** Up to `limit` rows after `afterSeq`, oldest first. */
export function scanAuditEntries(db: ReadableDb, afterSeq: number, limit: number): readonly ScannedEntry[] {
  const rows = db
    .query<[number, number], EntryRow>(`SELECT ${columns} FROM audit_entries WHERE seq > +? ORDER BY seq LIMIT +?`)
    .all(afterSeq, limit);
  return rows.map((row) => {
    try {
      return { seq: row.seq, entry: parseEntry(row) };
    } catch {
      return { seq: row.seq, entry: undefined };
    }
  });
}

function parseEntry(row: EntryRow): AuditEntry {
  const objectIds = objectIdsSchema.parse(JSON.parse(row.object_ids));
  assert(
    encodeCanonical(objectIds) === row.object_ids,
    'the object ids of an audit entry are stored in their canonical form',
  );
  return auditEntrySchema.parse({ ...row, object_ids: objectIds });
}
