import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';
import type { NamedRow } from './sessions.ts';

/** Keeps an agent of another store, unless one of that id is here. */
export function keepAgent(db: WritableDb, row: NamedRow): void {
  db.command<[string, string, string, string]>(
    'INSERT INTO lethe_agents (agent_id, name, created_at, updated_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
  ).run(row.id, row.name, row.created_at, row.updated_at);
}

/** Keeps a project as sessions of another store know it, unless one of that id is here. */
export function keepSessionProject(db: WritableDb, row: NamedRow): void {
  db.command<[string, string, string, string]>(
    'INSERT INTO lethe_projects (project_id, name, created_at, updated_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
  ).run(row.id, row.name, row.created_at, row.updated_at);
}

/** Whether an agent of that id is here. */
export function isAgent(db: ReadableDb, agentId: string): boolean {
  return isFound(db, 'SELECT 1 AS found FROM lethe_agents WHERE agent_id = ?', agentId);
}

/** Whether sessions know a project of that id. */
export function isSessionProject(db: ReadableDb, projectId: string): boolean {
  return isFound(db, 'SELECT 1 AS found FROM lethe_projects WHERE project_id = ?', projectId);
}

/** Whether a checkpoint of that id is here. */
export function isCheckpoint(db: ReadableDb, checkpointId: string): boolean {
  return isFound(db, 'SELECT 1 AS found FROM lethe_checkpoints WHERE checkpoint_id = ?', checkpointId);
}

/** Whether a session bears that key. */
export function isSessionKey(db: ReadableDb, key: string): boolean {
  return isFound(db, 'SELECT 1 AS found FROM lethe_sessions WHERE session_key = ?', key);
}

/** Whether a link is here. */
export function isSessionLink(db: ReadableDb, from: string, to: string, linkType: string): boolean {
  return isFound(
    db,
    'SELECT 1 AS found FROM lethe_session_links WHERE from_session_id = ? AND to_session_id = ? AND link_type = ?',
    from,
    to,
    linkType,
  );
}

function isFound(db: ReadableDb, sql: string, ...key: string[]): boolean {
  return db.query<string[], { found: number }>(sql).get(...key) !== undefined;
}
