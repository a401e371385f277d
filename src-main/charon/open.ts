import { dirname } from 'node:path';
import type { AuditEntry } from '../../src-preload/contract/audit.ts';
import type { EngineEvent } from '../../src-preload/contract/events.ts';
import { type Clock, toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { Ids } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import { type Batch, createBatch } from '../sqlite/batch.ts';
import type { Connection } from '../sqlite/driver.ts';
import { closeStore, defaultTuning, openStore, openStoreReadOnly, type StoreTuning } from '../sqlite/open.ts';
import { openAuditLedger, systemRecord } from './audit.ts';
import { type Anchor, openAnchor } from './audit-anchor.ts';
import { type CharonContext, type CharonKeys, createMemos } from './context.ts';
import { charonMigrations } from './migrations/list.ts';
import { makeOwner } from './principals.ts';
import { formatHomeId } from './rules/home-id.ts';
import { type Quotas, quotasDefault } from './rules/quota.ts';
import { renewSettings, storeOwnerSelfMerge } from './settings.ts';
import type { MemoryStorePort } from './store-port.ts';
import { anchorState } from './tables/anchor-state.ts';
import { auditHead, findAuditEntry } from './tables/audit-entries.ts';
import { findHomeId, insertHome } from './tables/home.ts';

/** What a home gives its policy engine. */
export interface CharonOptions {
  /** charon.db, made when it is not there. */
  readonly path: string;
  /** The anchor of the audit ledger, made when it is not there. */
  readonly anchorPath: string;
  /** Recovery: charon.db takes audit entries only, and must be of this version (`charon.md` §7). */
  readonly readOnly: boolean;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly keys: CharonKeys;
  readonly store: MemoryStorePort;
  /** Called after events became durable, with those of one transaction. Must not throw. */
  readonly onEvents: (events: readonly EngineEvent[]) => void;
  readonly log: Log;
  readonly tuning?: StoreTuning | undefined;
  /** What is not said here is as the protocol says. */
  readonly quotas?: Partial<Quotas> | undefined;
  /** Hears every audit entry, where the file itself will not be kept (`charon.md` §7). */
  readonly echoAudit?: ((entry: AuditEntry) => void) | undefined;
  /** Milliseconds of a monotonic clock. */
  readonly monotonicMs?: (() => number) | undefined;
}

/** A database of Charon's that is open, with everything that verbs need. */
export interface OpenedCharon {
  readonly context: CharonContext;
  /** Checkpoints and closes the file. */
  close(): void;
}

/**
 * Opens charon.db, makes home, owner and first audit entry at first start, and opens the ledger with its anchor.
 * Throws `HOME_INVALID` in recovery for a home that was never started or is of another version, and the store's own faults.
 */
export async function openContext(options: CharonOptions): Promise<OpenedCharon> {
  const { clock, ids, keys, log } = options;
  const connection = connect(options);
  let anchor: Anchor | undefined;
  try {
    const monotonicMs = options.monotonicMs ?? (() => performance.now());
    const batch = createBatch<EngineEvent>(connection, { onCommitted: options.onEvents, monotonicMs });
    if (!options.readOnly) await makeHome(batch, options);
    const homeId = findHomeId(connection);
    if (homeId === undefined)
      throw new Fault(
        'HOME_INVALID',
        'This home was never started, so there is nothing to recover. Start it once normally.',
      );
    anchor = await openAnchor(options.anchorPath, anchorState(connection));
    const audit = openAuditLedger({
      db: connection,
      batch,
      clock,
      macKey: keys.ledger,
      earlierKeys: keys.earlierLedgers ?? new Map(),
      anchor,
      anchorPath: options.anchorPath,
      anchorElsewhere: dirname(options.anchorPath) !== dirname(options.path),
      echo: options.echoAudit,
      log,
    });
    if (anchor.wasCut)
      audit.noteSystem('audit.anchor_cut', 'the anchor file is shorter than what was written to it', []);
    await startKey(batch, audit.append, options, connection);
    if (!options.readOnly) await batch.write((db) => renewSettings(db, keys, homeId));
    const context: CharonContext = {
      db: connection,
      batch,
      clock,
      ids,
      keys,
      store: options.store,
      audit,
      log,
      homeId,
      readOnly: options.readOnly,
      openedSeq: auditHead(connection).seq,
      quotas: { ...quotasDefault, ...options.quotas },
      mergesInFlight: new Set(),
      choresInFlight: new Map(),
      memos: createMemos(),
    };
    return { context, close: () => closeStore(connection) };
  } catch (thrown) {
    await anchor?.close();
    connection.close();
    throw thrown;
  }
}

/** In recovery nothing is migrated: another version than this one is refused, untouched (`charon.md` §7). */
function connect(options: CharonOptions): Connection {
  const tuning = options.tuning ?? defaultTuning;
  if (options.readOnly) openStoreReadOnly(options.path, charonMigrations, tuning).close();
  return openStore(options.path, charonMigrations, options.clock, tuning);
}

/** Home id, owner and the settings of a new home, in one transaction; does nothing in a home that has them. */
async function makeHome(batch: Batch<EngineEvent>, options: CharonOptions): Promise<void> {
  const { clock, ids, keys } = options;
  await batch.write((db) => {
    if (findHomeId(db) !== undefined) return;
    const nowMs = clock.nowMs();
    const homeId = formatHomeId(ids.randomBytes(16));
    insertHome(db, homeId, toTimestamp(nowMs));
    makeOwner(db, ids, toTimestamp(nowMs));
    storeOwnerSelfMerge(db, { homeId, macKey: keys.ledger, nowMs, on: true });
  });
}

/** A MAC key that the last entry does not name begins with an entry that says so (`charon.md` §7). */
async function startKey(
  batch: Batch<EngineEvent>,
  append: CharonContext['audit']['append'],
  options: CharonOptions,
  connection: Connection,
): Promise<void> {
  const last = findAuditEntry(connection, auditHead(connection).seq);
  if (last?.mac_key_id === options.keys.ledger.id) return;
  await batch.write((db) =>
    append(db, systemRecord(options.clock, 'audit.key_started', 'started', [options.keys.ledger.id])),
  );
}
