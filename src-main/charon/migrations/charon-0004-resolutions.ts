import type { Migration } from '../../sqlite/migrate.ts';

/**
 * Cherry-picks, drafted resolutions, what an attempt wrote for them, and what the store still has to be told
 * (`charon.md` §4). A draft of a proposal that no longer waits stands as it is.
 */
export const charon0004Resolutions: Migration = {
  name: 'charon-0004-resolutions',
  sql: `
ALTER TABLE proposals ADD COLUMN selected_ops TEXT CHECK (selected_ops IS NULL OR json_type(selected_ops) = 'array');
ALTER TABLE proposals ADD COLUMN decided_digest TEXT CHECK (decided_digest IS NULL OR length(decided_digest) = 64);
CREATE TRIGGER proposals_selection_is_immutable BEFORE UPDATE ON proposals
WHEN OLD.selected_ops IS NOT NEW.selected_ops
BEGIN SELECT RAISE(ABORT, 'what is proposed is immutable'); END;

CREATE TABLE resolution_drafts (
  proposal_id TEXT NOT NULL REFERENCES proposals (proposal_id),
  conflict_key TEXT NOT NULL CHECK (length(conflict_key) = 64),
  choice TEXT NOT NULL CHECK (choice IN ('ours', 'theirs', 'both', 'edit')),
  note TEXT,
  content TEXT CHECK ((content IS NOT NULL) = (choice = 'edit')),
  scope TEXT,
  drafted_by TEXT NOT NULL REFERENCES principals (principal_id),
  drafted_at TEXT NOT NULL,
  PRIMARY KEY (proposal_id, conflict_key)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER resolution_drafts_begin_pending BEFORE INSERT ON resolution_drafts
WHEN (SELECT status FROM proposals WHERE proposal_id = NEW.proposal_id) IS NOT 'pending'
BEGIN SELECT RAISE(ABORT, 'a resolution is drafted while its proposal is pending'); END;
CREATE TRIGGER resolution_drafts_change_pending BEFORE UPDATE ON resolution_drafts
WHEN (SELECT status FROM proposals WHERE proposal_id = OLD.proposal_id) IS NOT 'pending'
  OR OLD.proposal_id <> NEW.proposal_id OR OLD.conflict_key <> NEW.conflict_key
BEGIN SELECT RAISE(ABORT, 'a resolution is drafted while its proposal is pending'); END;
CREATE TRIGGER resolution_drafts_end_pending BEFORE DELETE ON resolution_drafts
WHEN (SELECT status FROM proposals WHERE proposal_id = OLD.proposal_id) IS NOT 'pending'
BEGIN SELECT RAISE(ABORT, 'a resolution is dropped while its proposal is pending'); END;

CREATE TABLE attempt_resolutions (
  nonce TEXT NOT NULL REFERENCES merge_attempts (nonce),
  ordinal INTEGER NOT NULL CHECK (ordinal >= 0),
  conflict_id TEXT NOT NULL CHECK (length(conflict_id) = 64),
  conflict_key TEXT NOT NULL CHECK (length(conflict_key) = 64),
  choice TEXT NOT NULL CHECK (choice IN ('ours', 'theirs', 'both', 'edit')),
  note TEXT,
  content TEXT,
  scope TEXT,
  drafted_at TEXT NOT NULL,
  ops TEXT NOT NULL CHECK (json_type(ops) = 'array'),
  PRIMARY KEY (nonce, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX attempt_resolutions_of_key ON attempt_resolutions (conflict_key);
CREATE TRIGGER attempt_resolutions_are_immutable BEFORE UPDATE ON attempt_resolutions BEGIN SELECT RAISE(ABORT, 'what a merge attempt writes is immutable'); END;
CREATE TRIGGER attempt_resolutions_stay BEFORE DELETE ON attempt_resolutions BEGIN SELECT RAISE(ABORT, 'what a merge attempt writes stays'); END;

CREATE TABLE store_chores (
  seq INTEGER PRIMARY KEY,
  proposal_id TEXT NOT NULL REFERENCES proposals (proposal_id),
  chore TEXT NOT NULL CHECK (chore IN ('keep', 'reject', 'cancel')),
  target_head TEXT NOT NULL,
  since TEXT NOT NULL
) STRICT;
CREATE INDEX store_chores_of_proposal ON store_chores (proposal_id, seq);
`,
};
