import type { Migration } from '../../sqlite/migrate.ts';

/**
 * The audit ledger (`charon.md` §6): one append-only chain. Beside it what can be derived from it and makes a start
 * cheap: the intents that have no outcome yet, and how far the anchor file has been written.
 */
export const charon0002Audit: Migration = {
  name: 'charon-0002-audit',
  sql: `
CREATE TABLE audit_entries (
  seq INTEGER PRIMARY KEY CHECK (seq >= 1),
  at TEXT NOT NULL,
  prev_hash TEXT NOT NULL CHECK (length(prev_hash) = 64),
  entry_hash TEXT NOT NULL CHECK (length(entry_hash) = 64),
  mac TEXT NOT NULL CHECK (length(mac) = 64),
  mac_key_id TEXT NOT NULL,
  principal TEXT NOT NULL,
  credential_kind TEXT NOT NULL CHECK (credential_kind IN ('obol', 'owner', 'none', 'system')),
  credential_id TEXT NOT NULL,
  door TEXT NOT NULL CHECK (door IN ('agent', 'window', 'owner_page', 'owner_socket', 'files', 'system')),
  command TEXT NOT NULL,
  project TEXT NOT NULL,
  object_ids TEXT NOT NULL CHECK (json_type(object_ids) = 'array'),
  request_digest TEXT NOT NULL,
  phase TEXT NOT NULL CHECK (phase IN ('intent', 'outcome')),
  outcome TEXT NOT NULL,
  correlation_id TEXT NOT NULL
) STRICT;
CREATE TRIGGER audit_entries_follow BEFORE INSERT ON audit_entries
WHEN NEW.seq <> COALESCE((SELECT MAX(seq) FROM audit_entries), 0) + 1
  OR NEW.prev_hash <> COALESCE((SELECT entry_hash FROM audit_entries WHERE seq = NEW.seq - 1), '0000000000000000000000000000000000000000000000000000000000000000')
BEGIN SELECT RAISE(ABORT, 'an audit entry follows the one before'); END;
CREATE TRIGGER audit_entries_are_immutable BEFORE UPDATE ON audit_entries BEGIN SELECT RAISE(ABORT, 'an audit entry is immutable'); END;
CREATE TRIGGER audit_entries_stay BEFORE DELETE ON audit_entries BEGIN SELECT RAISE(ABORT, 'an audit entry stays'); END;

CREATE TABLE audit_open_intents (
  seq INTEGER PRIMARY KEY REFERENCES audit_entries (seq),
  correlation_id TEXT NOT NULL,
  idempotency_key TEXT,
  ambiguous INTEGER NOT NULL DEFAULT 0 CHECK (ambiguous IN (0, 1))
) STRICT;
CREATE INDEX audit_open_intents_by_correlation ON audit_open_intents (correlation_id);

CREATE TABLE audit_anchor_state (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  bytes INTEGER NOT NULL CHECK (bytes >= 0),
  last_seq INTEGER NOT NULL CHECK (last_seq >= 0)
) STRICT;
INSERT INTO audit_anchor_state (one, bytes, last_seq) VALUES (1, 0, 0);
CREATE TRIGGER audit_anchor_state_only_grows BEFORE UPDATE ON audit_anchor_state
WHEN NEW.bytes < OLD.bytes OR NEW.last_seq < OLD.last_seq
BEGIN SELECT RAISE(ABORT, 'the anchor only grows'); END;
CREATE TRIGGER audit_anchor_state_stays BEFORE DELETE ON audit_anchor_state BEGIN SELECT RAISE(ABORT, 'the anchor stays'); END;
`,
};
