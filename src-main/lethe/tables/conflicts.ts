import type { ConflictStatus, ConflictType, Severity } from '../../../src-preload/contract/conflict.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

/** What a conflict says, as it was kept: nothing of this ever changes. `details` is a plain encoding. */
export interface ConflictColumns {
  readonly conflict_id: string;
  readonly project_id: string;
  readonly base_seq: number;
  readonly left_seq: number;
  readonly right_seq: number;
  readonly conflict_type: ConflictType;
  readonly severity: Severity;
  readonly summary: string;
  readonly details: string;
  readonly conflict_key: string;
  readonly created_at: string;
  readonly created_ms: number;
}

/** A kept conflict. Numbers ascend in the order in which they were kept. */
export interface ConflictRow extends ConflictColumns {
  readonly number: number;
  readonly row_digest: string;
  readonly status: ConflictStatus;
}

const columns = `c.number, c.conflict_id, c.project_id, c.base_seq, c.left_seq, c.right_seq, c.conflict_type, c.severity, c.summary,
  c.details, c.conflict_key, c.created_at, c.created_ms, c.row_digest, c.status`;
const ofPage = 'ORDER BY c.created_ms DESC, c.conflict_id LIMIT +?';
const ofBindingPage = 'ORDER BY b.created_ms DESC, b.conflict_id LIMIT +?';
const ofBindings = `SELECT ${columns} FROM memory_conflict_bindings b CROSS JOIN memory_conflicts c ON c.number = b.conflict`;

/** Values are bound as `+?`: a bare one beside ORDER BY is prepared again at every execution. */
export const conflictQueries = {
  byId: `SELECT ${columns} FROM memory_conflicts c WHERE c.conflict_id = ?`,
  byNumber: `SELECT ${columns} FROM memory_conflicts c WHERE c.number = ?`,
  newestOfKey: `SELECT ${columns} FROM memory_conflicts c WHERE c.project_id = +? AND c.conflict_key = +? ORDER BY c.number DESC LIMIT 1`,
  ofSides: `SELECT c.conflict_id, c.status FROM memory_conflicts c
    WHERE c.project_id = +? AND c.left_seq = +? AND c.right_seq = +? AND c.conflict_key = +? ORDER BY c.status`,
  after: `SELECT ${columns} FROM memory_conflicts c WHERE c.number > +? ORDER BY c.number LIMIT +?`,
  last: 'SELECT number FROM memory_conflicts ORDER BY number DESC LIMIT 1',
  same: `SELECT ${columns} FROM memory_conflicts c WHERE c.project_id = +? AND c.created_ms = +? AND c.conflict_id > +? ORDER BY c.conflict_id LIMIT +?`,
  older: `SELECT ${columns} FROM memory_conflicts c WHERE c.project_id = +? AND c.created_ms < +? ${ofPage}`,
  sameOfStatus: `SELECT ${columns} FROM memory_conflicts c
    WHERE c.project_id = +? AND c.status = +? AND c.created_ms = +? AND c.conflict_id > +? ORDER BY c.conflict_id LIMIT +?`,
  olderOfStatus: `SELECT ${columns} FROM memory_conflicts c WHERE c.project_id = +? AND c.status = +? AND c.created_ms < +? ${ofPage}`,
  sameOfProposal: `${ofBindings} WHERE b.project_id = +? AND b.proposal_id = +? AND (+? IS NULL OR c.status = +?)
    AND b.created_ms = +? AND b.conflict_id > +? ORDER BY b.conflict_id LIMIT +?`,
  olderOfProposal: `${ofBindings} WHERE b.project_id = +? AND b.proposal_id = +? AND (+? IS NULL OR c.status = +?)
    AND b.created_ms < +? ${ofBindingPage}`,
} as const;

/** The conflict of that id, of whatever project. */
export function findConflictRow(db: ReadableDb, conflictId: string): ConflictRow | undefined {
  return db.query<[string], ConflictRow>(conflictQueries.byId).get(conflictId);
}

/** The conflict of that number. */
export function findConflictRowByNumber(db: ReadableDb, number: number): ConflictRow | undefined {
  return db.query<[number], ConflictRow>(conflictQueries.byNumber).get(number);
}

/** The conflict with that key that was kept last. */
export function findNewestOfKey(db: ReadableDb, projectId: string, conflictKey: string): ConflictRow | undefined {
  return db.query<[string, string], ConflictRow>(conflictQueries.newestOfKey).get(projectId, conflictKey);
}

/** What became of a finding between two sides, under whatever base it was kept. */
export function listStatusesOfFinding(
  db: ReadableDb,
  projectId: string,
  leftSeq: number,
  rightSeq: number,
  conflictKey: string,
): readonly Pick<ConflictRow, 'conflict_id' | 'status'>[] {
  return db
    .query<[string, number, number, string], Pick<ConflictRow, 'conflict_id' | 'status'>>(conflictQueries.ofSides)
    .all(projectId, leftSeq, rightSeq, conflictKey);
}

/** Conflicts of all projects with numbers above `after`, in number order, at most `limit`. */
export function listConflictRowsAfter(db: ReadableDb, after: number, limit: number): readonly ConflictRow[] {
  return db.query<[number, number], ConflictRow>(conflictQueries.after).all(after, limit);
}

/** Which conflicts of a project are listed. */
export interface ConflictFilter {
  readonly projectId: string;
  readonly status: string | undefined;
  readonly proposalId: string | undefined;
}

/** The end of a page. */
export interface ConflictPosition {
  readonly createdMs: number;
  readonly conflictId: string;
}

/** The conflicts after a position, newest first, then by id, at most `limit`. */
export function listConflictRows(
  db: ReadableDb,
  filter: ConflictFilter,
  after: ConflictPosition | undefined,
  limit: number,
): readonly ConflictRow[] {
  const { same, older, values } = pageOf(filter);
  const rows = (sql: string, from: readonly (string | number)[], wanted: number): readonly ConflictRow[] =>
    wanted === 0 ? [] : db.query<(string | number | null)[], ConflictRow>(sql).all(...values, ...from, wanted);
  if (after === undefined) return rows(older, [Number.MAX_SAFE_INTEGER], limit);
  const first = rows(same, [after.createdMs, after.conflictId], limit);
  return [...first, ...rows(older, [after.createdMs], limit - first.length)];
}

function pageOf({ projectId, status, proposalId }: ConflictFilter): {
  readonly same: string;
  readonly older: string;
  readonly values: readonly (string | null)[];
} {
  if (proposalId !== undefined) {
    const { sameOfProposal, olderOfProposal } = conflictQueries;
    const values = [projectId, proposalId, status ?? null, status ?? null];
    return { same: sameOfProposal, older: olderOfProposal, values };
  }
  if (status === undefined) return { same: conflictQueries.same, older: conflictQueries.older, values: [projectId] };
  const { sameOfStatus, olderOfStatus } = conflictQueries;
  return { same: sameOfStatus, older: olderOfStatus, values: [projectId, status] };
}

/** The number of the conflict that was kept last; 0 before there is one. */
export function lastConflictNumber(db: ReadableDb): number {
  return db.query<[], { number: number }>(conflictQueries.last).get()?.number ?? 0;
}

/** Writes a conflict with the numbers of the memories that it names; answers its number. */
export function insertConflictRow(
  db: WritableDb,
  row: Omit<ConflictRow, 'number'>,
  memories: readonly number[],
): number {
  const number = lastConflictNumber(db) + 1;
  db.command<(string | number)[]>(
    `INSERT INTO memory_conflicts (number, conflict_id, project_id, base_seq, left_seq, right_seq, conflict_type, severity, summary,
       details, conflict_key, created_at, created_ms, row_digest, status) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    number,
    row.conflict_id,
    row.project_id,
    row.base_seq,
    row.left_seq,
    row.right_seq,
    row.conflict_type,
    row.severity,
    row.summary,
    row.details,
    row.conflict_key,
    row.created_at,
    row.created_ms,
    row.row_digest,
    row.status,
  );
  const insertMemory = db.command<[number, number]>(
    'INSERT INTO memory_conflict_memories (conflict, memory) VALUES (?, ?)',
  );
  for (const memory of memories) insertMemory.run(number, memory);
  return number;
}

/** Gives a conflict its next status. */
export function updateConflictStatus(db: WritableDb, number: number, status: ConflictStatus): void {
  db.command<[string, number]>('UPDATE memory_conflicts SET status = ? WHERE number = ?').run(status, number);
}
