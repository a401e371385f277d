import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

export const threadStatuses = ['open', 'resolved', 'blocked'] as const;
export type ThreadStatus = (typeof threadStatuses)[number];

/** A matter that events belong to. `thread` ascends as threads are opened. */
export interface ThreadRow {
  readonly thread: number;
  readonly thread_id: string;
  readonly project_id: string;
  readonly session_id: string | null;
  readonly title: string;
  readonly status: ThreadStatus;
  readonly created_at: string;
  readonly created_order: string;
  readonly updated_at: string;
}

const columns = 'thread, thread_id, project_id, session_id, title, status, created_at, created_order, updated_at';
const ordered = "AND (+? = '' OR status = +?) ORDER BY created_order DESC, thread DESC LIMIT +?";

export const threadQueries = {
  ofSession: `SELECT ${columns} FROM lethe_threads WHERE session_id = +? ${ordered}`,
  ofProject: `SELECT ${columns} FROM lethe_threads WHERE project_id = +? ${ordered}`,
  all: `SELECT ${columns} FROM lethe_threads INDEXED BY lethe_threads_by_time WHERE created_order > '' ${ordered}`,
} as const;

/** A thread by its public id. */
export function findThread(db: ReadableDb, threadId: string): ThreadRow | undefined {
  return db.query<[string], ThreadRow>(`SELECT ${columns} FROM lethe_threads WHERE thread_id = ?`).get(threadId);
}

/** Whose threads are listed: a session's, a project's, or everybody's. */
export type ThreadOwner =
  | { readonly kind: 'session'; readonly id: string }
  | { readonly kind: 'project'; readonly id: string }
  | { readonly kind: 'all' };

/** Threads in one status, or in any when it is empty, newest first. */
export function listThreads(
  db: ReadableDb,
  owner: ThreadOwner,
  status: ThreadStatus | '',
  limit: number,
): readonly ThreadRow[] {
  if (owner.kind === 'all') {
    return db.query<[string, string, number], ThreadRow>(threadQueries.all).all(status, status, limit);
  }
  const sql = owner.kind === 'session' ? threadQueries.ofSession : threadQueries.ofProject;
  return db.query<[string, string, string, number], ThreadRow>(sql).all(owner.id, status, status, limit);
}

/** Writes a thread; answers its number. */
export function insertThread(db: WritableDb, row: Omit<ThreadRow, 'thread'>): number {
  return db
    .command<(string | null)[]>(`INSERT INTO lethe_threads (${columns}) VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)`)
    .run(
      row.thread_id,
      row.project_id,
      row.session_id,
      row.title,
      row.status,
      row.created_at,
      row.created_order,
      row.updated_at,
    ).lastInsertRowid;
}

/** Writes what of a thread changes. */
export function updateThread(db: WritableDb, row: Pick<ThreadRow, 'thread' | 'title' | 'status' | 'updated_at'>): void {
  db.command<[string, string, string, number]>(
    'UPDATE lethe_threads SET title = ?, status = ?, updated_at = ? WHERE thread = ?',
  ).run(row.title, row.status, row.updated_at, row.thread);
}
