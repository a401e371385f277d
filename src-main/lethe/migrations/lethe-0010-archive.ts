import type { Migration } from '../../sqlite/migrate.ts';

/**
 * A ref can be archived where it stands, for good (`lethe.md` §0.5). The index lists the others without passing over it.
 */
export const lethe0010Archive: Migration = {
  name: 'lethe_0010_archive',
  sql: `
    ALTER TABLE memory_refs ADD COLUMN archived INTEGER NOT NULL DEFAULT 0
      CHECK (archived = 0 OR (archived = 1 AND protected = 0));
    CREATE INDEX memory_refs_in_use ON memory_refs (project_id, archived, ref_name);
    DROP TRIGGER memory_refs_move_forward;
    CREATE TRIGGER memory_refs_move_forward BEFORE UPDATE ON memory_refs
      WHEN NEW.project_id IS NOT OLD.project_id OR NEW.ref_name IS NOT OLD.ref_name OR NEW.protected IS NOT OLD.protected
        OR NEW.created_at IS NOT OLD.created_at OR NEW.created_by_principal IS NOT OLD.created_by_principal
        OR OLD.archived = 1 OR (NEW.archived = 0 AND NEW.head_seq <= OLD.head_seq)
        OR (NEW.archived = 1 AND NEW.head_seq <> OLD.head_seq)
      BEGIN SELECT RAISE(ABORT, 'a ref changes only its head, and only to a later changeset, or is archived where it stands, for good'); END;
  `,
};
