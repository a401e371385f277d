import { join } from 'node:path';
import { prepareRestored } from '../charon/restored.ts';
import type { Revocations } from '../charon/tables/revocations.ts';
import { ledgerMigrations } from '../ledger/migrations/migrations.ts';
import { carrySpentNonces } from '../lethe/restored.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import type { BackupTools } from './tools.ts';

/** What the state that a restore replaces knows and the restored one must not forget; undefined where it cannot be read. */
export interface Replaced {
  readonly revocations: Revocations;
  readonly lethe: ReadableDb;
}

/**
 * Makes the databases in a folder, which were verified, ready to be a home again (`charon.md` §7, R30): credentials of before wait to
 * be approved, nonces and revocations of both sides hold, the audit ledger says what was restored. Answers how many nonces came.
 */
export async function makeReady(
  folder: string,
  { keys, clock }: Pick<BackupTools, 'keys' | 'clock'>,
  restored: { readonly replaced: Replaced | undefined; readonly objects: readonly string[] },
): Promise<number> {
  const { replaced, objects } = restored;
  const carried = await carrySpentNonces({
    path: join(folder, 'lethe.db'),
    furtherMigrations: ledgerMigrations,
    clock,
    replaced: replaced?.lethe,
  });
  await prepareRestored({
    path: join(folder, 'charon.db'),
    clock,
    macKey: keys.ledger,
    replaced: replaced?.revocations,
    objects,
  });
  return carried;
}
