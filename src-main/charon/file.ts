import type { VerifyReport } from '../../src-preload/contract/audit.ts';
import { Fault } from '../base/fault.ts';
import { checkFile, type FileCheck } from '../sqlite/check-file.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import { openStoreReadOnly } from '../sqlite/open.ts';
import { verifyLedger } from './audit-verify.ts';
import { charonMigrations } from './migrations/list.ts';
import type { AuditHead } from './rules/audit-entry.ts';
import { auditHead } from './tables/audit-entries.ts';
import { countRows } from './tables/backup-facts.ts';
import { findHomeId } from './tables/home.ts';
import { listOpenIntents } from './tables/open-intents.ts';
import { findOwner } from './tables/principals.ts';

/** A charon.db that nobody runs: a copy of one, to be looked at. */
export interface CharonFile {
  readonly db: ReadableDb;
  readonly homeId: string;
  readonly ownerPrincipal: string;
  readonly head: AuditHead;
  readonly counts: ReturnType<typeof countRows>;
  /** Intents that had no outcome and were not listed as ambiguous when this state was. */
  readonly openIntents: number;
  /** Chain, MACs and the anchor beside it. */
  verify(): Promise<VerifyReport>;
  /** Every table but that of the entries, of which `verify` reads each by its key. */
  check(): Promise<FileCheck>;
  close(): void;
}

/**
 * Opens a charon.db of this version for reading, and writes nothing. `keys` are the MAC keys at hand, by id. Throws HOME_INVALID
 * for a file of another version or of no home, INTEGRITY_MISMATCH and the like for a damaged one.
 */
export function openCharonFile(options: {
  readonly path: string;
  readonly anchorPath: string;
  readonly keys: ReadonlyMap<string, Buffer>;
}): CharonFile {
  const connection = openStoreReadOnly(options.path, charonMigrations);
  try {
    const homeId = findHomeId(connection);
    const owner = findOwner(connection);
    if (homeId === undefined || owner === undefined)
      throw new Fault('HOME_INVALID', 'This charon.db is of no home: it was never started.');
    return {
      db: connection,
      homeId,
      ownerPrincipal: owner.principal_id,
      head: auditHead(connection),
      counts: countRows(connection),
      openIntents: listOpenIntents(connection).filter(({ ambiguous }) => !ambiguous).length,
      verify: () =>
        verifyLedger({ db: connection, keys: options.keys, anchorPath: options.anchorPath, anchoredSeq: 0 }),
      check: () =>
        checkFile(
          (chunk) => chunk(connection),
          (table) => table !== 'audit_entries',
        ),
      close: () => connection.close(),
    };
  } catch (thrown) {
    connection.close();
    throw thrown;
  }
}
