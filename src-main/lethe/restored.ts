import type { Clock } from '../base/clock.ts';
import { verifyMergeEnvelope } from '../canonical/signature.ts';
import { type Batch, createBatch } from '../sqlite/batch.ts';
import type { ReadableDb, WritableDb } from '../sqlite/driver.ts';
import type { Migration } from '../sqlite/migrate.ts';
import { closeStore, openStore } from '../sqlite/open.ts';
import { letheMigrations } from './migrations/migrations.ts';
import { rowDigest } from './row-digest.ts';
import {
  type AuthorizationRow,
  findAuthorization,
  insertAuthorization,
  listAuthorizationsAfter,
} from './tables/authorizations.ts';
import { envelopeOf } from './verify/merges.ts';

const rowsPerPage = 500;

/**
 * Brings a restored lethe.db to this version, and spends in it every merge authorization that the store which it replaces had
 * spent (`charon.md` §7): recorded as refused, since in this history it moved nothing. Answers how many were added.
 */
export async function carrySpentNonces(options: {
  readonly path: string;
  readonly furtherMigrations: readonly Migration[];
  readonly clock: Clock;
  readonly replaced: ReadableDb | undefined;
}): Promise<number> {
  const connection = openStore(options.path, [...letheMigrations, ...options.furtherMigrations], options.clock);
  const batch = createBatch<never>(connection, { onCommitted: () => {}, monotonicMs: () => performance.now() });
  try {
    return options.replaced === undefined ? 0 : await carry(batch, options.replaced);
  } finally {
    batch.close();
    closeStore(connection);
  }
}

async function carry(batch: Batch<never>, replaced: ReadableDb): Promise<number> {
  let carried = 0;
  for (let after = ''; ; ) {
    const page = listAuthorizationsAfter(replaced, after, rowsPerPage);
    carried += await batch.write((db) => page.filter((row) => spend(db, row)).length);
    after = page.at(-1)?.nonce ?? after;
    if (page.length < rowsPerPage) return carried;
  }
}

function spend(db: WritableDb, { row_digest: _digest, ...row }: AuthorizationRow): boolean {
  if (findAuthorization(db, row.nonce) !== undefined) return false;
  // A row of the table's own kind: it is verified with the rest of them, and its nonce is found where a nonce is looked for.
  const columns = {
    ...row,
    outcome: 'refused',
    refusal: row.outcome === 'refused' ? row.refusal : 'NONCE_CONSUMED',
  } as const;
  insertAuthorization(db, { ...columns, row_digest: rowDigest('merge-authorization', columns) });
  return true;
}

/** Whether one of these keys, by id, signed an authorization that the store has spent. */
export function hasSignedMerges(db: ReadableDb, keys: ReadonlyMap<string, Uint8Array>): boolean {
  for (let after = ''; ; ) {
    const page = listAuthorizationsAfter(db, after, rowsPerPage);
    const isSigned = page.some((row) => {
      const key = keys.get(row.key_id);
      return key !== undefined && verifyMergeEnvelope(key, envelopeOf(row), row.signature);
    });
    if (isSigned) return true;
    after = page.at(-1)?.nonce ?? after;
    if (page.length < rowsPerPage) return false;
  }
}
