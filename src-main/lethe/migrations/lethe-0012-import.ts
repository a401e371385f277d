import type { Migration } from '../../sqlite/migrate.ts';

/** Tables whose rows are never changed and never deleted. */
const immutableTables = [
  'memory_imports',
  'memory_imported_projects',
  'memory_imported_changesets',
  'memory_imported_refs',
  'memory_imported_records',
] as const;

const immutable = immutableTables
  .map(
    (table) => `
CREATE TRIGGER ${table}_never_update BEFORE UPDATE ON ${table} BEGIN SELECT RAISE(ABORT, '${table} is immutable'); END;
CREATE TRIGGER ${table}_never_delete BEFORE DELETE ON ${table} BEGIN SELECT RAISE(ABORT, '${table} is immutable'); END;`,
  )
  .join('');

/**
 * What was brought in from reference databases. A changeset that came from one is marked: `named_manifest` is what it names
 * as its context, which need not be a manifest of this store; `named_key` is its own key when it is not one here, because the
 * project was known before. Conflicts, manifests, baselines, authorizations, advances and assemblies of a reference
 * database are history, not authority: they are kept whole, as canonical JSON, among the records.
 */
export const lethe0012Import: Migration = {
  name: 'lethe_0012_import',
  sql: `
CREATE TABLE memory_imports (
  import_id TEXT PRIMARY KEY CHECK (length(import_id) = 36),
  content_digest TEXT NOT NULL UNIQUE CHECK (length(content_digest) = 64),
  imported_at TEXT NOT NULL,
  principal TEXT NOT NULL,
  row_digest TEXT NOT NULL CHECK (length(row_digest) = 64)
) STRICT, WITHOUT ROWID;

CREATE TABLE memory_imported_projects (
  project_id TEXT PRIMARY KEY REFERENCES memory_projects (project_id),
  import_id TEXT NOT NULL REFERENCES memory_imports (import_id),
  row_digest TEXT NOT NULL CHECK (length(row_digest) = 64)
) STRICT, WITHOUT ROWID;

CREATE TABLE memory_imported_changesets (
  changeset INTEGER PRIMARY KEY REFERENCES memory_changesets (seq),
  import_id TEXT NOT NULL REFERENCES memory_imports (import_id),
  digest_version INTEGER NOT NULL CHECK (digest_version IN (1, 2)),
  named_manifest TEXT CHECK (named_manifest <> ''),
  named_key TEXT CHECK (named_key <> ''),
  row_digest TEXT NOT NULL CHECK (length(row_digest) = 64)
) STRICT;

CREATE TABLE memory_imported_refs (
  project_id TEXT NOT NULL,
  ref_name TEXT NOT NULL,
  import_id TEXT NOT NULL REFERENCES memory_imports (import_id),
  original_name TEXT NOT NULL,
  original_created_at TEXT NOT NULL,
  original_updated_at TEXT NOT NULL,
  original_creator TEXT NOT NULL,
  row_digest TEXT NOT NULL CHECK (length(row_digest) = 64),
  PRIMARY KEY (project_id, ref_name),
  FOREIGN KEY (project_id, ref_name) REFERENCES memory_refs (project_id, ref_name)
) STRICT, WITHOUT ROWID;

CREATE TABLE memory_imported_records (
  kind TEXT NOT NULL CHECK (kind IN ('conflict', 'manifest', 'baseline', 'authorization', 'advance', 'assembly',
    'assembly_item', 'assembly_feedback', 'thread')),
  record_key TEXT NOT NULL CHECK (record_key <> ''),
  project_id TEXT NOT NULL,
  import_id TEXT NOT NULL REFERENCES memory_imports (import_id),
  body TEXT NOT NULL CHECK (json_valid(body)),
  row_digest TEXT NOT NULL CHECK (length(row_digest) = 64),
  PRIMARY KEY (kind, record_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_imported_records_by_project ON memory_imported_records (project_id, kind, record_key);
${immutable}
`,
};
