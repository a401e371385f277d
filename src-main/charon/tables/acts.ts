import type { AuditEntry } from '../../../src-preload/contract/audit.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';
import { findAuditEntry } from './audit-entries.ts';

/** Remembers that the entry of that place is an act of power outside the desk. */
export function insertAct(db: WritableDb, seq: number): void {
  db.command<[number]>('INSERT INTO audit_acts (seq) VALUES (?)').run(seq);
}

/** Their places after `afterSeq` and before `beforeSeq`, newest first. */
export function listActSeqs(
  db: ReadableDb,
  range: { readonly afterSeq: number; readonly beforeSeq: number },
  limit: number,
): readonly number[] {
  return db
    .query<[number, number, number], { seq: number }>(
      'SELECT seq FROM audit_acts WHERE seq > +? AND seq < +? ORDER BY seq DESC LIMIT +?',
    )
    .all(range.afterSeq, range.beforeSeq, limit)
    .map(({ seq }) => seq);
}

/** The entries themselves, newest first; one that is gone from the ledger is left out, and verification names it. */
export function listActs(
  db: ReadableDb,
  range: { readonly afterSeq: number; readonly beforeSeq: number },
  limit: number,
): readonly AuditEntry[] {
  return listActSeqs(db, range, limit).flatMap((seq) => findAuditEntry(db, seq) ?? []);
}
