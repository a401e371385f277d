import type { Migration } from '../../sqlite/migrate.ts';

/** The marks of duplicates by chain, so that a merge finds those that one side has and the other has not (`L142`). */
export const lethe0006Duplicates: Migration = {
  name: 'lethe_0006_duplicates',
  sql: 'CREATE INDEX memory_duplicates_by_chain ON memory_touches (chain, key) WHERE status = 4;',
};
