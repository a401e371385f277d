import type { ConflictStatus } from '../../../src-preload/contract/conflict.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

/** Something that happened to a kept conflict: it got a status, or a proposal was bound to it or released from it. */
export interface ConflictEventColumns {
  readonly conflict: number;
  readonly kind: 'status' | 'bound' | 'released';
  /** Of a `status`; else empty. */
  readonly status: ConflictStatus | '';
  /** Of a binding; else empty. */
  readonly proposal_id: string;
  readonly at: string;
  /** Who, as far as the store was told; else empty. */
  readonly principal: string;
  readonly cause: string;
  readonly note: string;
}

/** Events are numbered without a gap. */
export interface ConflictEvent extends ConflictEventColumns {
  readonly event: number;
  readonly row_digest: string;
}

/** What the store knows of a proposal that a conflict was bound to. */
export interface Binding {
  readonly conflict: number;
  readonly proposal_id: string;
  readonly project_id: string;
  readonly created_ms: number;
  readonly conflict_id: string;
  /** 1 until the proposal is retired or lands. */
  readonly waits: 0 | 1;
  /** The event that made it so. */
  readonly event: number;
}

const columns = 'event, conflict, kind, status, proposal_id, at, principal, cause, note, row_digest';
const bindingColumns = 'conflict, proposal_id, project_id, created_ms, conflict_id, waits, event';

/** Values are bound as `+?`: a bare one beside ORDER BY is prepared again at every execution. */
export const conflictEventQueries = {
  lastStatus: `SELECT ${columns} FROM memory_conflict_events WHERE conflict = +? AND kind = 'status' ORDER BY event DESC LIMIT 1`,
  ofConflict: `SELECT ${columns} FROM memory_conflict_events WHERE conflict = +? ORDER BY event`,
  after: `SELECT ${columns} FROM memory_conflict_events WHERE event > +? ORDER BY event LIMIT +?`,
  last: 'SELECT event FROM memory_conflict_events ORDER BY event DESC LIMIT 1',
  newestBinding: `SELECT ${bindingColumns} FROM memory_conflict_bindings WHERE conflict = +? ORDER BY waits DESC, event DESC LIMIT 1`,
  bindings: `SELECT ${bindingColumns} FROM memory_conflict_bindings WHERE conflict = +? ORDER BY proposal_id`,
  waiting: `SELECT conflict FROM memory_conflict_bindings WHERE project_id = +? AND proposal_id = +? AND waits = 1 ORDER BY conflict LIMIT +?`,
  memories: 'SELECT memory FROM memory_conflict_memories WHERE conflict = +? ORDER BY memory',
} as const;

/** How a conflict came to the status that it has. */
export function findLastStatus(db: ReadableDb, conflict: number): ConflictEvent | undefined {
  return db.query<[number], ConflictEvent>(conflictEventQueries.lastStatus).get(conflict);
}

/** Everything that happened to a conflict, oldest first. */
export function listEventsOfConflict(db: ReadableDb, conflict: number): readonly ConflictEvent[] {
  return db.query<[number], ConflictEvent>(conflictEventQueries.ofConflict).all(conflict);
}

/** Events of all conflicts above a number, in number order, at most `limit`. */
export function listConflictEventsAfter(db: ReadableDb, after: number, limit: number): readonly ConflictEvent[] {
  return db.query<[number, number], ConflictEvent>(conflictEventQueries.after).all(after, limit);
}

/** The number that the next event has. */
export function nextConflictEvent(db: ReadableDb): number {
  return (db.query<[], { event: number }>(conflictEventQueries.last).get()?.event ?? 0) + 1;
}

/** Writes an event under the number that `nextConflictEvent` answers. */
export function insertConflictEvent(db: WritableDb, row: ConflictEvent): void {
  db.command<(string | number)[]>(
    `INSERT INTO memory_conflict_events (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    row.event,
    row.conflict,
    row.kind,
    row.status,
    row.proposal_id,
    row.at,
    row.principal,
    row.cause,
    row.note,
    row.row_digest,
  );
}

/** The proposal that a conflict is bound to: of those that wait, else of those that did, the one that was told last. */
export function findNewestBinding(db: ReadableDb, conflict: number): Binding | undefined {
  return db.query<[number], Binding>(conflictEventQueries.newestBinding).get(conflict);
}

/** The proposals that a conflict was ever bound to, in the order of their ids. */
export function listBindings(db: ReadableDb, conflict: number): readonly Binding[] {
  return db.query<[number], Binding>(conflictEventQueries.bindings).all(conflict);
}

/** The conflicts that a waiting proposal is bound to, in number order, at most `limit`. */
export function listWaitingConflicts(
  db: ReadableDb,
  projectId: string,
  proposalId: string,
  limit: number,
): readonly number[] {
  return db
    .query<[string, string, number], { conflict: number }>(conflictEventQueries.waiting)
    .all(projectId, proposalId, limit)
    .map(({ conflict }) => conflict);
}

/** Writes what became of a binding. */
export function putBinding(db: WritableDb, binding: Binding): void {
  db.command<(string | number)[]>(
    `INSERT INTO memory_conflict_bindings (${bindingColumns}) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (conflict, proposal_id) DO UPDATE SET waits = excluded.waits, event = excluded.event`,
  ).run(
    binding.conflict,
    binding.proposal_id,
    binding.project_id,
    binding.created_ms,
    binding.conflict_id,
    binding.waits,
    binding.event,
  );
}

/** The numbers of the memories that a conflict names, ascending. */
export function listNamedMemories(db: ReadableDb, conflict: number): readonly number[] {
  return db
    .query<[number], { memory: number }>(conflictEventQueries.memories)
    .all(conflict)
    .map(({ memory }) => memory);
}
