import type { Migration } from '../../sqlite/migrate.ts';

/**
 * What manifests record beside: of a context the rest of its filter, where it went on, and what conflicts withheld from it; of a proposal where
 * it comes from and where it goes. `form` says what a row is, and which columns its digest covers: 1 a context pinned before
 * these columns, 2 a context, 3 a record that pins none. A record has 1 for its limit, nothing but zeros for its context.
 */
export const lethe0011Manifests: Migration = {
  name: 'lethe_0011_manifests',
  sql: `
ALTER TABLE memory_manifests ADD COLUMN form INTEGER NOT NULL DEFAULT 1 CHECK (form IN (1, 2, 3));
ALTER TABLE memory_manifests ADD COLUMN filters TEXT NOT NULL DEFAULT '{}';
ALTER TABLE memory_manifests ADD COLUMN next_cursor TEXT NOT NULL DEFAULT '';
ALTER TABLE memory_manifests ADD COLUMN withheld TEXT NOT NULL DEFAULT '[]';
ALTER TABLE memory_manifests ADD COLUMN unresolved_conflicts TEXT NOT NULL DEFAULT '[]';
ALTER TABLE memory_manifests ADD COLUMN exclusion_reasons TEXT NOT NULL DEFAULT '{}';
ALTER TABLE memory_manifests ADD COLUMN base_seq INTEGER REFERENCES memory_changesets (seq);
ALTER TABLE memory_manifests ADD COLUMN resulting_seq INTEGER REFERENCES memory_changesets (seq);
ALTER TABLE memory_manifests ADD COLUMN proposed_target_ref TEXT NOT NULL DEFAULT '';
ALTER TABLE memory_manifests ADD COLUMN merge_proposal_id TEXT NOT NULL DEFAULT '';
CREATE INDEX memory_manifests_by_proposal ON memory_manifests (project_id, merge_proposal_id)
  WHERE merge_proposal_id <> '';
`,
};
