import type { Migration } from '../../sqlite/migrate.ts';

/** The full-text index as one list of its tokens, in their order, for who reads all of it at once. It stores nothing of its own. */
export const lethe0005TextPostings: Migration = {
  name: 'lethe_0005_text_postings',
  sql: 'CREATE VIRTUAL TABLE text_postings USING fts5vocab (text_index, instance);',
};
