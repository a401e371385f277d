import type { Migration } from '../../sqlite/migrate.ts';

const immutable = (table: string): string => `
CREATE TRIGGER ${table}_never_update BEFORE UPDATE ON ${table} BEGIN SELECT RAISE(ABORT, '${table} is immutable'); END;
CREATE TRIGGER ${table}_never_delete BEFORE DELETE ON ${table} BEGIN SELECT RAISE(ABORT, '${table} is immutable'); END;`;

/**
 * What agents declare of how their memory is consolidated, and who had custody of them meanwhile. Both only grow; the totals
 * count them.
 */
export const ledger0002Policies: Migration = {
  name: 'ledger_0002_policies',
  sql: `
CREATE TABLE ledger_policies (
  seq INTEGER PRIMARY KEY CHECK (seq > 0),
  agent INTEGER NOT NULL REFERENCES ledger_agents (agent),
  version INTEGER NOT NULL CHECK (version > 0),
  policy_id TEXT NOT NULL UNIQUE CHECK (length(policy_id) = 36),
  supersedes TEXT REFERENCES ledger_policies (policy_id),
  template_id TEXT NOT NULL,
  params TEXT NOT NULL CHECK (json_valid(params)),
  custody_epoch INTEGER NOT NULL CHECK (custody_epoch > 0),
  challenge_id TEXT NOT NULL,
  challenge_nonce TEXT NOT NULL,
  issued_at TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  public_key TEXT NOT NULL,
  signature TEXT NOT NULL,
  amended_ms INTEGER NOT NULL,
  previous_digest TEXT NOT NULL,
  row_digest TEXT NOT NULL CHECK (length(row_digest) = 64),
  UNIQUE (agent, version),
  CHECK ((version = 1) = (supersedes IS NULL)),
  CHECK ((version = 1) = (previous_digest = ''))
) STRICT;

CREATE TABLE ledger_custody (
  seq INTEGER PRIMARY KEY CHECK (seq > 0),
  agent INTEGER NOT NULL REFERENCES ledger_agents (agent),
  step INTEGER NOT NULL CHECK (step > 0),
  epoch INTEGER NOT NULL CHECK (epoch = (step + 1) / 2),
  kind TEXT NOT NULL CHECK (kind IN ('open', 'close') AND (kind = 'open') = (step % 2 = 1)),
  custodian TEXT NOT NULL CHECK (custodian <> ''),
  written_ms INTEGER NOT NULL,
  previous_digest TEXT NOT NULL,
  row_digest TEXT NOT NULL CHECK (length(row_digest) = 64),
  UNIQUE (agent, step),
  CHECK ((step = 1) = (previous_digest = ''))
) STRICT;
ALTER TABLE ledger_totals ADD COLUMN policies INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ledger_totals ADD COLUMN custody_steps INTEGER NOT NULL DEFAULT 0;
${immutable('ledger_policies')}
${immutable('ledger_custody')}
`,
};
