import { existsSync } from 'node:fs';
import type { EngineEvent } from '../../src-preload/contract/events.ts';
import type { Clock } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { Ids } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Charon } from '../charon/api.ts';
import { openCharon } from '../charon/charon.ts';
import type { Quotas } from '../charon/rules/quota.ts';
import type { Limits } from '../home/limits.ts';
import type { OpenHome } from '../home/open.ts';
import type { Ledger } from '../ledger/api.ts';
import { openLedger } from '../ledger/ledger.ts';
import { ledgerMigrations } from '../ledger/migrations/migrations.ts';
import type { Lethe } from '../lethe/api.ts';
import { openLetheFile } from '../lethe/lethe.ts';
import { letheAdapter } from './lethe-adapter.ts';
import type { MemoryStore } from './memory-store.ts';

/** The stores of a home: the policy engine and the store, joined by the signed envelope, and the ledger in the store's file. */
export interface Stores {
  readonly charon: Charon;
  /** Where memory is: the store of this home, or the one elsewhere that was named. */
  readonly store: MemoryStore;
  /** The store of this home's own file; without memory of its own where that is elsewhere. */
  readonly lethe: Lethe;
  readonly ledger: Ledger;
  /** Closes the store, then the policy engine with its ledger. */
  close(): Promise<void>;
}

/**
 * Opens the policy engine, the store and the ledger of a home. The policy engine opens first, since it knows the owner's principal,
 * which the store needs for what an owner may merge (`lethe.md` §0.1); it finds the store at its first call. Throws HOME_INVALID
 * where the store's file is gone that the policy engine knows of: an empty one is never made in its place (P149).
 */
export async function openStores(options: {
  readonly home: OpenHome;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly onEvents: (events: readonly EngineEvent[]) => void;
  /** A store in another process, which then holds the memory (`charon.md` §7). */
  readonly upstream?: MemoryStore | undefined;
}): Promise<Stores> {
  const { home, clock, ids, log, onEvents, upstream } = options;
  const { paths, keys, tuning } = home;
  const common = { readOnly: home.recovery, clock, ids, log, onEvents, tuning };
  let opened: Lethe | undefined;
  const getStore = (): MemoryStore => {
    if (upstream !== undefined) return upstream;
    if (opened === undefined) throw new Fault('STORE_UNAVAILABLE', 'The store is not open yet. Try again.');
    return opened;
  };
  const charon = await openCharon({
    ...common,
    path: paths.charonDb,
    anchorPath: paths.anchor,
    quotas: quotasOf(home.settings.limits),
    keys: {
      obol: keys.obol,
      earlierObols: keys.earlierObols,
      oauth: keys.oauth,
      ledger: keys.ledger,
      earlierLedgers: keys.earlierLedgers,
      mergeSigning: keys.merges.signing,
    },
    store: letheAdapter(getStore),
    ...(home.isReadingCopy ? { echoAudit: (entry) => log.warn({ audit: entry }, 'audit') } : {}),
  });
  try {
    if (upstream === undefined && !existsSync(paths.letheDb) && charon.knowsProjects()) throw storeIsGone();
    const { lethe, file } = openLetheFile({
      ...common,
      path: paths.letheDb,
      headSigner: keys.head,
      mergeKeys: keys.merges.verifying,
      earlierMergeKeys: keys.merges.earlier,
      ownerPrincipal: charon.owner().principal_id,
      furtherMigrations: ledgerMigrations,
    });
    opened = lethe;
    return {
      charon,
      store: getStore(),
      lethe,
      ledger: openLedger({ file, clock, ids, log }),
      close: async () => {
        try {
          lethe.close();
        } finally {
          await charon.close();
        }
      },
    };
  } catch (thrown) {
    await charon.close();
    throw thrown;
  }
}

function storeIsGone(): Fault {
  return new Fault(
    'HOME_INVALID',
    'lethe.db is missing from this home, which had projects in it. Put the file back, or restore a backup; an empty one is never made in its place.',
    { file: 'lethe.db' },
  );
}

function quotasOf(limits: Limits): Quotas {
  return {
    openProposals: limits.open_proposals,
    refs: limits.refs,
    payloadBytesPerDay: limits.payload_bytes_per_day,
    pendingRegistrations: limits.pending_registrations,
  };
}
