import type { Migration } from '../../sqlite/migrate.ts';

/**
 * The derived index over history: places and vectors for reachability, touches and versions for states, pages for
 * recency. Nothing here holds content, and all of it can be built again from the changesets.
 */
export const lethe0003Projection: Migration = {
  name: 'lethe_0003_projection',
  sql: `
    CREATE TABLE memory_vector_nodes (
      node INTEGER PRIMARY KEY,
      body BLOB NOT NULL
    ) STRICT;

    CREATE TABLE memory_places (
      seq INTEGER PRIMARY KEY,
      chain INTEGER NOT NULL CHECK (chain >= 0),
      position INTEGER NOT NULL CHECK (position >= 0),
      first_parent INTEGER NOT NULL CHECK (first_parent >= 0 AND first_parent < seq),
      second_parent INTEGER NOT NULL CHECK (second_parent >= 0 AND second_parent < seq),
      depth INTEGER NOT NULL CHECK (depth >= 0),
      jump INTEGER NOT NULL CHECK (jump >= 0 AND jump < seq),
      vector INTEGER REFERENCES memory_vector_nodes (node),
      active INTEGER NOT NULL CHECK (active >= 0),
      touches INTEGER NOT NULL CHECK (touches >= 0),
      steps INTEGER NOT NULL CHECK (steps >= 0)
    ) STRICT;
    CREATE UNIQUE INDEX memory_places_by_chain ON memory_places (chain, position);

    CREATE TABLE memory_ids (
      number INTEGER PRIMARY KEY,
      project_id TEXT NOT NULL,
      memory_id TEXT NOT NULL,
      UNIQUE (project_id, memory_id)
    ) STRICT;

    CREATE TABLE memory_touches (
      memory INTEGER NOT NULL,
      key INTEGER NOT NULL CHECK (key >= memory),
      chain INTEGER NOT NULL,
      version INTEGER NOT NULL CHECK (version <= key),
      status INTEGER NOT NULL CHECK (status BETWEEN 0 AND 3),
      linked INTEGER CHECK (linked <> memory),
      PRIMARY KEY (memory, key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX memory_touches_by_chain ON memory_touches (chain, key);
    CREATE INDEX memory_touches_by_memory_chain ON memory_touches (memory, chain, key) WHERE key <> memory;
    CREATE INDEX memory_touches_linked ON memory_touches (memory, key) WHERE linked IS NOT NULL;

    CREATE TABLE memory_versions (
      version INTEGER PRIMARY KEY,
      body TEXT NOT NULL CHECK (json_valid(body))
    ) STRICT;

    CREATE TABLE memory_recency_pages (
      seq INTEGER PRIMARY KEY REFERENCES memory_places (seq),
      body BLOB NOT NULL
    ) STRICT;
  `,
};
