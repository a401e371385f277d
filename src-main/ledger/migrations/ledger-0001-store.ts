import type { Migration } from '../../sqlite/migrate.ts';

const immutable = (table: string): string => `
CREATE TRIGGER ${table}_never_update BEFORE UPDATE ON ${table} BEGIN SELECT RAISE(ABORT, '${table} is immutable'); END;
CREATE TRIGGER ${table}_never_delete BEFORE DELETE ON ${table} BEGIN SELECT RAISE(ABORT, '${table} is immutable'); END;`;

/**
 * The history of every agent's keys, and what is derived from it. Values live in a table of their own, keyed by their
 * version's `seq`; taking one out is the one change that the triggers know (`lethe.md` §0.7), and its digest stays in the
 * version. `importance` counts from the most important, 0, to 3. Times are milliseconds;
 * `moment_ms` is `written_ms`, or that of the version before when the clock has gone back since: it ascends with the versions.
 *
 * Derived: `ledger_heads` has the newest version of every key, `live` when that is a put; `ledger_totals` and
 * `ledger_live_totals` count them, a value whose time is over until it is swept; `ledger_text` has the tokens of live heads
 * up to `ledger_text_progress`, and of some that are live no longer, which `ledger_text_stale` names.
 */
export const ledger0001Store: Migration = {
  name: 'ledger_0001_store',
  sql: `
CREATE TABLE ledger_agents (
  agent INTEGER PRIMARY KEY CHECK (agent > 0),
  agent_id TEXT NOT NULL UNIQUE CHECK (length(agent_id) = 36)
) STRICT;

CREATE TABLE ledger_versions (
  seq INTEGER PRIMARY KEY CHECK (seq > 0),
  agent INTEGER NOT NULL REFERENCES ledger_agents (agent),
  key TEXT NOT NULL CHECK (length(key) BETWEEN 1 AND 128),
  version INTEGER NOT NULL CHECK (version > 0),
  kind TEXT NOT NULL CHECK (kind IN ('put', 'delete', 'expire')),
  written_ms INTEGER NOT NULL,
  moment_ms INTEGER NOT NULL CHECK (moment_ms >= written_ms),
  created_ms INTEGER,
  importance INTEGER CHECK (importance BETWEEN 0 AND 3),
  source TEXT,
  confidence REAL CHECK (confidence BETWEEN 0 AND 1),
  ttl_seconds INTEGER CHECK (ttl_seconds > 0),
  expires_ms INTEGER,
  derived_start INTEGER CHECK (derived_start > 0),
  derived_end INTEGER CHECK (derived_end >= derived_start),
  value_bytes INTEGER NOT NULL CHECK (value_bytes >= 0),
  value_digest TEXT CHECK (length(value_digest) = 64),
  previous_digest TEXT NOT NULL,
  row_digest TEXT NOT NULL CHECK (length(row_digest) = 64),
  UNIQUE (agent, key, version),
  CHECK ((kind = 'put') = (value_digest IS NOT NULL)),
  CHECK ((kind = 'put') = (created_ms IS NOT NULL)),
  CHECK ((kind = 'put') = (importance IS NOT NULL)),
  CHECK ((kind = 'put') = (confidence IS NOT NULL)),
  CHECK (kind = 'put' OR (source IS NULL AND ttl_seconds IS NULL AND derived_start IS NULL AND value_bytes = 0)),
  CHECK ((ttl_seconds IS NULL) = (expires_ms IS NULL)),
  CHECK ((derived_start IS NULL) = (derived_end IS NULL)),
  CHECK ((version = 1) = (previous_digest = ''))
) STRICT;

CREATE INDEX ledger_versions_by_moment ON ledger_versions (agent, key, moment_ms, version);

CREATE TABLE ledger_values (
  seq INTEGER PRIMARY KEY REFERENCES ledger_versions (seq),
  body TEXT,
  redacted_ms INTEGER,
  CHECK ((body IS NULL) = (redacted_ms IS NOT NULL))
) STRICT;
${immutable('ledger_agents')}
${immutable('ledger_versions')}
CREATE TRIGGER ledger_values_only_redact BEFORE UPDATE ON ledger_values
  WHEN NEW.seq IS NOT OLD.seq OR OLD.body IS NULL OR NEW.body IS NOT NULL
  BEGIN SELECT RAISE(ABORT, 'a ledger value is only ever taken out, once'); END;
CREATE TRIGGER ledger_values_never_delete BEFORE DELETE ON ledger_values
  BEGIN SELECT RAISE(ABORT, 'ledger_values is immutable'); END;

CREATE TABLE ledger_heads (
  seq INTEGER PRIMARY KEY REFERENCES ledger_versions (seq),
  agent INTEGER NOT NULL REFERENCES ledger_agents (agent),
  key TEXT NOT NULL,
  live INTEGER NOT NULL CHECK (live IN (0, 1)),
  importance INTEGER,
  updated_ms INTEGER NOT NULL,
  expires_ms INTEGER,
  value_bytes INTEGER NOT NULL,
  UNIQUE (agent, key)
) STRICT;
CREATE INDEX ledger_heads_live ON ledger_heads (agent, key, expires_ms) WHERE live = 1;
CREATE INDEX ledger_heads_by_importance ON ledger_heads (agent, importance, key, expires_ms) WHERE live = 1;
CREATE INDEX ledger_heads_in_context ON ledger_heads (agent, importance, updated_ms DESC, key) WHERE live = 1;
CREATE INDEX ledger_heads_ending ON ledger_heads (agent, expires_ms, importance, value_bytes)
  WHERE live = 1 AND expires_ms IS NOT NULL;
CREATE INDEX ledger_heads_due ON ledger_heads (expires_ms) WHERE live = 1 AND expires_ms IS NOT NULL;

CREATE TABLE ledger_totals (
  agent INTEGER PRIMARY KEY REFERENCES ledger_agents (agent),
  ops INTEGER NOT NULL,
  versions INTEGER NOT NULL,
  bytes INTEGER NOT NULL
) STRICT;
CREATE TABLE ledger_live_totals (
  agent INTEGER NOT NULL REFERENCES ledger_agents (agent),
  importance INTEGER NOT NULL,
  keys INTEGER NOT NULL CHECK (keys >= 0),
  bytes INTEGER NOT NULL CHECK (bytes >= 0),
  PRIMARY KEY (agent, importance)
) STRICT, WITHOUT ROWID;

CREATE TABLE ledger_text_progress (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  through INTEGER NOT NULL CHECK (through >= 0)
) STRICT;
INSERT INTO ledger_text_progress (only, through) VALUES (1, 0);
CREATE TABLE ledger_text_stale (seq INTEGER PRIMARY KEY) STRICT;
CREATE VIRTUAL TABLE ledger_text USING fts5 (
  tokens, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);
INSERT INTO ledger_text (ledger_text, rank) VALUES ('automerge', 0);
INSERT INTO ledger_text (ledger_text, rank) VALUES ('crisismerge', 500);
`,
};
