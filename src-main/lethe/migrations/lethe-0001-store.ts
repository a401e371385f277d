import type { Migration } from '../../sqlite/migrate.ts';

/** Tables whose rows are never changed and never deleted; the triggers stand below. */
const immutableTables = [
  'memory_projects',
  'memory_changesets',
  'memory_changeset_parents',
  'memory_changeset_ops',
  'memory_op_payloads',
  'memory_attestations',
  'memory_ref_moves',
  'memory_head_keys',
  'memory_legacy_baselines',
  'memory_merge_authorizations',
  'memory_protected_ref_advances',
  'memory_manifests',
] as const;

const immutable = immutableTables
  .map(
    (table) => `
CREATE TRIGGER ${table}_never_update BEFORE UPDATE ON ${table} BEGIN SELECT RAISE(ABORT, '${table} is immutable'); END;
CREATE TRIGGER ${table}_never_delete BEFORE DELETE ON ${table} BEGIN SELECT RAISE(ABORT, '${table} is immutable'); END;`,
  )
  .join('');

/**
 * The history itself. A changeset's `seq` ascends and is never used again, parents have smaller ones; an op's number is
 * `seq * 65536 + ordinal`. Op payloads, and evidence with verification, live in one table each, keyed by their owner
 * (`lethe.md` §0.7). JSON columns hold the plain encoding of §3.
 */
export const lethe0001Store: Migration = {
  name: 'lethe_0001_store',
  sql: `
CREATE TABLE memory_projects (
  project_id TEXT PRIMARY KEY CHECK (project_id <> ''),
  name TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE memory_changesets (
  seq INTEGER PRIMARY KEY CHECK (seq > 0),
  changeset_id TEXT NOT NULL UNIQUE CHECK (length(changeset_id) = 36),
  schema_version TEXT NOT NULL CHECK (schema_version = 'memory_git/v1'),
  project_id TEXT NOT NULL REFERENCES memory_projects (project_id),
  ref_name TEXT NOT NULL CHECK (ref_name <> ''),
  author_principal TEXT NOT NULL CHECK (author_principal <> ''),
  persona_id TEXT NOT NULL,
  actor_id TEXT NOT NULL,
  surface TEXT NOT NULL,
  model TEXT NOT NULL,
  environment TEXT NOT NULL,
  session_id TEXT NOT NULL,
  topic_id TEXT NOT NULL,
  context_manifest_id TEXT REFERENCES memory_manifests (manifest_id),
  message TEXT NOT NULL,
  created_at TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  idempotency_key TEXT NOT NULL CHECK (idempotency_key <> ''),
  is_root INTEGER NOT NULL CHECK (is_root IN (0, 1)),
  op_count INTEGER NOT NULL CHECK (op_count BETWEEN 0 AND 65535),
  expected_seq INTEGER REFERENCES memory_changesets (seq) CHECK (expected_seq < seq),
  integrity_digest TEXT NOT NULL CHECK (length(integrity_digest) = 64),
  request_digest TEXT NOT NULL CHECK (length(request_digest) IN (0, 64)),
  chain_digest TEXT NOT NULL CHECK (length(chain_digest) = 64),
  UNIQUE (project_id, author_principal, idempotency_key),
  UNIQUE (project_id, seq),
  CHECK (is_root = 0 OR (idempotency_key = 'legacy-root' AND op_count = 0))
) STRICT;
CREATE UNIQUE INDEX memory_changesets_one_root ON memory_changesets (project_id) WHERE is_root = 1;

CREATE TABLE memory_changeset_parents (
  seq INTEGER NOT NULL REFERENCES memory_changesets (seq),
  position INTEGER NOT NULL CHECK (position IN (0, 1)),
  parent_seq INTEGER NOT NULL REFERENCES memory_changesets (seq),
  PRIMARY KEY (seq, position),
  UNIQUE (seq, parent_seq),
  CHECK (parent_seq < seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE memory_changeset_ops (
  op INTEGER PRIMARY KEY CHECK (op > 65535),
  seq INTEGER NOT NULL GENERATED ALWAYS AS (op >> 16) VIRTUAL REFERENCES memory_changesets (seq),
  op_type TEXT NOT NULL CHECK (op_type IN ('add_memory', 'add_relationship', 'correct_memory', 'supersede_memory',
    'mark_duplicate', 'propose_deprecation', 'attach_evidence', 'attach_verification')),
  target_event_id TEXT CHECK (target_event_id <> ''),
  resulting_event_id TEXT CHECK (resulting_event_id <> '')
) STRICT;

CREATE TABLE memory_op_payloads (
  op INTEGER PRIMARY KEY REFERENCES memory_changeset_ops (op),
  body TEXT NOT NULL CHECK (body <> '')
) STRICT;

CREATE TABLE memory_attestations (
  seq INTEGER NOT NULL REFERENCES memory_changesets (seq),
  list TEXT NOT NULL CHECK (list IN ('evidence', 'verification')),
  position INTEGER NOT NULL CHECK (position >= 0),
  body TEXT NOT NULL CHECK (body <> ''),
  PRIMARY KEY (seq, list, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE memory_refs (
  project_id TEXT NOT NULL REFERENCES memory_projects (project_id),
  ref_name TEXT NOT NULL CHECK (ref_name <> ''),
  head_seq INTEGER NOT NULL,
  protected INTEGER NOT NULL CHECK (protected IN (0, 1)),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  created_by_principal TEXT NOT NULL,
  PRIMARY KEY (project_id, ref_name),
  FOREIGN KEY (project_id, head_seq) REFERENCES memory_changesets (project_id, seq),
  CHECK (protected = 1 OR substr(ref_name, 1, 12) <> 'refs/shared/')
) STRICT, WITHOUT ROWID;
CREATE TRIGGER memory_refs_never_delete BEFORE DELETE ON memory_refs
  BEGIN SELECT RAISE(ABORT, 'memory_refs are never deleted'); END;
CREATE TRIGGER memory_refs_move_forward BEFORE UPDATE ON memory_refs
  WHEN NEW.project_id IS NOT OLD.project_id OR NEW.ref_name IS NOT OLD.ref_name OR NEW.protected IS NOT OLD.protected
    OR NEW.created_at IS NOT OLD.created_at OR NEW.created_by_principal IS NOT OLD.created_by_principal
    OR NEW.head_seq <= OLD.head_seq
  BEGIN SELECT RAISE(ABORT, 'a ref changes only its head, and only to a later changeset'); END;

CREATE TABLE memory_ref_moves (
  seq INTEGER PRIMARY KEY CHECK (seq > 0),
  project_id TEXT NOT NULL,
  ref_name TEXT NOT NULL,
  from_head TEXT NOT NULL,
  to_head TEXT NOT NULL REFERENCES memory_changesets (changeset_id),
  moved_at TEXT NOT NULL,
  moved_ms INTEGER NOT NULL,
  epoch INTEGER NOT NULL CHECK (epoch >= 0),
  principal TEXT NOT NULL,
  cause TEXT NOT NULL CHECK (cause <> ''),
  chain_digest TEXT NOT NULL CHECK (length(chain_digest) = 64),
  signature TEXT NOT NULL CHECK (length(signature) = 86),
  FOREIGN KEY (project_id, ref_name) REFERENCES memory_refs (project_id, ref_name)
) STRICT;
CREATE INDEX memory_ref_moves_by_time ON memory_ref_moves (project_id, ref_name, epoch, moved_ms, seq);

CREATE TABLE memory_head_keys (
  first_seq INTEGER PRIMARY KEY CHECK (first_seq > 0),
  public_key TEXT NOT NULL CHECK (length(public_key) = 43)
) STRICT;

CREATE TABLE memory_legacy_baselines (
  project_id TEXT PRIMARY KEY REFERENCES memory_projects (project_id),
  root_seq INTEGER NOT NULL UNIQUE REFERENCES memory_changesets (seq),
  event_ids TEXT NOT NULL,
  captured_through TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE memory_merge_authorizations (
  nonce TEXT PRIMARY KEY CHECK (length(nonce) = 32),
  version TEXT NOT NULL,
  key_id TEXT NOT NULL,
  project_id TEXT NOT NULL,
  ref_name TEXT NOT NULL,
  expected_head TEXT NOT NULL,
  new_head TEXT NOT NULL,
  merge_proposal_id TEXT NOT NULL,
  proposal_digest TEXT NOT NULL,
  reviewer_principal TEXT NOT NULL,
  merger_principal TEXT NOT NULL,
  strategy TEXT NOT NULL,
  issued_at TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  signature TEXT NOT NULL CHECK (length(signature) = 64),
  used_at TEXT NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('consumed', 'refused')),
  refusal TEXT NOT NULL CHECK ((refusal = '') = (outcome = 'consumed')),
  row_digest TEXT NOT NULL CHECK (length(row_digest) = 64)
) STRICT, WITHOUT ROWID;

CREATE TABLE memory_protected_ref_advances (
  move_seq INTEGER PRIMARY KEY REFERENCES memory_ref_moves (seq),
  advance_id TEXT NOT NULL UNIQUE CHECK (length(advance_id) = 36),
  project_id TEXT NOT NULL,
  ref_name TEXT NOT NULL,
  expected_head TEXT NOT NULL REFERENCES memory_changesets (changeset_id),
  new_head TEXT NOT NULL REFERENCES memory_changesets (changeset_id),
  merge_proposal_id TEXT NOT NULL,
  proposal_digest TEXT NOT NULL CHECK (length(proposal_digest) = 64),
  reviewer_principal TEXT NOT NULL CHECK (reviewer_principal <> ''),
  merger_principal TEXT NOT NULL CHECK (merger_principal <> ''),
  strategy TEXT NOT NULL CHECK (strategy IN ('fast_forward', 'merge_commit', 'cherry_pick')),
  authorization_nonce TEXT NOT NULL UNIQUE REFERENCES memory_merge_authorizations (nonce),
  created_at TEXT NOT NULL,
  FOREIGN KEY (project_id, ref_name) REFERENCES memory_refs (project_id, ref_name)
) STRICT;
CREATE INDEX memory_protected_ref_advances_by_project ON memory_protected_ref_advances (project_id, move_seq);
CREATE INDEX memory_protected_ref_advances_by_proposal ON memory_protected_ref_advances (project_id, merge_proposal_id, move_seq);

CREATE TABLE memory_manifests (
  manifest_id TEXT PRIMARY KEY CHECK (length(manifest_id) = 36),
  direction TEXT NOT NULL CHECK (direction IN ('input', 'output')),
  project_id TEXT NOT NULL,
  ref_name TEXT NOT NULL,
  head_seq INTEGER NOT NULL,
  selected_memory_ids TEXT NOT NULL,
  inclusion_reasons TEXT NOT NULL,
  query TEXT NOT NULL,
  page_limit INTEGER NOT NULL CHECK (page_limit > 0),
  kinds TEXT NOT NULL,
  tags TEXT NOT NULL,
  cursor TEXT NOT NULL,
  total_active INTEGER NOT NULL CHECK (total_active >= 0),
  context_digest TEXT NOT NULL CHECK (length(context_digest) = 64),
  session_id TEXT NOT NULL,
  actor_id TEXT NOT NULL,
  created_at TEXT NOT NULL,
  row_digest TEXT NOT NULL CHECK (length(row_digest) = 64),
  FOREIGN KEY (project_id, head_seq) REFERENCES memory_changesets (project_id, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_manifests_by_reply ON memory_manifests (project_id, actor_id, context_digest);
${immutable}
`,
};
