import type { Migration } from '../../sqlite/migrate.ts';

/** The search index as one list of its tokens, in their order, for verification. It stores nothing of its own. */
export const ledger0003TextTerms: Migration = {
  name: 'ledger_0003_text_terms',
  sql: 'CREATE VIRTUAL TABLE ledger_text_terms USING fts5vocab (ledger_text, instance);',
};
