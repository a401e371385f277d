import { performance } from 'node:perf_hooks';
import type { EngineEvent } from '../../src-preload/contract/events.ts';
import type { Clock } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { Ids } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Signer } from '../canonical/signature.ts';
import { type Batch, createBatch, type WriteVerb } from '../sqlite/batch.ts';
import type { Connection, ReadableDb } from '../sqlite/driver.ts';
import { closeStore, openStore, openStoreReadOnly, type StoreTuning } from '../sqlite/open.ts';
import type { Lethe } from './api.ts';
import { changesetNotFound, getChangesetRow, readChangeset } from './changeset-rows.ts';
import { commitChangeset } from './commit.ts';
import { readGraph } from './graph.ts';
import { initProject } from './init.ts';
import { readLog } from './log.ts';
import { letheMigrations } from './migrations/migrations.ts';
import { listOriginators } from './originators.ts';
import { isAncestor } from './projection/view.ts';
import { requireProject } from './projects.ts';
import { createRef, listProjectRefs } from './refs.ts';
import { findChangesetRow, findChangesetRowByKey } from './tables/changesets.ts';
import { listProjects } from './tables/projects.ts';
import { findRef } from './tables/refs.ts';
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
  /** The owner's principal, who may merge what is their own (`lethe.md` §0.1). */
  readonly ownerPrincipal?: string | undefined;
  /** Hears what became durable, once a transaction. Must not throw. */
  readonly onEvents: (events: readonly EngineEvent[]) => void;
  readonly log: Log;
  readonly tuning?: StoreTuning | undefined;
}

/** Shortest merge key that is taken (`lethe.md` §8). */
const mergeKeyBytesMin = 32;

type ReadVerb = <Result>(verb: (db: ReadableDb) => Result) => Result;
type Write = <Result>(verb: WriteVerb<Result, EngineEvent>) => Promise<Result>;

/**
 * Opens the store (`Lethe`): the database with its migrations, the batch that all writes share, and every verb over them.
 * Throws HOME_INVALID and STORE_UNAVAILABLE as `openStore` does, KEYS_INVALID for a merge key that is too short.
 */
export function openLethe(options: LetheOptions): HistoryVerbs & Pick<Lethe, 'close'> {
  requireMergeKeys(options.mergeKeys);
  const connection = options.readOnly
    ? openStoreReadOnly(options.path, letheMigrations, options.tuning)
    : openStore(options.path, letheMigrations, options.clock, options.tuning);
  return letheOver(connection, options);
}

/** The verbs over an open connection, which `close` closes. */
export function letheOver(connection: Connection, options: LetheOptions): HistoryVerbs & Pick<Lethe, 'close'> {
  const context: VerbContext = {
    clock: options.clock,
    ids: options.ids,
    headSigner: options.headSigner,
    mergeKeys: options.mergeKeys,
    ownerPrincipal: options.ownerPrincipal,
  };
  const batch = createBatch<EngineEvent>(connection, {
    onCommitted: options.onEvents,
    monotonicMs: () => performance.now(),
  });
  const read: ReadVerb = (verb) => connection.reading(() => verb(connection));
  const write: Write = options.readOnly ? refuseWrite : (verb) => batch.write(verb);
  return {
    ...historyVerbs(read, write, context),
    close: () => closeLethe(connection, batch, options.readOnly),
  };
}

type HistoryVerbs = Pick<
  Lethe,
  | 'listProjects'
  | 'getProject'
  | 'initProject'
  | 'listRefs'
  | 'findRef'
  | 'createRef'
  | 'commit'
  | 'findChangeset'
  | 'findChangesetByKey'
  | 'log'
  | 'graph'
  | 'isAncestor'
  | 'originators'
>;

function historyVerbs(read: ReadVerb, write: Write, context: VerbContext): HistoryVerbs {
  return {
    listProjects: () => read(listProjects),
    getProject: (projectId) => read((db) => requireProject(db, projectId)),
    initProject: (input) => write((db, emit) => initProject(db, emit, context, input)),
    listRefs: (projectId, page) => read((db) => listProjectRefs(db, projectId, page)),
    findRef: (projectId, refName) => read((db) => findRef(db, projectId, refName)?.ref),
    createRef: (input) => write((db, emit) => createRef(db, emit, context, input)),
    commit: (input) => write((db, emit) => commitChangeset(db, emit, context, input)),
    findChangeset: (changesetId) =>
      read((db) => {
        const row = findChangesetRow(db, changesetId);
        return row === undefined ? undefined : readChangeset(db, row);
      }),
    findChangesetByKey: (projectId, author, key) =>
      read((db) => {
        const row = findChangesetRowByKey(db, projectId, author, key);
        return row === undefined ? undefined : readChangeset(db, row);
      }),
    log: (input) => read((db) => readLog(db, input)),
    graph: (input) => read((db) => readGraph(db, input)),
    isAncestor: (ancestor, descendant) =>
      read((db) =>
        isAncestor(
          db,
          getChangesetRow(db, ancestor, 'ancestor').seq,
          getChangesetRow(db, descendant, 'descendant').seq,
        ),
      ),
    originators: (from, to) =>
      read((db) => {
        const [fromRow, toRow] = [getChangesetRow(db, from, 'from'), getChangesetRow(db, to, 'to')];
        if (fromRow.project_id !== toRow.project_id) throw changesetNotFound(to, 'to');
        return listOriginators(db, fromRow.seq, toRow.seq);
      }),
  };
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
