import type { Migration } from '../../sqlite/migrate.ts';

/**
 * Conflicts that were kept (`lethe.md` §2.6, §7 with D2 and D17). What a conflict says never changes; its status does, along its
 * life, and every change of it has an immutable event, as has every proposal that it was bound to. Status and bindings
 * are what the events say, kept beside them so that a read finds open ones by their sides.
 */
export const lethe0007Conflicts: Migration = {
  name: 'lethe_0007_conflicts',
  sql: `
CREATE TABLE memory_conflicts (
  number INTEGER PRIMARY KEY CHECK (number > 0),
  conflict_id TEXT NOT NULL UNIQUE CHECK (length(conflict_id) = 64),
  project_id TEXT NOT NULL REFERENCES memory_projects (project_id),
  base_seq INTEGER NOT NULL,
  left_seq INTEGER NOT NULL,
  right_seq INTEGER NOT NULL,
  conflict_type TEXT NOT NULL CHECK (conflict_type IN ('stale_base', 'duplicate_content', 'contradictory_decision',
    'protected_decision', 'incompatible_fact', 'boundary_violation', 'scope_flow', 'trust_downgrade',
    'identity_collision', 'concurrent_edit', 'delete_modify')),
  severity TEXT NOT NULL CHECK (severity IN ('info', 'warning', 'blocking')),
  summary TEXT NOT NULL,
  details TEXT NOT NULL CHECK (details <> ''),
  conflict_key TEXT NOT NULL CHECK (length(conflict_key) = 64),
  created_at TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  row_digest TEXT NOT NULL CHECK (length(row_digest) = 64),
  status TEXT NOT NULL CHECK (status IN ('open', 'resolved', 'rejected', 'superseded', 'canceled', 'deferred')),
  FOREIGN KEY (project_id, base_seq) REFERENCES memory_changesets (project_id, seq),
  FOREIGN KEY (project_id, left_seq) REFERENCES memory_changesets (project_id, seq),
  FOREIGN KEY (project_id, right_seq) REFERENCES memory_changesets (project_id, seq)
) STRICT;
CREATE INDEX memory_conflicts_by_time ON memory_conflicts (project_id, created_ms DESC, conflict_id);
CREATE INDEX memory_conflicts_by_status ON memory_conflicts (project_id, status, created_ms DESC, conflict_id);
CREATE INDEX memory_conflicts_by_key ON memory_conflicts (project_id, conflict_key, number);
CREATE INDEX memory_conflicts_by_sides ON memory_conflicts (project_id, left_seq, right_seq, conflict_key, status);
CREATE INDEX memory_conflicts_open ON memory_conflicts (project_id, left_seq, right_seq, number) WHERE status = 'open';
CREATE INDEX memory_conflicts_blocking ON memory_conflicts (project_id, left_seq, right_seq, number)
  WHERE status = 'open' AND severity = 'blocking';

CREATE TRIGGER memory_conflicts_never_delete BEFORE DELETE ON memory_conflicts
  BEGIN SELECT RAISE(ABORT, 'memory_conflicts are never deleted'); END;
CREATE TRIGGER memory_conflicts_change_status BEFORE UPDATE ON memory_conflicts
  WHEN NEW.number IS NOT OLD.number OR NEW.conflict_id IS NOT OLD.conflict_id OR NEW.project_id IS NOT OLD.project_id
    OR NEW.base_seq IS NOT OLD.base_seq OR NEW.left_seq IS NOT OLD.left_seq OR NEW.right_seq IS NOT OLD.right_seq
    OR NEW.conflict_type IS NOT OLD.conflict_type OR NEW.severity IS NOT OLD.severity OR NEW.summary IS NOT OLD.summary
    OR NEW.details IS NOT OLD.details OR NEW.conflict_key IS NOT OLD.conflict_key
    OR NEW.created_at IS NOT OLD.created_at OR NEW.created_ms IS NOT OLD.created_ms
    OR NEW.row_digest IS NOT OLD.row_digest OR NEW.status IS OLD.status OR OLD.status = 'resolved'
    OR (OLD.status <> 'open' AND NEW.status <> 'open')
  BEGIN SELECT RAISE(ABORT, 'a conflict changes only its status, and never once it is resolved'); END;

CREATE TABLE memory_conflict_memories (
  conflict INTEGER NOT NULL REFERENCES memory_conflicts (number),
  memory INTEGER NOT NULL,
  PRIMARY KEY (conflict, memory)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER memory_conflict_memories_never_update BEFORE UPDATE ON memory_conflict_memories
  BEGIN SELECT RAISE(ABORT, 'memory_conflict_memories is immutable'); END;
CREATE TRIGGER memory_conflict_memories_never_delete BEFORE DELETE ON memory_conflict_memories
  BEGIN SELECT RAISE(ABORT, 'memory_conflict_memories is immutable'); END;

CREATE TABLE memory_conflict_events (
  event INTEGER PRIMARY KEY CHECK (event > 0),
  conflict INTEGER NOT NULL REFERENCES memory_conflicts (number),
  kind TEXT NOT NULL CHECK (kind IN ('status', 'bound', 'released')),
  status TEXT NOT NULL CHECK (status IN ('', 'open', 'resolved', 'rejected', 'superseded', 'canceled')
    AND (status <> '') = (kind = 'status')),
  proposal_id TEXT NOT NULL CHECK ((proposal_id = '') = (kind = 'status')),
  at TEXT NOT NULL,
  principal TEXT NOT NULL,
  cause TEXT NOT NULL CHECK (cause <> ''),
  note TEXT NOT NULL,
  row_digest TEXT NOT NULL CHECK (length(row_digest) = 64)
) STRICT;
CREATE INDEX memory_conflict_events_by_conflict ON memory_conflict_events (conflict, event);
CREATE INDEX memory_conflict_events_of_status ON memory_conflict_events (conflict, event) WHERE kind = 'status';
CREATE TRIGGER memory_conflict_events_never_update BEFORE UPDATE ON memory_conflict_events
  BEGIN SELECT RAISE(ABORT, 'memory_conflict_events is immutable'); END;
CREATE TRIGGER memory_conflict_events_never_delete BEFORE DELETE ON memory_conflict_events
  BEGIN SELECT RAISE(ABORT, 'memory_conflict_events is immutable'); END;

CREATE TABLE memory_conflict_bindings (
  conflict INTEGER NOT NULL REFERENCES memory_conflicts (number),
  proposal_id TEXT NOT NULL CHECK (proposal_id <> ''),
  project_id TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  conflict_id TEXT NOT NULL,
  waits INTEGER NOT NULL CHECK (waits IN (0, 1)),
  event INTEGER NOT NULL REFERENCES memory_conflict_events (event),
  PRIMARY KEY (conflict, proposal_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_conflict_bindings_newest ON memory_conflict_bindings (conflict, waits, event);
CREATE INDEX memory_conflict_bindings_waiting ON memory_conflict_bindings (project_id, proposal_id, conflict) WHERE waits = 1;
CREATE INDEX memory_conflict_bindings_by_proposal
  ON memory_conflict_bindings (project_id, proposal_id, created_ms DESC, conflict_id);
CREATE TRIGGER memory_conflict_bindings_never_delete BEFORE DELETE ON memory_conflict_bindings
  BEGIN SELECT RAISE(ABORT, 'memory_conflict_bindings are never deleted'); END;
CREATE TRIGGER memory_conflict_bindings_change_wait BEFORE UPDATE ON memory_conflict_bindings
  WHEN NEW.conflict IS NOT OLD.conflict OR NEW.proposal_id IS NOT OLD.proposal_id OR NEW.project_id IS NOT OLD.project_id
    OR NEW.created_ms IS NOT OLD.created_ms OR NEW.conflict_id IS NOT OLD.conflict_id
    OR NEW.waits IS OLD.waits OR NEW.event <= OLD.event
  BEGIN SELECT RAISE(ABORT, 'a binding changes only in whether its proposal waits'); END;
`,
};
