import type { Conflict } from '../../src-preload/contract/conflict.ts';
import type { ChangesetId, Digest, ProjectId, Timestamp } from '../../src-preload/contract/ids.ts';
import type { JsonObject } from '../../src-preload/contract/json.ts';
import { Fault } from '../base/fault.ts';
import { encodePlain } from '../canonical/json.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import { changesetIdOf, findMemoryNumber } from './projection/identity.ts';
import { rowDigest } from './row-digest.ts';
import {
  type ConflictEvent,
  type ConflictEventColumns,
  findLastStatus,
  findNewestBinding,
} from './tables/conflict-events.ts';
import type { ConflictColumns, ConflictRow } from './tables/conflicts.ts';

/** The digest of what a conflict says; its status is not part of it, the events tell that. */
export function conflictDigest(columns: ConflictColumns): string {
  const { conflict_id, project_id, base_seq, left_seq, right_seq, conflict_type, severity, summary } = columns;
  const { details, conflict_key, created_at, created_ms } = columns;
  const about = { conflict_id, project_id, base_seq, left_seq, right_seq, conflict_type, severity, summary };
  return rowDigest('conflict', { ...about, details, conflict_key, created_at, created_ms });
}

/** The digest of one event. */
export function conflictEventDigest(columns: ConflictEventColumns & { readonly event: number }): string {
  const { event, conflict, kind, status, proposal_id, at, principal, cause, note } = columns;
  return rowDigest('conflict-event', { event, conflict, kind, status, proposal_id, at, principal, cause, note });
}

/** What a finding says, as it is kept from `atMs` on. */
export function conflictColumns(
  finding: Conflict,
  seqs: { readonly base: number; readonly left: number; readonly right: number },
  at: Timestamp,
  atMs: number,
): ConflictColumns {
  return {
    conflict_id: finding.conflict_id,
    project_id: finding.project_id,
    base_seq: seqs.base,
    left_seq: seqs.left,
    right_seq: seqs.right,
    conflict_type: finding.conflict_type,
    severity: finding.severity,
    summary: finding.summary,
    details: encodePlain(finding.details ?? {}),
    conflict_key: finding.conflict_key,
    created_at: at,
    created_ms: atMs,
  };
}

/** The numbers of the memories that a conflict's details name, ascending, each once; what the project never knew has none. */
export function namedMemories(db: ReadableDb, projectId: string, details: JsonObject): readonly number[] {
  const { memory_ids: ids } = details;
  const texts = Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [];
  const numbers = texts.flatMap((id) => findMemoryNumber(db, projectId, id) ?? []);
  return [...new Set(numbers)].toSorted((one, other) => one - other);
}

/** Turns kept conflicts into their wire form; ids of changesets that several are about are read once. */
export interface ConflictReader {
  /**
   * Throws INTEGRITY_MISMATCH when the conflict, or what became of it, is not what its digest says.
   * @param proposalId the proposal to name; else the one that it is bound to
   */
  read(row: ConflictRow, proposalId?: string): Conflict;
}

/** Opens a reader for one verb. Each conflict costs how it came to its status, and its proposal when none is given. */
export function openConflictReader(db: ReadableDb): ConflictReader {
  const known = new Map<number, ChangesetId>();
  const changesetId = (seq: number): ChangesetId => {
    const id = known.get(seq) ?? changesetIdOf(db, seq);
    known.set(seq, id);
    return id;
  };
  return { read: (row, proposalId) => decodeConflict(db, row, proposalId, changesetId) };
}

function decodeConflict(
  db: ReadableDb,
  row: ConflictRow,
  proposalId: string | undefined,
  changesetId: (seq: number) => ChangesetId,
): Conflict {
  const last = findLastStatus(db, row.number);
  if (conflictDigest(row) !== row.row_digest || !tellsStatus(last, row)) throw conflictMismatch(row.conflict_id);
  const details: JsonObject = JSON.parse(row.details);
  const proposal = proposalId ?? findNewestBinding(db, row.number)?.proposal_id;
  return {
    conflict_id: row.conflict_id as Digest,
    project_id: row.project_id as ProjectId,
    base_changeset_id: changesetId(row.base_seq),
    left_changeset_id: changesetId(row.left_seq),
    right_changeset_id: changesetId(row.right_seq),
    conflict_type: row.conflict_type,
    severity: row.severity,
    summary: row.summary,
    ...(Object.keys(details).length === 0 ? {} : { details }),
    status: row.status,
    ...(proposal === undefined ? {} : { proposal_id: proposal }),
    created_at: row.created_at as Timestamp,
    ...(row.status === 'open' ? {} : { resolved_at: last.at as Timestamp }),
    ...(last.note === '' ? {} : { resolution_note: last.note }),
    conflict_key: row.conflict_key as Digest,
  };
}

function tellsStatus(last: ConflictEvent | undefined, row: ConflictRow): last is ConflictEvent {
  return last !== undefined && conflictEventDigest(last) === last.row_digest && last.status === row.status;
}

function conflictMismatch(conflictId: string): Fault {
  return new Fault(
    'INTEGRITY_MISMATCH',
    'A kept conflict is not what its digest says: it was altered or damaged. Run lethe verify-chain and restore a verified backup.',
    { conflict_id: conflictId },
  );
}
