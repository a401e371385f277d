import type { Migration } from '../../sqlite/migrate.ts';

/**
 * Proposals, their verdicts and merge attempts, what was served to whom, and remembered answers (`charon.md` §3, §4).
 * Terminal states are final and verdicts immutable by trigger.
 */
export const charon0003Proposals: Migration = {
  name: 'charon-0003-proposals',
  sql: `
CREATE TABLE proposals (
  seq INTEGER PRIMARY KEY,
  proposal_id TEXT NOT NULL UNIQUE CHECK (length(proposal_id) = 36),
  kind TEXT NOT NULL CHECK (kind IN ('merge_request', 'changeset', 'memory')),
  project_id TEXT NOT NULL,
  originator TEXT NOT NULL REFERENCES principals (principal_id),
  target_ref TEXT NOT NULL,
  base_changeset_id TEXT NOT NULL,
  head_changeset_id TEXT NOT NULL,
  message TEXT NOT NULL,
  created_at TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  expires_ms INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'merging', 'completed', 'rejected', 'canceled', 'expired')),
  target_head TEXT NOT NULL,
  decided_at TEXT,
  decided_by TEXT REFERENCES principals (principal_id),
  resulting_changeset_id TEXT,
  strategy TEXT CHECK (strategy IN ('fast_forward', 'merge_commit', 'cherry_pick')),
  self_merge INTEGER NOT NULL DEFAULT 0 CHECK (self_merge IN (0, 1)),
  CHECK ((status IN ('pending', 'merging')) = (decided_at IS NULL)),
  CHECK ((status = 'completed') = (resulting_changeset_id IS NOT NULL)),
  CHECK ((resulting_changeset_id IS NULL) = (strategy IS NULL))
) STRICT;
CREATE INDEX proposals_of_project ON proposals (project_id, seq);
CREATE INDEX proposals_of_project_by_status ON proposals (project_id, status, seq);
CREATE INDEX proposals_open_of_originator ON proposals (originator) WHERE status IN ('pending', 'merging');
CREATE INDEX proposals_pending_by_expiry ON proposals (expires_ms) WHERE status = 'pending';
CREATE INDEX proposals_merging ON proposals (seq) WHERE status = 'merging';
CREATE TRIGGER proposals_request_is_immutable BEFORE UPDATE ON proposals
WHEN OLD.seq <> NEW.seq OR OLD.proposal_id <> NEW.proposal_id OR OLD.kind <> NEW.kind OR OLD.project_id <> NEW.project_id
  OR OLD.originator <> NEW.originator OR OLD.target_ref <> NEW.target_ref OR OLD.base_changeset_id <> NEW.base_changeset_id
  OR OLD.head_changeset_id <> NEW.head_changeset_id OR OLD.message <> NEW.message OR OLD.created_at <> NEW.created_at
  OR OLD.expires_at <> NEW.expires_at OR OLD.expires_ms <> NEW.expires_ms
BEGIN SELECT RAISE(ABORT, 'what is proposed is immutable'); END;
CREATE TRIGGER proposals_terminal_is_final BEFORE UPDATE ON proposals
WHEN OLD.status IN ('completed', 'rejected', 'canceled', 'expired')
BEGIN SELECT RAISE(ABORT, 'a decided proposal is final'); END;
CREATE TRIGGER proposals_stay BEFORE DELETE ON proposals BEGIN SELECT RAISE(ABORT, 'a proposal stays'); END;

CREATE TABLE verdicts (
  seq INTEGER PRIMARY KEY,
  finding_id TEXT NOT NULL UNIQUE CHECK (length(finding_id) = 36),
  proposal_id TEXT NOT NULL REFERENCES proposals (proposal_id),
  reviewer TEXT NOT NULL REFERENCES principals (principal_id),
  verdict TEXT NOT NULL CHECK (verdict IN ('approve', 'request_changes', 'reject')),
  comment TEXT NOT NULL,
  severity TEXT NOT NULL CHECK (severity IN ('info', 'warning', 'blocking')),
  proposal_digest TEXT NOT NULL CHECK (length(proposal_digest) = 64),
  target_head TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX verdicts_of_proposal ON verdicts (proposal_id, seq);
CREATE TRIGGER verdicts_are_immutable BEFORE UPDATE ON verdicts BEGIN SELECT RAISE(ABORT, 'a verdict is immutable'); END;
CREATE TRIGGER verdicts_stay BEFORE DELETE ON verdicts BEGIN SELECT RAISE(ABORT, 'a verdict stays'); END;

CREATE TABLE served_snapshots (
  principal_id TEXT NOT NULL REFERENCES principals (principal_id),
  proposal_id TEXT NOT NULL REFERENCES proposals (proposal_id),
  proposal_digest TEXT NOT NULL CHECK (length(proposal_digest) = 64),
  target_head TEXT NOT NULL,
  served_at TEXT NOT NULL,
  PRIMARY KEY (principal_id, proposal_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE merge_attempts (
  seq INTEGER PRIMARY KEY,
  nonce TEXT NOT NULL UNIQUE CHECK (length(nonce) = 32),
  proposal_id TEXT NOT NULL REFERENCES proposals (proposal_id),
  merger TEXT NOT NULL REFERENCES principals (principal_id),
  reviewer TEXT NOT NULL REFERENCES principals (principal_id),
  strategy TEXT NOT NULL CHECK (strategy IN ('fast_forward', 'merge_commit', 'cherry_pick')),
  expected_head TEXT NOT NULL,
  proposal_digest TEXT NOT NULL CHECK (length(proposal_digest) = 64),
  self_merge INTEGER NOT NULL CHECK (self_merge IN (0, 1)),
  replay_command TEXT NOT NULL,
  replay_key TEXT NOT NULL,
  request_digest TEXT NOT NULL,
  started_at TEXT NOT NULL
) STRICT;
CREATE INDEX merge_attempts_of_proposal ON merge_attempts (proposal_id, seq);
CREATE TRIGGER merge_attempts_are_immutable BEFORE UPDATE ON merge_attempts BEGIN SELECT RAISE(ABORT, 'a merge attempt is immutable'); END;
CREATE TRIGGER merge_attempts_stay BEFORE DELETE ON merge_attempts BEGIN SELECT RAISE(ABORT, 'a merge attempt stays'); END;

CREATE TABLE replays (
  principal_id TEXT NOT NULL REFERENCES principals (principal_id),
  command TEXT NOT NULL,
  project_id TEXT NOT NULL,
  key TEXT NOT NULL,
  request_digest TEXT NOT NULL,
  answer_ids TEXT NOT NULL CHECK (json_type(answer_ids) = 'array'),
  created_at TEXT NOT NULL,
  PRIMARY KEY (principal_id, command, project_id, key)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER replays_are_immutable BEFORE UPDATE ON replays BEGIN SELECT RAISE(ABORT, 'a remembered answer is immutable'); END;
CREATE TRIGGER replays_stay BEFORE DELETE ON replays BEGIN SELECT RAISE(ABORT, 'a remembered answer stays'); END;
`,
};
