import type { Migration } from '../../sqlite/migrate.ts';

/**
 * The full-text index: derived from the history, filled behind the commits, rebuildable at any time (`text-index.ts`).
 * `text_index` holds no text and no positions, only which version has which token; its rowid is the version number.
 */
export const lethe0002TextIndex: Migration = {
  name: 'lethe_0002_text_index',
  sql: `
    CREATE TABLE text_index_progress (
      only INTEGER PRIMARY KEY CHECK (only = 1),
      through INTEGER NOT NULL CHECK (through >= 0)
    ) STRICT;
    INSERT INTO text_index_progress (only, through) VALUES (1, 0);

    CREATE TABLE text_projects (
      project_key INTEGER PRIMARY KEY,
      project_id TEXT NOT NULL UNIQUE
    ) STRICT;

    CREATE TABLE text_versions (
      version INTEGER PRIMARY KEY,
      memory INTEGER NOT NULL
    ) STRICT;

    CREATE VIRTUAL TABLE text_index USING fts5 (
      tokens, content = '', detail = none, columnsize = 0, tokenize = 'ascii'
    );
    INSERT INTO text_index (text_index, rank) VALUES ('automerge', 0);
    INSERT INTO text_index (text_index, rank) VALUES ('crisismerge', 500);
  `,
};
