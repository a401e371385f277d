import type { Migration } from '../../sqlite/migrate.ts';

/**
 * Programs that sign in (`charon.md` §2). Of codes and of what the waiting page shows only a MAC is kept; a request goes when
 * its time is over, an access stays on record.
 */
export const charon0008Oauth: Migration = {
  name: 'charon-0008-oauth',
  sql: `
CREATE TABLE oauth_requests (
  request_id TEXT PRIMARY KEY CHECK (length(request_id) = 16),
  wait_mac TEXT NOT NULL CHECK (length(wait_mac) = 64),
  client_id TEXT NOT NULL,
  client_name TEXT NOT NULL,
  redirect_uri TEXT NOT NULL,
  state TEXT,
  challenge TEXT NOT NULL CHECK (length(challenge) = 43),
  resource TEXT NOT NULL,
  match_code TEXT NOT NULL CHECK (length(match_code) = 6),
  created_at TEXT NOT NULL,
  expires_ms INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'refused', 'handed', 'used')),
  principal_id TEXT REFERENCES principals (principal_id),
  code_mac TEXT CHECK (code_mac IS NULL OR length(code_mac) = 64),
  code_expires_ms INTEGER,
  grant_id TEXT,
  CHECK ((principal_id IS NULL) = (status IN ('pending', 'refused')))
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_requests_by_end ON oauth_requests (expires_ms);
CREATE INDEX oauth_requests_pending ON oauth_requests (expires_ms) WHERE status = 'pending';

CREATE TABLE oauth_grants (
  seq INTEGER PRIMARY KEY,
  grant_id TEXT NOT NULL UNIQUE CHECK (length(grant_id) = 16),
  principal_id TEXT NOT NULL REFERENCES principals (principal_id),
  client_name TEXT NOT NULL,
  resource TEXT NOT NULL,
  created_at TEXT NOT NULL,
  expires_ms INTEGER NOT NULL,
  revoked_at TEXT
) STRICT;
CREATE INDEX oauth_grants_by_end ON oauth_grants (expires_ms);
CREATE TRIGGER oauth_grants_identity_is_immutable BEFORE UPDATE ON oauth_grants
WHEN OLD.seq <> NEW.seq OR OLD.grant_id <> NEW.grant_id OR OLD.principal_id <> NEW.principal_id OR OLD.client_name <> NEW.client_name
  OR OLD.resource <> NEW.resource OR OLD.created_at <> NEW.created_at OR OLD.expires_ms <> NEW.expires_ms OR OLD.revoked_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'an access keeps its life and its revocation'); END;
CREATE TRIGGER oauth_grants_stay BEFORE DELETE ON oauth_grants BEGIN SELECT RAISE(ABORT, 'an access stays on record'); END;
`,
};
