import type { Migration } from '../../sqlite/migrate.ts';

/**
 * Seals over stretches of a project that a verification found whole (`L300`): digests of the stored rows, under a signature
 * of the head key. They are derived: with none of them everything is verified from scratch, and what is found whole is sealed
 * anew. `key_seq` is the first move of the key that signed (`memory_head_keys`).
 */
export const lethe0013Seals: Migration = {
  name: 'lethe_0013_seals',
  sql: `
CREATE TABLE memory_changeset_seals (
  project_id TEXT NOT NULL REFERENCES memory_projects (project_id),
  last INTEGER NOT NULL CHECK (last >= first),
  first INTEGER NOT NULL CHECK (first > 0),
  count INTEGER NOT NULL CHECK (count > 0),
  history_digest TEXT NOT NULL CHECK (length(history_digest) = 64),
  index_digest TEXT NOT NULL CHECK (length(index_digest) = 64),
  text_digest TEXT NOT NULL CHECK (length(text_digest) = 64),
  postings TEXT NOT NULL,
  semantic_keys TEXT NOT NULL,
  nodes_through INTEGER NOT NULL CHECK (nodes_through >= 0),
  key_seq INTEGER NOT NULL CHECK (key_seq > 0),
  signature TEXT NOT NULL CHECK (length(signature) = 86),
  PRIMARY KEY (project_id, last)
) STRICT, WITHOUT ROWID;

CREATE TABLE memory_move_seals (
  project_id TEXT NOT NULL REFERENCES memory_projects (project_id),
  last INTEGER NOT NULL CHECK (last >= first),
  first INTEGER NOT NULL CHECK (first > 0),
  count INTEGER NOT NULL CHECK (count > 0),
  digest TEXT NOT NULL CHECK (length(digest) = 64),
  key_seq INTEGER NOT NULL CHECK (key_seq > 0),
  signature TEXT NOT NULL CHECK (length(signature) = 86),
  PRIMARY KEY (project_id, last)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER memory_changeset_seals_never_update BEFORE UPDATE ON memory_changeset_seals
  BEGIN SELECT RAISE(ABORT, 'memory_changeset_seals are made anew, never changed'); END;
CREATE TRIGGER memory_move_seals_never_update BEFORE UPDATE ON memory_move_seals
  BEGIN SELECT RAISE(ABORT, 'memory_move_seals are made anew, never changed'); END;
`,
};
