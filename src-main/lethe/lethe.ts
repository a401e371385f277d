import { performance } from 'node:perf_hooks';
import type { EngineEvent } from '../../src-preload/contract/events.ts';
import type { Clock } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { Ids } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Signer } from '../canonical/signature.ts';
import { type Batch, createBatch } from '../sqlite/batch.ts';
import type { Connection } from '../sqlite/driver.ts';
import type { Migration } from '../sqlite/migrate.ts';
import { closeStore, defaultTuning, openStore, openStoreReadOnly, type StoreTuning } from '../sqlite/open.ts';
import { openSnapshots } from '../sqlite/snapshots.ts';
import type { StoreFile } from '../sqlite/store-file.ts';
import { openTextHealth } from '../text/health.ts';
import type { Lethe } from './api.ts';
import { conflictVerbs } from './conflict-verbs.ts';
import { openDetector } from './detection-memo.ts';
import { gatewayVerbs } from './gateway.ts';
import { importVerbs, refusedImportVerbs } from './import/import.ts';
import {
  historyVerbs,
  manifestVerbs,
  mergeVerbs,
  projectVerbs,
  type ReadVerb,
  stateVerbs,
  upkeepVerbs,
  type Write,
} from './lethe-verbs.ts';
import { letheMigrations } from './migrations/migrations.ts';
import { sessionVerbs } from './session-verbs.ts';
import type { VerbContext } from './verb-context.ts';

export interface LetheOptions {
  /** The database file. */
  readonly path: string;
  /** Opens an existing database for reading: nothing is written, not even a migration (`lethe.md` D13). */
  readonly readOnly: boolean;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Signs the moves of refs. */
  readonly headSigner: Signer;
  /** Merge keys by key id, each of at least 32 bytes. */
  readonly mergeKeys: ReadonlyMap<string, Uint8Array>;
  /** Merge keys that authorize nothing any more: verification of history knows them too. */
  readonly earlierMergeKeys?: ReadonlyMap<string, Uint8Array> | undefined;
  /** The owner's principal, who may merge what is their own (`lethe.md` §0.1). */
  readonly ownerPrincipal?: string | undefined;
  /** Hears what became durable, once a transaction. Must not throw. */
  readonly onEvents: (events: readonly EngineEvent[]) => void;
  readonly log: Log;
  readonly tuning?: StoreTuning | undefined;
  /** What follows Lethe's own steps in the one list of `lethe.db` (`lethe.md` §0.7): those of the other store in the file. */
  readonly furtherMigrations?: readonly Migration[] | undefined;
}

/** An open store, and its file for the other store that lives in it. Closing the one closes the other. */
export interface OpenLethe {
  readonly lethe: Lethe;
  readonly file: StoreFile<EngineEvent>;
}

/** Shortest merge key that is taken (`lethe.md` §8). */
const mergeKeyBytesMin = 32;

/**
 * Opens the store (`Lethe`): the database with its migrations, the batch that all writes share, and every verb over them.
 * Throws HOME_INVALID and STORE_UNAVAILABLE as `openStore` does, KEYS_INVALID for a merge key that is too short.
 */
export function openLethe(options: LetheOptions): Lethe {
  return openLetheFile(options).lethe;
}

/** The same, with the file for the store that shares it. */
export function openLetheFile(options: LetheOptions): OpenLethe {
  requireMergeKeys(options.mergeKeys);
  const migrations = migrationsOf(options);
  const connection = options.readOnly
    ? openStoreReadOnly(options.path, migrations, options.tuning)
    : openStore(options.path, migrations, options.clock, options.tuning);
  return letheFileOver(connection, options);
}

/** The verbs over an open connection, which `close` closes. */
export function letheOver(connection: Connection, options: LetheOptions): Lethe {
  return letheFileOver(connection, options).lethe;
}

function migrationsOf({ furtherMigrations = [] }: LetheOptions): readonly Migration[] {
  return [...letheMigrations, ...furtherMigrations];
}

/** The same, with the file for the store that shares it. */
export function letheFileOver(connection: Connection, options: LetheOptions): OpenLethe {
  const context: VerbContext = {
    clock: options.clock,
    ids: options.ids,
    headSigner: options.headSigner,
    mergeKeys: options.mergeKeys,
    earlierMergeKeys: options.earlierMergeKeys ?? new Map(),
    ownerPrincipal: options.ownerPrincipal,
    detector: openDetector(),
    log: options.log,
  };
  const batch = createBatch<EngineEvent>(connection, {
    onCommitted: options.onEvents,
    monotonicMs: () => performance.now(),
  });
  const read: ReadVerb = (verb) => connection.reading(() => verb(connection));
  const write: Write = options.readOnly ? refuseWrite : (verb) => batch.write(verb);
  const snapshots = openSnapshots(() => openStoreReadOnly(options.path, migrationsOf(options), options.tuning));
  const textHealth = openTextHealth();
  let closed = false;
  const lethe: Lethe = {
    ...projectVerbs(read, write, context),
    ...historyVerbs(read, write, context),
    ...mergeVerbs(read, write, context),
    ...conflictVerbs(read, write, context),
    ...stateVerbs(read, textHealth),
    ...manifestVerbs(read, write, context, textHealth),
    ...upkeepVerbs(snapshots, read, write, context, {
      ...{ textHealth, readOnly: options.readOnly },
      file: { path: options.path, busyTimeoutMs: (options.tuning ?? defaultTuning).busyTimeoutMs },
    }),
    ...gatewayVerbs(read, write, context),
    ...sessionVerbs(read, write, context),
    ...(options.readOnly ? refusedImportVerbs() : importVerbs(read, write, context, options.path)),
    busyRetries: () => batch.busyRetries(),
    close: () => {
      if (closed) return;
      closed = true;
      snapshots.close();
      closeLethe(connection, batch, options.readOnly);
    },
  };
  return { lethe, file: { readOnly: options.readOnly, read, write, snapshots } };
}

function refuseWrite(): Promise<never> {
  return Promise.reject(
    new Fault('READ_ONLY', 'Memory is read-only here: it was opened for recovery. Nothing was written.'),
  );
}

function requireMergeKeys(mergeKeys: ReadonlyMap<string, Uint8Array>): void {
  for (const key of mergeKeys.values()) {
    if (key.length < mergeKeyBytesMin)
      throw new Fault(
        'KEYS_INVALID',
        `A merge key is shorter than ${mergeKeyBytesMin} bytes. Replace it; it was not used.`,
      );
  }
}

function closeLethe(connection: Connection, batch: Batch<EngineEvent>, readOnly: boolean): void {
  batch.close();
  if (readOnly) connection.close();
  else closeStore(connection);
}
