import {
  type ChangesetId,
  changesetIdSchema,
  type MemoryId,
  memoryIdSchema,
} from '../../../src-preload/contract/ids.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

/** The numbers that are wanted are bound as a JSON array: one statement for however many there are. */
export const idQueries = {
  wantedChosen:
    'SELECT i.number, i.memory_id, i.event FROM json_each(?) wanted CROSS JOIN memory_ids i ON i.number = wanted.value',
  wantedChangesets:
    'SELECT c.seq, c.changeset_id FROM json_each(?) wanted CROSS JOIN memory_changesets c ON c.seq = wanted.value',
} as const;

/** The number of a memory whose id a caller chose; ids of the form `mem:…` that the store made have no row. */
export function findChosenNumber(db: ReadableDb, projectId: string, memoryId: string): number | undefined {
  return db
    .query<[string, string], { number: number }>('SELECT number FROM memory_ids WHERE project_id = ? AND memory_id = ?')
    .get(projectId, memoryId)?.number;
}

/** The id that a caller chose for a memory, if one did. */
export function findChosenId(db: ReadableDb, number: number): MemoryId | undefined {
  const row = db
    .query<[number], { memory_id: string }>('SELECT memory_id FROM memory_ids WHERE number = ?')
    .get(number);
  return row === undefined ? undefined : memoryIdSchema.parse(row.memory_id);
}

/** The event of the project that bore a memory's id when it was named. */
export function findEventOfId(db: ReadableDb, number: number): number | undefined {
  return (
    db.query<[number], { event: number | null }>('SELECT event FROM memory_ids WHERE number = ?').get(number)?.event ??
    undefined
  );
}

/** Whether a memory was named by the root of its project, after an event. */
export function isOfBaseline(db: ReadableDb, number: number): boolean {
  return (
    db.query<[number], { baseline: number }>('SELECT baseline FROM memory_ids WHERE number = ?').get(number)
      ?.baseline === 1
  );
}

/** An id that a caller chose, or that an event gave to the memory made of it. */
export interface ChosenId {
  readonly number: number;
  readonly memoryId: MemoryId;
  /** The event of the project that bore the id when the memory was named. */
  readonly event: number | undefined;
}

/** The ids that callers chose for those of the memories that have one, in one statement. */
export function listChosenIds(db: ReadableDb, numbers: readonly number[]): readonly ChosenId[] {
  return db
    .query<[string], { number: number; memory_id: string; event: number | null }>(idQueries.wantedChosen)
    .all(JSON.stringify(numbers))
    .map(({ number, memory_id, event }) => ({
      number,
      memoryId: memoryIdSchema.parse(memory_id),
      event: event ?? undefined,
    }));
}

/**
 * Keeps the id that a caller chose for a memory, under the number of the op that named it, and the event of the project
 * that bears that id by now (`lethe.md` §5.7).
 */
export function insertChosenId(db: WritableDb, number: number, projectId: string, memoryId: string): void {
  db.command<[number, string, string, string, string]>(
    `INSERT INTO memory_ids (number, project_id, memory_id, event)
     VALUES (?, ?, ?, (SELECT event FROM lethe_events WHERE event_id = ? AND project_id = ?))`,
  ).run(number, projectId, memoryId, memoryId, projectId);
}

/** Keeps the id of an event of the project as that of the memory which a root makes of it. */
export function insertBaselineId(db: WritableDb, number: number, projectId: string, eventId: string): void {
  db.command<[number, string, string, string, string]>(
    `INSERT INTO memory_ids (number, project_id, memory_id, event, baseline)
     VALUES (?, ?, ?, (SELECT event FROM lethe_events WHERE event_id = ? AND project_id = ?), 1)`,
  ).run(number, projectId, eventId, eventId, projectId);
}

/** The public id of a changeset number. */
export function findChangesetId(db: ReadableDb, seq: number): ChangesetId | undefined {
  const row = db
    .query<[number], { changeset_id: string }>('SELECT changeset_id FROM memory_changesets WHERE seq = ?')
    .get(seq);
  return row === undefined ? undefined : changesetIdSchema.parse(row.changeset_id);
}

/** The public ids of changeset numbers, by number, in one statement. */
export function listChangesetIds(db: ReadableDb, seqs: readonly number[]): readonly (readonly [number, ChangesetId])[] {
  return db
    .query<[string], { seq: number; changeset_id: string }>(idQueries.wantedChangesets)
    .all(JSON.stringify(seqs))
    .map((row) => [row.seq, changesetIdSchema.parse(row.changeset_id)]);
}

/** The number of a changeset of a project by its public id. */
export function findChangesetSeq(db: ReadableDb, projectId: string, changesetId: string): number | undefined {
  const row = db
    .query<[string], { seq: number; project_id: string }>(
      'SELECT seq, project_id FROM memory_changesets WHERE changeset_id = ?',
    )
    .get(changesetId);
  return row?.project_id === projectId ? row.seq : undefined;
}
