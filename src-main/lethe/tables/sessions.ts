import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

export const sessionStatuses = ['active', 'interrupted', 'completed'] as const;
export type SessionStatus = (typeof sessionStatuses)[number];

/** A run of one agent at one project (`lethe.md` §1.4). `session` ascends as sessions are started. */
export interface SessionRow {
  readonly session: number;
  readonly session_id: string;
  /** The agent's own name for it, unique in the store. */
  readonly session_key: string | null;
  readonly agent_id: string;
  readonly project_id: string;
  readonly status: SessionStatus;
  readonly summary: string;
  readonly token_budget: number | null;
  readonly total_tokens_consumed: number;
  readonly started_at: string;
  readonly started_order: string;
  readonly heartbeat_at: string;
  /** Null while it is active. */
  readonly ended_at: string | null;
}

/** That one session went on from another; kept as an older store had it. */
export interface SessionLinkRow {
  readonly from_session_id: string;
  readonly to_session_id: string;
  readonly link_type: string;
  readonly created_at: string;
}

const columns = `session, session_id, session_key, agent_id, project_id, status, summary, token_budget,
  total_tokens_consumed, started_at, started_order, heartbeat_at, ended_at`;

const linkColumns = 'from_session_id, to_session_id, link_type, created_at';

export const sessionQueries = {
  newest: `SELECT ${columns} FROM lethe_sessions ORDER BY started_order DESC, session DESC LIMIT +?`,
  active: `SELECT ${columns} FROM lethe_sessions INDEXED BY lethe_sessions_active WHERE status = 'active' ORDER BY session LIMIT +?`,
  linksFrom: `SELECT ${linkColumns} FROM lethe_session_links WHERE from_session_id = +? LIMIT +?`,
  linksTo: `SELECT ${linkColumns} FROM lethe_session_links INDEXED BY lethe_session_links_to WHERE to_session_id = +? LIMIT +?`,
} as const;

/** A session by its key, else by its id. */
export function findSession(db: ReadableDb, keyOrId: string): SessionRow | undefined {
  return (
    db.query<[string], SessionRow>(`SELECT ${columns} FROM lethe_sessions WHERE session_key = ?`).get(keyOrId) ??
    findSessionById(db, keyOrId)
  );
}

/** A session by its id alone. */
export function findSessionById(db: ReadableDb, sessionId: string): SessionRow | undefined {
  return db.query<[string], SessionRow>(`SELECT ${columns} FROM lethe_sessions WHERE session_id = ?`).get(sessionId);
}

/** Sessions of all projects, the newest start first. */
export function listSessions(db: ReadableDb, limit: number): readonly SessionRow[] {
  return db.query<[number], SessionRow>(sessionQueries.newest).all(limit);
}

/** Sessions that are active, the first started first. */
export function listActiveSessions(db: ReadableDb, limit: number): readonly SessionRow[] {
  return db.query<[number], SessionRow>(sessionQueries.active).all(limit);
}

/** The links that start at a session, then those that end there, each at most `limit`. */
export function listSessionLinks(db: ReadableDb, sessionId: string, limit: number): readonly SessionLinkRow[] {
  return [sessionQueries.linksFrom, sessionQueries.linksTo].flatMap((sql) =>
    db.query<[string, number], SessionLinkRow>(sql).all(sessionId, limit),
  );
}

/** Writes a session; answers its number. */
export function insertSession(db: WritableDb, row: Omit<SessionRow, 'session'>): number {
  return db
    .command<(string | number | null)[]>(
      `INSERT INTO lethe_sessions (${columns}) VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      row.session_id,
      row.session_key,
      row.agent_id,
      row.project_id,
      row.status,
      row.summary,
      row.token_budget,
      row.total_tokens_consumed,
      row.started_at,
      row.started_order,
      row.heartbeat_at,
      row.ended_at,
    ).lastInsertRowid;
}

/** What of a session changes; who it is of and when it began never does. */
export type SessionState = Pick<
  SessionRow,
  'session' | 'status' | 'summary' | 'total_tokens_consumed' | 'heartbeat_at' | 'ended_at'
>;

/** Writes the state of a session as it is now. */
export function updateSession(db: WritableDb, state: SessionState): void {
  db.command<(string | number | null)[]>(
    `UPDATE lethe_sessions SET status = ?, summary = ?, total_tokens_consumed = ?, heartbeat_at = ?, ended_at = ?
     WHERE session = ?`,
  ).run(state.status, state.summary, state.total_tokens_consumed, state.heartbeat_at, state.ended_at, state.session);
}

/** Writes a link of an older store. */
export function insertSessionLink(db: WritableDb, row: SessionLinkRow): void {
  db.command<[string, string, string, string]>(
    'INSERT INTO lethe_session_links (from_session_id, to_session_id, link_type, created_at) VALUES (?, ?, ?, ?)',
  ).run(row.from_session_id, row.to_session_id, row.link_type, row.created_at);
}

/** An agent or a project as sessions know it. */
export interface NamedRow {
  readonly id: string;
  readonly name: string;
  readonly created_at: string;
  readonly updated_at: string;
}

/** Keeps an agent under its newest name; an empty name leaves the one it has. */
export function upsertAgent(db: WritableDb, row: NamedRow): void {
  db.command<[string, string, string, string]>(
    `INSERT INTO lethe_agents (agent_id, name, created_at, updated_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (agent_id) DO UPDATE SET name = excluded.name, updated_at = excluded.updated_at
     WHERE excluded.name <> '' AND excluded.name <> name`,
  ).run(row.id, row.name, row.created_at, row.updated_at);
}

/** Keeps a project under its newest name; an empty name leaves the one it has. */
export function upsertSessionProject(db: WritableDb, row: NamedRow): void {
  db.command<[string, string, string, string]>(
    `INSERT INTO lethe_projects (project_id, name, created_at, updated_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (project_id) DO UPDATE SET name = excluded.name, updated_at = excluded.updated_at
     WHERE excluded.name <> '' AND excluded.name <> name`,
  ).run(row.id, row.name, row.created_at, row.updated_at);
}

/** What the session API holds in all. Numbers of rows that are never deleted are those of the last one. */
export interface SessionCounts {
  readonly sessions: number;
  readonly events: number;
  readonly checkpoints: number;
  readonly flags: number;
  readonly threads: number;
}

/** Counts everything; flags and checkpoints are counted, the rest is read off. */
export function countSessionRows(db: ReadableDb): SessionCounts {
  const counts = db
    .query<[], SessionCounts>(
      `SELECT (SELECT coalesce(max(session), 0) FROM lethe_sessions) AS sessions,
        (SELECT coalesce(max(event), 0) FROM lethe_events) AS events,
        (SELECT count(*) FROM lethe_checkpoints) AS checkpoints,
        (SELECT count(*) FROM lethe_events INDEXED BY lethe_events_flags WHERE event_type = 'flag') AS flags,
        (SELECT coalesce(max(thread), 0) FROM lethe_threads) AS threads`,
    )
    .get();
  return counts ?? { sessions: 0, events: 0, checkpoints: 0, flags: 0, threads: 0 };
}
