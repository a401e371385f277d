import type { JsonObject } from '../../../src-preload/contract/json.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

export const verdicts = ['good', 'stale_included', 'missing_memory', 'too_large', 'irrelevant', 'other'] as const;
export type Verdict = (typeof verdicts)[number];

/** What a session put together as its context, and out of which manifest and head (`lethe.md` §1.4). */
export interface AssemblyRow {
  readonly assembly: number;
  readonly assembly_id: string;
  readonly session_id: string;
  readonly query: string;
  readonly token_budget: number | null;
  readonly estimated_tokens: number | null;
  readonly accepted_estimated_tokens: number | null;
  readonly memory_manifest_id: string | null;
  readonly memory_head_changeset_id: string | null;
  readonly created_at: string;
  readonly created_order: string;
}

/** What was said of an assembly afterwards. */
export interface FeedbackRow {
  readonly feedback_id: string;
  readonly verdict: Verdict;
  readonly note: string;
  readonly created_at: string;
}

const columns = `assembly, assembly_id, session_id, query, token_budget, estimated_tokens, accepted_estimated_tokens,
  memory_manifest_id, memory_head_changeset_id, created_at, created_order`;

export const assemblyQueries = {
  ofSession: `SELECT ${columns} FROM lethe_assemblies WHERE session_id = +? ORDER BY assembly DESC LIMIT +?`,
  olderThan: `SELECT assembly FROM lethe_assemblies INDEXED BY lethe_assemblies_by_time WHERE created_order < +? ORDER BY created_order LIMIT +?`,
  beyond: `SELECT assembly FROM lethe_assemblies INDEXED BY lethe_assemblies_by_session WHERE session_id = +?
    ORDER BY assembly DESC LIMIT +? OFFSET +?`,
} as const;

/** An assembly by its public id. */
export function findAssembly(db: ReadableDb, assemblyId: string): AssemblyRow | undefined {
  return db
    .query<[string], AssemblyRow>(`SELECT ${columns} FROM lethe_assemblies WHERE assembly_id = ?`)
    .get(assemblyId);
}

/** Assemblies of a session, newest first. */
export function listAssemblies(db: ReadableDb, sessionId: string, limit: number): readonly AssemblyRow[] {
  return db.query<[string, number], AssemblyRow>(assemblyQueries.ofSession).all(sessionId, limit);
}

/** What an assembly was put together of, in its order. */
export function listAssemblyItems(db: ReadableDb, assembly: number): readonly JsonObject[] {
  return db
    .query<[number], { body: string }>('SELECT body FROM lethe_assembly_items WHERE assembly = +? ORDER BY position')
    .all(assembly)
    .map(({ body }) => JSON.parse(body) as JsonObject);
}

/** What was said of an assembly, oldest first. */
export function listFeedback(db: ReadableDb, assembly: number, limit: number): readonly FeedbackRow[] {
  return db
    .query<[number, number], FeedbackRow>(
      `SELECT feedback_id, verdict, note, created_at FROM lethe_assembly_feedback
       WHERE assembly = +? ORDER BY feedback LIMIT +?`,
    )
    .all(assembly, limit);
}

/** Writes an assembly with its items, each the plain encoding of an object; answers its number. */
export function insertAssembly(db: WritableDb, row: Omit<AssemblyRow, 'assembly'>, items: readonly string[]): number {
  const assembly = db
    .command<(string | number | null)[]>(
      `INSERT INTO lethe_assemblies (${columns}) VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      row.assembly_id,
      row.session_id,
      row.query,
      row.token_budget,
      row.estimated_tokens,
      row.accepted_estimated_tokens,
      row.memory_manifest_id,
      row.memory_head_changeset_id,
      row.created_at,
      row.created_order,
    ).lastInsertRowid;
  const insert = db.command<[number, number, string]>(
    'INSERT INTO lethe_assembly_items (assembly, position, body) VALUES (?, ?, ?)',
  );
  for (const [position, body] of items.entries()) insert.run(assembly, position, body);
  return assembly;
}

/** Writes what was said of an assembly. */
export function insertFeedback(db: WritableDb, assembly: number, row: FeedbackRow): void {
  db.command<[string, number, string, string, string]>(
    'INSERT INTO lethe_assembly_feedback (feedback_id, assembly, verdict, note, created_at) VALUES (?, ?, ?, ?, ?)',
  ).run(row.feedback_id, assembly, row.verdict, row.note, row.created_at);
}

/** Deletes the oldest assemblies made before a moment (`toOrder`), `limit` at most; how many. */
export function deleteAssembliesBefore(db: WritableDb, order: string, limit: number): number {
  return deleteAll(db, db.query<[string, number], { assembly: number }>(assemblyQueries.olderThan).all(order, limit));
}

/** Deletes what a session has beyond its newest `kept` assemblies, `limit` at most; how many. */
export function deleteAssembliesBeyond(db: WritableDb, sessionId: string, kept: number, limit: number): number {
  return deleteAll(
    db,
    db.query<[string, number, number], { assembly: number }>(assemblyQueries.beyond).all(sessionId, limit, kept),
  );
}

function deleteAll(db: WritableDb, rows: readonly { readonly assembly: number }[]): number {
  const remove = db.command<[number]>('DELETE FROM lethe_assemblies WHERE assembly = ?');
  for (const { assembly } of rows) remove.run(assembly);
  return rows.length;
}
