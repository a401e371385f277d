import type { Migration } from '../../sqlite/migrate.ts';

/**
 * What each principal has used of its quotas (`charon.md` §3): one row, so that a check costs the same however much there
 * is. Branches that were made before are not counted.
 */
export const charon0006Quotas: Migration = {
  name: 'charon-0006-quotas',
  sql: `
CREATE TABLE quota_use (
  principal_id TEXT PRIMARY KEY,
  refs INTEGER NOT NULL CHECK (refs >= 0),
  day INTEGER NOT NULL CHECK (day >= 0),
  payload_bytes INTEGER NOT NULL CHECK (payload_bytes >= 0)
) STRICT, WITHOUT ROWID;
`,
};
