import type { Migration } from '../../sqlite/migrate.ts';
import { lethe0001Store } from './lethe-0001-store.ts';
import { lethe0002TextIndex } from './lethe-0002-text-index.ts';
import { lethe0003Projection } from './lethe-0003-projection.ts';
import { lethe0004Operations } from './lethe-0004-operations.ts';
import { lethe0005TextPostings } from './lethe-0005-text-postings.ts';
import { lethe0006Duplicates } from './lethe-0006-duplicates.ts';
import { lethe0007Conflicts } from './lethe-0007-conflicts.ts';
import { lethe0008SemanticKeys } from './lethe-0008-semantic-keys.ts';
import { lethe0009Events } from './lethe-0009-events.ts';
import { lethe0010Archive } from './lethe-0010-archive.ts';
import { lethe0011Manifests } from './lethe-0011-manifests.ts';
import { lethe0012Import } from './lethe-0012-import.ts';
import { lethe0013Seals } from './lethe-0013-seals.ts';

/** Lethe's steps of `lethe.db`, in the order in which they are applied. */
export const letheMigrations: readonly Migration[] = [
  lethe0001Store,
  lethe0002TextIndex,
  lethe0003Projection,
  lethe0004Operations,
  lethe0005TextPostings,
  lethe0006Duplicates,
  lethe0007Conflicts,
  lethe0008SemanticKeys,
  lethe0009Events,
  lethe0010Archive,
  lethe0011Manifests,
  lethe0012Import,
  lethe0013Seals,
];
