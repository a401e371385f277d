import type { Migration } from '../../sqlite/migrate.ts';
import { fillSemanticKeys } from '../projection/semantic-keys.ts';

/** By what memories are compared in conflict detection (`L175`), filled from the states that there are. */
export const lethe0008SemanticKeys: Migration = {
  name: 'lethe_0008_semantic_keys',
  sql: `
    CREATE TABLE memory_semantic_keys (
      key INTEGER NOT NULL,
      memory INTEGER NOT NULL,
      op INTEGER NOT NULL CHECK (op >= memory),
      PRIMARY KEY (key, memory)
    ) STRICT, WITHOUT ROWID;
  `,
  // biome-ignore lint/suspicious/noThenProperty: the name of the data work of every migration
  then: fillSemanticKeys,
};
