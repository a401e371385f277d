import type { Migration } from '../../sqlite/migrate.ts';

/** The credentials that a restore ends until the owner approves them again. */
const credentials = ['obols', 'ltx_keys', 'oauth_grants', 'registrations'] as const;

const columns = credentials
  .map(
    (table) => `
ALTER TABLE ${table} ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER ${table}_epoch_only_rises BEFORE UPDATE OF epoch ON ${table}
WHEN NEW.epoch < OLD.epoch OR NEW.epoch > (SELECT epoch FROM credential_epoch WHERE one = 1)
BEGIN SELECT RAISE(ABORT, 'a credential is of the epoch in which it was approved'); END;`,
  )
  .join('');

/**
 * The credential epoch (`charon.md` §7): what was minted in an earlier one is refused until it is approved again. A restore raises
 * it, and nothing lowers it.
 */
export const charon0010Epoch: Migration = {
  name: 'charon-0010-epoch',
  sql: `
CREATE TABLE credential_epoch (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  epoch INTEGER NOT NULL CHECK (epoch >= 0),
  raised_at TEXT
) STRICT;
INSERT INTO credential_epoch (one, epoch) VALUES (1, 0);
CREATE TRIGGER credential_epoch_only_rises BEFORE UPDATE ON credential_epoch WHEN NEW.epoch <= OLD.epoch
BEGIN SELECT RAISE(ABORT, 'the credential epoch only rises'); END;
CREATE TRIGGER credential_epoch_stays BEFORE DELETE ON credential_epoch BEGIN SELECT RAISE(ABORT, 'the credential epoch stays'); END;
${columns}
`,
};
