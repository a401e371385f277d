import type { Migration } from '../../sqlite/migrate.ts';

/**
 * Who may come in (`charon.md` §1, §2): the home, principals, grants, tokens and the settings that matter for security.
 * A principal is never deleted, so an actor id is never used twice; of a token only a MAC is kept.
 */
export const charon0001Identity: Migration = {
  name: 'charon-0001-identity',
  sql: `
CREATE TABLE home (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  home_id TEXT NOT NULL CHECK (length(home_id) = 36),
  created_at TEXT NOT NULL
) STRICT;
CREATE TRIGGER home_is_immutable BEFORE UPDATE ON home BEGIN SELECT RAISE(ABORT, 'the home is immutable'); END;
CREATE TRIGGER home_stays BEFORE DELETE ON home BEGIN SELECT RAISE(ABORT, 'the home stays'); END;

CREATE TABLE principals (
  seq INTEGER PRIMARY KEY,
  principal_id TEXT NOT NULL UNIQUE CHECK (length(principal_id) = 26),
  name TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 128),
  actor_id TEXT NOT NULL CHECK (length(actor_id) BETWEEN 1 AND 128),
  actor_key TEXT NOT NULL UNIQUE CHECK (actor_key = lower(actor_id)),
  profile TEXT NOT NULL CHECK (profile IN ('readonly', 'propose', 'review', 'write', 'owner')),
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  created_at TEXT NOT NULL,
  CHECK (profile <> 'owner' OR enabled = 1)
) STRICT;
CREATE UNIQUE INDEX principals_one_owner ON principals (profile) WHERE profile = 'owner';
CREATE TRIGGER principals_identity_is_immutable BEFORE UPDATE ON principals
WHEN OLD.seq <> NEW.seq OR OLD.principal_id <> NEW.principal_id OR OLD.name <> NEW.name OR OLD.actor_id <> NEW.actor_id
  OR OLD.actor_key <> NEW.actor_key OR OLD.created_at <> NEW.created_at OR (OLD.profile = 'owner') <> (NEW.profile = 'owner')
BEGIN SELECT RAISE(ABORT, 'the identity of a principal is immutable'); END;
CREATE TRIGGER principals_stay BEFORE DELETE ON principals BEGIN SELECT RAISE(ABORT, 'a principal stays'); END;

CREATE TABLE grants (
  principal_id TEXT NOT NULL REFERENCES principals (principal_id),
  project TEXT NOT NULL CHECK (length(project) BETWEEN 1 AND 128),
  granted_at TEXT NOT NULL,
  PRIMARY KEY (principal_id, project)
) STRICT, WITHOUT ROWID;

CREATE TABLE obols (
  seq INTEGER PRIMARY KEY,
  obol_id TEXT NOT NULL UNIQUE CHECK (length(obol_id) = 16),
  principal_id TEXT NOT NULL REFERENCES principals (principal_id),
  token_mac TEXT NOT NULL CHECK (length(token_mac) = 64),
  audience TEXT NOT NULL,
  created_at TEXT NOT NULL,
  expires_at TEXT,
  revoked_at TEXT,
  last_used_at TEXT,
  last_client TEXT,
  last_tool TEXT
) STRICT;
CREATE INDEX obols_of_principal ON obols (principal_id, seq);
CREATE TRIGGER obols_identity_is_immutable BEFORE UPDATE ON obols
WHEN OLD.seq <> NEW.seq OR OLD.obol_id <> NEW.obol_id OR OLD.principal_id <> NEW.principal_id OR OLD.token_mac <> NEW.token_mac
  OR OLD.audience <> NEW.audience OR OLD.created_at <> NEW.created_at OR OLD.expires_at IS NOT NEW.expires_at
  OR (OLD.revoked_at IS NOT NULL AND OLD.revoked_at IS NOT NEW.revoked_at)
BEGIN SELECT RAISE(ABORT, 'a token keeps its secret, its life and its revocation'); END;
CREATE TRIGGER obols_stay BEFORE DELETE ON obols BEGIN SELECT RAISE(ABORT, 'a token stays on record'); END;

CREATE TABLE settings (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL,
  changed_at TEXT NOT NULL,
  mac TEXT NOT NULL CHECK (length(mac) = 64),
  mac_key_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`,
};
