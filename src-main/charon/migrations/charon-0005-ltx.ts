import type { Migration } from '../../sqlite/migrate.ts';

/**
 * Who may come in to the memory ledger (`ledger.md` §1, §5). Of keys, sessions and poll tokens only a MAC is kept; a key, a
 * passport and a registration stay on record; sessions and challenges go when their time is over.
 */
export const charon0005Ltx: Migration = {
  name: 'charon-0005-ltx',
  sql: `
CREATE TABLE ltx_keys (
  seq INTEGER PRIMARY KEY,
  key_id TEXT NOT NULL UNIQUE CHECK (length(key_id) = 16),
  principal_id TEXT NOT NULL REFERENCES principals (principal_id),
  kind TEXT NOT NULL CHECK (kind IN ('root', 'full', 'memory', 'read')),
  token_mac TEXT NOT NULL CHECK (length(token_mac) = 64),
  created_at TEXT NOT NULL,
  revoked_at TEXT,
  last_used_at TEXT,
  last_client TEXT,
  last_tool TEXT
) STRICT;
CREATE INDEX ltx_keys_of_principal ON ltx_keys (principal_id, seq);
CREATE TRIGGER ltx_keys_identity_is_immutable BEFORE UPDATE ON ltx_keys
WHEN OLD.seq <> NEW.seq OR OLD.key_id <> NEW.key_id OR OLD.principal_id <> NEW.principal_id OR OLD.kind <> NEW.kind
  OR OLD.token_mac <> NEW.token_mac OR OLD.created_at <> NEW.created_at
  OR (OLD.revoked_at IS NOT NULL AND OLD.revoked_at IS NOT NEW.revoked_at)
BEGIN SELECT RAISE(ABORT, 'a key keeps its secret, its kind and its revocation'); END;
CREATE TRIGGER ltx_keys_stay BEFORE DELETE ON ltx_keys BEGIN SELECT RAISE(ABORT, 'a key stays on record'); END;

CREATE TABLE ltx_sessions (
  session_id TEXT PRIMARY KEY CHECK (length(session_id) = 16),
  principal_id TEXT NOT NULL REFERENCES principals (principal_id),
  token_mac TEXT NOT NULL CHECK (length(token_mac) = 64),
  expires_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX ltx_sessions_by_end ON ltx_sessions (expires_ms);
CREATE TRIGGER ltx_sessions_are_immutable BEFORE UPDATE ON ltx_sessions BEGIN SELECT RAISE(ABORT, 'a session is immutable'); END;

CREATE TABLE passports (
  principal_id TEXT PRIMARY KEY REFERENCES principals (principal_id),
  public_key TEXT NOT NULL CHECK (length(public_key) = 44),
  registered_at TEXT NOT NULL,
  revoked_at TEXT
) STRICT;
CREATE TRIGGER passports_identity_is_immutable BEFORE UPDATE ON passports
WHEN OLD.principal_id <> NEW.principal_id OR OLD.public_key <> NEW.public_key OR OLD.registered_at <> NEW.registered_at
  OR OLD.revoked_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a passport keeps its key and its revocation'); END;
CREATE TRIGGER passports_stay BEFORE DELETE ON passports BEGIN SELECT RAISE(ABORT, 'a passport stays on record'); END;

CREATE TABLE passport_challenges (
  challenge_id TEXT PRIMARY KEY CHECK (length(challenge_id) = 36),
  principal_id TEXT NOT NULL REFERENCES principals (principal_id),
  nonce TEXT NOT NULL CHECK (length(nonce) = 36),
  issued_ms INTEGER NOT NULL,
  expires_ms INTEGER NOT NULL CHECK (expires_ms > issued_ms),
  burnt INTEGER NOT NULL DEFAULT 0 CHECK (burnt IN (0, 1))
) STRICT;
CREATE INDEX passport_challenges_by_end ON passport_challenges (expires_ms);
CREATE TRIGGER passport_challenges_burn_once BEFORE UPDATE ON passport_challenges
WHEN OLD.burnt = 1 OR NEW.burnt = 0 OR OLD.challenge_id <> NEW.challenge_id OR OLD.principal_id <> NEW.principal_id
  OR OLD.nonce <> NEW.nonce OR OLD.issued_ms <> NEW.issued_ms OR OLD.expires_ms <> NEW.expires_ms
BEGIN SELECT RAISE(ABORT, 'a challenge is burnt once'); END;

CREATE TABLE registrations (
  seq INTEGER PRIMARY KEY,
  registration_id TEXT NOT NULL UNIQUE CHECK (length(registration_id) = 36),
  agent_name TEXT NOT NULL CHECK (length(agent_name) BETWEEN 1 AND 100),
  owner_identifier TEXT NOT NULL CHECK (length(owner_identifier) BETWEEN 1 AND 255),
  public_key TEXT CHECK (length(public_key) = 44),
  poll_mac TEXT NOT NULL CHECK (length(poll_mac) = 64),
  created_at TEXT NOT NULL,
  expires_ms INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'claimed', 'refused')),
  decided_at TEXT,
  principal_id TEXT UNIQUE REFERENCES principals (principal_id),
  CHECK ((status = 'pending') = (decided_at IS NULL)),
  CHECK ((status IN ('approved', 'claimed')) = (principal_id IS NOT NULL))
) STRICT;
CREATE INDEX registrations_of_agent ON registrations (agent_name, owner_identifier, seq);
CREATE INDEX registrations_pending ON registrations (expires_ms) WHERE status = 'pending';
CREATE TRIGGER registrations_go_forward BEFORE UPDATE ON registrations
WHEN OLD.seq <> NEW.seq OR OLD.registration_id <> NEW.registration_id OR OLD.agent_name <> NEW.agent_name
  OR OLD.owner_identifier <> NEW.owner_identifier OR OLD.public_key IS NOT NEW.public_key OR OLD.poll_mac <> NEW.poll_mac
  OR OLD.created_at <> NEW.created_at OR OLD.expires_ms <> NEW.expires_ms
  OR NOT ((OLD.status = 'pending' AND NEW.status IN ('approved', 'refused'))
    OR (OLD.status = 'approved' AND NEW.status = 'claimed' AND OLD.principal_id = NEW.principal_id AND OLD.decided_at = NEW.decided_at))
BEGIN SELECT RAISE(ABORT, 'a registration is decided once'); END;
CREATE TRIGGER registrations_stay BEFORE DELETE ON registrations BEGIN SELECT RAISE(ABORT, 'a registration stays on record'); END;
`,
};
