import type { Migration } from '../../sqlite/migrate.ts';

/**
 * The derived index learns of duplicates, proposed deprecations, attachments and relationships. Touches are copied over
 * because their CHECK knew four statuses only. Stores from before hold none of the new ops: nothing else is to be derived.
 */
export const lethe0004Operations: Migration = {
  name: 'lethe_0004_operations',
  sql: `
    ALTER TABLE memory_touches RENAME TO memory_touches_before;
    DROP INDEX memory_touches_by_chain;
    DROP INDEX memory_touches_by_memory_chain;
    DROP INDEX memory_touches_linked;
    CREATE TABLE memory_touches (
      memory INTEGER NOT NULL,
      key INTEGER NOT NULL CHECK (key >= memory),
      chain INTEGER NOT NULL,
      version INTEGER NOT NULL CHECK (version <= key),
      status INTEGER NOT NULL CHECK (status BETWEEN 0 AND 7),
      linked INTEGER CHECK (linked <> memory),
      PRIMARY KEY (memory, key)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO memory_touches (memory, key, chain, version, status, linked)
      SELECT memory, key, chain, version, status, linked FROM memory_touches_before ORDER BY memory, key;
    DROP TABLE memory_touches_before;
    CREATE INDEX memory_touches_by_chain ON memory_touches (chain, key);
    CREATE INDEX memory_touches_by_memory_chain ON memory_touches (memory, chain, key) WHERE key <> memory;
    CREATE INDEX memory_touches_linked ON memory_touches (memory, key) WHERE linked IS NOT NULL;

    CREATE TABLE memory_attachments (
      op INTEGER PRIMARY KEY,
      previous INTEGER CHECK (previous < op),
      count INTEGER NOT NULL CHECK (count > 0 AND (count = 1) = (previous IS NULL))
    ) STRICT;

    CREATE TABLE memory_relationships (
      op INTEGER PRIMARY KEY,
      chain INTEGER NOT NULL,
      from_memory INTEGER NOT NULL CHECK (from_memory < op),
      to_memory INTEGER NOT NULL CHECK (to_memory < op)
    ) STRICT;
    CREATE INDEX memory_relationships_by_chain ON memory_relationships (chain, op);

    CREATE TABLE memory_relationship_ends (
      op INTEGER NOT NULL REFERENCES memory_relationships (op),
      memory INTEGER NOT NULL,
      chain INTEGER NOT NULL,
      PRIMARY KEY (op, memory)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX memory_relationship_ends_by_memory ON memory_relationship_ends (memory, op, chain);
    CREATE INDEX memory_relationship_ends_by_chain ON memory_relationship_ends (memory, chain, op);
  `,
};
