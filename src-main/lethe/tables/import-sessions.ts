import type { WritableDb } from '../../sqlite/driver.ts';
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

/** Whether a checkpoint of that id is here. */
export function isCheckpoint(db: WritableDb, checkpointId: string): boolean {
  return (
    db
      .query<[string], { found: number }>('SELECT 1 AS found FROM lethe_checkpoints WHERE checkpoint_id = ?')
      .get(checkpointId) !== undefined
  );
}

/** Whether a session bears that key. */
export function isSessionKey(db: WritableDb, key: string): boolean {
  return (
    db.query<[string], { found: number }>('SELECT 1 AS found FROM lethe_sessions WHERE session_key = ?').get(key) !==
    undefined
  );
}

/** Whether a link is here. */
export function isSessionLink(db: WritableDb, from: string, to: string, linkType: string): boolean {
  return (
    db
      .query<[string, string, string], { found: number }>(
        'SELECT 1 AS found FROM lethe_session_links WHERE from_session_id = ? AND to_session_id = ? AND link_type = ?',
      )
      .get(from, to, linkType) !== undefined
  );
}
