import type { Migration } from '../../sqlite/migrate.ts';

/**
 * The audit ledger names every kind of bearer by its own name (`charon.md` §6). A CHECK can only be changed with its table: the
 * rows are copied as they are, so that hashes, MACs and anchor hold, and the tables that point at them are made anew with what they held. What was
 * recorded before says `obol` of every bearer, and its credential id says which one it was.
 */
export const charon0011CredentialKinds: Migration = {
  name: 'charon-0011-credential-kinds',
  sql: `
CREATE TABLE open_intents_before AS SELECT seq, correlation_id, idempotency_key, ambiguous FROM audit_open_intents;
CREATE TABLE acts_before AS SELECT seq FROM audit_acts;
DROP TABLE audit_open_intents;
DROP TABLE audit_acts;

CREATE TABLE audit_entries_after (
  seq INTEGER PRIMARY KEY CHECK (seq >= 1),
  at TEXT NOT NULL,
  prev_hash TEXT NOT NULL CHECK (length(prev_hash) = 64),
  entry_hash TEXT NOT NULL CHECK (length(entry_hash) = 64),
  mac TEXT NOT NULL CHECK (length(mac) = 64),
  mac_key_id TEXT NOT NULL,
  principal TEXT NOT NULL,
  credential_kind TEXT NOT NULL CHECK (credential_kind IN ('obol', 'oauth', 'ltx', 'owner', 'none', 'system')),
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
INSERT INTO audit_entries_after (seq, at, prev_hash, entry_hash, mac, mac_key_id, principal, credential_kind, credential_id, door, command, project, object_ids, request_digest, phase, outcome, correlation_id)
SELECT seq, at, prev_hash, entry_hash, mac, mac_key_id, principal, credential_kind, credential_id, door, command, project, object_ids, request_digest, phase, outcome, correlation_id
FROM audit_entries ORDER BY seq;
DROP TABLE audit_entries;
ALTER TABLE audit_entries_after RENAME TO audit_entries;
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
INSERT INTO audit_open_intents (seq, correlation_id, idempotency_key, ambiguous) SELECT seq, correlation_id, idempotency_key, ambiguous FROM open_intents_before;
DROP TABLE open_intents_before;

CREATE TABLE audit_acts (
  seq INTEGER PRIMARY KEY REFERENCES audit_entries (seq)
) STRICT;
INSERT INTO audit_acts (seq) SELECT seq FROM acts_before;
DROP TABLE acts_before;
CREATE TRIGGER audit_acts_are_immutable BEFORE UPDATE ON audit_acts BEGIN SELECT RAISE(ABORT, 'an act of power is immutable'); END;
CREATE TRIGGER audit_acts_stay BEFORE DELETE ON audit_acts BEGIN SELECT RAISE(ABORT, 'an act of power stays'); END;
`,
};
