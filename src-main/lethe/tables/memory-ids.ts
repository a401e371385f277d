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
    'SELECT i.number, i.memory_id FROM json_each(?) wanted CROSS JOIN memory_ids i ON i.number = wanted.value',
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

/** The ids that callers chose for those of the memories that have one, by memory number, in one statement. */
export function listChosenIds(db: ReadableDb, numbers: readonly number[]): readonly (readonly [number, MemoryId])[] {
  return db
    .query<[string], { number: number; memory_id: string }>(idQueries.wantedChosen)
    .all(JSON.stringify(numbers))
    .map((row) => [row.number, memoryIdSchema.parse(row.memory_id)]);
}

/** Keeps the id that a caller chose for a memory, under the number of the op that named it. */
export function insertChosenId(db: WritableDb, number: number, projectId: string, memoryId: string): void {
  db.command<[number, string, string]>('INSERT INTO memory_ids (number, project_id, memory_id) VALUES (?, ?, ?)').run(
    number,
    projectId,
    memoryId,
  );
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
