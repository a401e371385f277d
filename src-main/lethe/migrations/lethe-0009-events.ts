import type { Migration } from '../../sqlite/migrate.ts';

/** Tables whose rows are never changed and never deleted; the triggers stand below. */
const immutableTables = [
  'lethe_events',
  'lethe_flag_reviews',
  'lethe_checkpoints',
  'lethe_session_links',
  'lethe_assembly_feedback',
  'memory_baseline_seqs',
] as const;

const immutable = immutableTables
  .map(
    (table) => `
CREATE TRIGGER ${table}_never_update BEFORE UPDATE ON ${table} BEGIN SELECT RAISE(ABORT, '${table} is immutable'); END;`,
  )
  .join('');

/** Feedback goes with its assembly; of the others nothing is ever deleted, nor of those that change. */
const kept = [
  ...immutableTables.filter((table) => table !== 'lethe_assembly_feedback'),
  'lethe_projects',
  'lethe_agents',
  'lethe_sessions',
  'lethe_threads',
]
  .map(
    (table) => `
CREATE TRIGGER ${table}_never_delete BEFORE DELETE ON ${table} BEGIN SELECT RAISE(ABORT, '${table} rows are kept'); END;`,
  )
  .join('');

/**
 * Sessions and what they leave behind (`lethe.md` §1.4): events, checkpoints, threads, links, assemblies. Events never
 * change; what is said of one later (the review of a flag) has rows of its own. Columns that end in `_order` are the moment
 * beside them at a fixed width, to the nanosecond: their text order is the order of time. `tags` is a JSON array, or the text of
 * an older store, split on commas and spaces when read. `recorded_after` is the newest changeset number when the event was
 * written: a memory named later under the id of an event is that event's (`memory_ids.event`); one that is named by no op but by
 * the root of its project is of the baseline. `memory_baseline_seqs` are
 * the numbers that a project's root took beside its own, for the events which its own 65 536 could not hold.
 */
export const lethe0009Events: Migration = {
  name: 'lethe_0009_events',
  sql: `
CREATE TABLE lethe_projects (
  project_id TEXT PRIMARY KEY CHECK (project_id <> ''),
  name TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE lethe_agents (
  agent_id TEXT PRIMARY KEY CHECK (agent_id <> ''),
  name TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE lethe_sessions (
  session INTEGER PRIMARY KEY CHECK (session > 0),
  session_id TEXT NOT NULL UNIQUE CHECK (session_id <> ''),
  session_key TEXT UNIQUE CHECK (session_key <> ''),
  agent_id TEXT NOT NULL REFERENCES lethe_agents (agent_id),
  project_id TEXT NOT NULL REFERENCES lethe_projects (project_id),
  status TEXT NOT NULL CHECK (status IN ('active', 'interrupted', 'completed')),
  summary TEXT NOT NULL,
  token_budget INTEGER CHECK (token_budget >= 0),
  total_tokens_consumed INTEGER NOT NULL CHECK (total_tokens_consumed >= 0),
  started_at TEXT NOT NULL,
  started_order TEXT NOT NULL CHECK (length(started_order) = 30),
  heartbeat_at TEXT NOT NULL,
  ended_at TEXT CHECK ((ended_at IS NULL) = (status = 'active'))
) STRICT;
CREATE INDEX lethe_sessions_by_start ON lethe_sessions (started_order, session);
CREATE INDEX lethe_sessions_active ON lethe_sessions (session) WHERE status = 'active';
CREATE TRIGGER lethe_sessions_keep_identity BEFORE UPDATE ON lethe_sessions
  WHEN NEW.session IS NOT OLD.session OR NEW.session_id IS NOT OLD.session_id OR NEW.session_key IS NOT OLD.session_key
    OR NEW.agent_id IS NOT OLD.agent_id OR NEW.project_id IS NOT OLD.project_id OR NEW.started_at IS NOT OLD.started_at
    OR NEW.started_order IS NOT OLD.started_order
  BEGIN SELECT RAISE(ABORT, 'who a session is of never changes'); END;

CREATE TABLE lethe_checkpoints (
  checkpoint_id TEXT PRIMARY KEY CHECK (checkpoint_id <> ''),
  session_id TEXT NOT NULL REFERENCES lethe_sessions (session_id),
  seq INTEGER NOT NULL CHECK (seq > 0),
  snapshot TEXT NOT NULL CHECK (json_valid(snapshot)),
  created_at TEXT NOT NULL,
  UNIQUE (session_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE lethe_threads (
  thread INTEGER PRIMARY KEY CHECK (thread > 0),
  thread_id TEXT NOT NULL UNIQUE CHECK (thread_id <> ''),
  project_id TEXT NOT NULL CHECK (project_id <> ''),
  session_id TEXT REFERENCES lethe_sessions (session_id),
  title TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('open', 'resolved', 'blocked')),
  created_at TEXT NOT NULL,
  created_order TEXT NOT NULL CHECK (length(created_order) = 30),
  updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX lethe_threads_by_session ON lethe_threads (session_id, created_order, thread);
CREATE INDEX lethe_threads_by_project ON lethe_threads (project_id, created_order, thread);
CREATE INDEX lethe_threads_by_time ON lethe_threads (created_order, thread);
CREATE TRIGGER lethe_threads_keep_identity BEFORE UPDATE ON lethe_threads
  WHEN NEW.thread IS NOT OLD.thread OR NEW.thread_id IS NOT OLD.thread_id OR NEW.project_id IS NOT OLD.project_id
    OR NEW.session_id IS NOT OLD.session_id OR NEW.created_at IS NOT OLD.created_at
    OR NEW.created_order IS NOT OLD.created_order
  BEGIN SELECT RAISE(ABORT, 'where a thread belongs never changes'); END;

CREATE TABLE lethe_events (
  event INTEGER PRIMARY KEY CHECK (event > 0),
  event_id TEXT NOT NULL UNIQUE CHECK (event_id <> ''),
  project_id TEXT NOT NULL CHECK (project_id <> ''),
  session_id TEXT REFERENCES lethe_sessions (session_id),
  event_type TEXT NOT NULL CHECK (event_type IN ('record', 'log', 'flag', 'task', 'summary', 'system')),
  content TEXT NOT NULL,
  confidence REAL CHECK (confidence BETWEEN 0 AND 1),
  tags TEXT NOT NULL,
  parent_event_id TEXT REFERENCES lethe_events (event_id),
  task_title TEXT NOT NULL,
  task_status TEXT NOT NULL CHECK (task_status IN ('', 'todo', 'in_progress', 'done', 'blocked')),
  thread_id TEXT REFERENCES lethe_threads (thread_id),
  created_at TEXT NOT NULL,
  created_order TEXT NOT NULL CHECK (length(created_order) = 30),
  recorded_after INTEGER NOT NULL CHECK (recorded_after >= 0),
  row_digest TEXT NOT NULL CHECK (length(row_digest) = 64)
) STRICT;
CREATE INDEX lethe_events_by_project ON lethe_events (project_id, created_order, event_id);
CREATE INDEX lethe_events_by_session ON lethe_events (session_id, created_order, event) WHERE session_id IS NOT NULL;
CREATE INDEX lethe_events_by_thread ON lethe_events (thread_id, created_order, event) WHERE thread_id IS NOT NULL;
CREATE INDEX lethe_events_by_time ON lethe_events (created_order, event);
CREATE INDEX lethe_events_flags ON lethe_events (created_order, event) WHERE event_type = 'flag';

CREATE TABLE lethe_flag_reviews (
  review INTEGER PRIMARY KEY CHECK (review > 0),
  event_id TEXT NOT NULL REFERENCES lethe_events (event_id),
  reviewer_id TEXT NOT NULL CHECK (reviewer_id <> ''),
  reviewed_at TEXT NOT NULL
) STRICT;
CREATE INDEX lethe_flag_reviews_by_event ON lethe_flag_reviews (event_id, review);

CREATE TABLE lethe_session_links (
  from_session_id TEXT NOT NULL REFERENCES lethe_sessions (session_id),
  to_session_id TEXT NOT NULL REFERENCES lethe_sessions (session_id),
  link_type TEXT NOT NULL CHECK (link_type <> ''),
  created_at TEXT NOT NULL,
  PRIMARY KEY (from_session_id, to_session_id, link_type)
) STRICT, WITHOUT ROWID;
CREATE INDEX lethe_session_links_to ON lethe_session_links (to_session_id);

CREATE TABLE lethe_assemblies (
  assembly INTEGER PRIMARY KEY CHECK (assembly > 0),
  assembly_id TEXT NOT NULL UNIQUE CHECK (assembly_id <> ''),
  session_id TEXT NOT NULL REFERENCES lethe_sessions (session_id),
  query TEXT NOT NULL,
  token_budget INTEGER CHECK (token_budget >= 0),
  estimated_tokens INTEGER CHECK (estimated_tokens >= 0),
  accepted_estimated_tokens INTEGER CHECK (accepted_estimated_tokens >= 0),
  memory_manifest_id TEXT REFERENCES memory_manifests (manifest_id),
  memory_head_changeset_id TEXT REFERENCES memory_changesets (changeset_id),
  created_at TEXT NOT NULL,
  created_order TEXT NOT NULL CHECK (length(created_order) = 30)
) STRICT;
CREATE INDEX lethe_assemblies_by_session ON lethe_assemblies (session_id, assembly);
CREATE INDEX lethe_assemblies_by_time ON lethe_assemblies (created_order, assembly);
CREATE TRIGGER lethe_assemblies_never_update BEFORE UPDATE ON lethe_assemblies
  BEGIN SELECT RAISE(ABORT, 'lethe_assemblies is immutable'); END;

CREATE TABLE lethe_assembly_items (
  assembly INTEGER NOT NULL REFERENCES lethe_assemblies (assembly) ON DELETE CASCADE,
  position INTEGER NOT NULL CHECK (position >= 0),
  body TEXT NOT NULL CHECK (json_valid(body)),
  PRIMARY KEY (assembly, position)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER lethe_assembly_items_never_update BEFORE UPDATE ON lethe_assembly_items
  BEGIN SELECT RAISE(ABORT, 'lethe_assembly_items is immutable'); END;

CREATE TABLE lethe_assembly_feedback (
  feedback INTEGER PRIMARY KEY CHECK (feedback > 0),
  feedback_id TEXT NOT NULL UNIQUE CHECK (length(feedback_id) = 36),
  assembly INTEGER NOT NULL REFERENCES lethe_assemblies (assembly) ON DELETE CASCADE,
  verdict TEXT NOT NULL CHECK (verdict IN ('good', 'stale_included', 'missing_memory', 'too_large', 'irrelevant', 'other')),
  note TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX lethe_assembly_feedback_of ON lethe_assembly_feedback (assembly, feedback);

ALTER TABLE memory_ids ADD COLUMN event INTEGER REFERENCES lethe_events (event);
ALTER TABLE memory_ids ADD COLUMN baseline INTEGER NOT NULL DEFAULT 0
  CHECK (baseline = 0 OR (baseline = 1 AND event IS NOT NULL));
CREATE INDEX memory_ids_of_baselines ON memory_ids (number) WHERE baseline = 1;

CREATE TABLE memory_baseline_seqs (
  seq INTEGER PRIMARY KEY CHECK (seq > 0),
  root_seq INTEGER NOT NULL REFERENCES memory_changesets (seq) CHECK (root_seq > seq)
) STRICT;
${immutable}${kept}
`,
};
