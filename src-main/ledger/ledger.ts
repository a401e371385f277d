import type { EngineEvent } from '../../src-preload/contract/events.ts';
import type { LedgerAgentId } from '../../src-preload/contract/ledger.ts';
import type { Clock } from '../base/clock.ts';
import type { Ids } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { WriteVerb } from '../sqlite/batch.ts';
import type { WritableDb } from '../sqlite/driver.ts';
import type { StoreFile } from '../sqlite/store-file.ts';
import { openTextHealth, type TextHealth } from '../text/health.ts';
import type { Ledger } from './api.ts';
import { closeEpoch, openEpoch, readCustody } from './custody.ts';
import { listAgents, listKeys, readDiff, readHistory, readValueAt } from './history.ts';
import { appendPolicy, listPolicies, readPolicy } from './policies.ts';
import { draftPut, put, tombstone } from './put.ts';
import { listEntries, readContext, readUsage, readValue } from './reads.ts';
import { toLedgerFault } from './refusals.ts';
import { searchValues } from './search.ts';
import { sweepEnded } from './sweep.ts';
import { openTextUpkeep } from './text-upkeep.ts';
import { verifyLedger } from './verify-ledger.ts';

export interface LedgerOptions {
  /** The open `lethe.db`, with `ledgerMigrations` applied; who opened it closes it. */
  readonly file: StoreFile<EngineEvent>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

/** Opens the memory ledger over the file that it shares with the store of changesets. There is nothing to close. */
export function openLedger(options: LedgerOptions): Ledger {
  const health = openTextHealth();
  return { ...memoryVerbs(options, health), ...ownerVerbs(options), ...upkeepVerbs(options, health) };
}

type Write = <Result>(verb: WriteVerb<Result, EngineEvent>) => Promise<Result>;

/** Writes whose refusals by the store are the ledger's own. */
function writerOf(file: StoreFile<EngineEvent>): Write {
  return async (verb) => {
    try {
      return await file.write(verb);
    } catch (thrown) {
      throw toLedgerFault(thrown);
    }
  };
}

function changed(agentId: LedgerAgentId): EngineEvent {
  return { kind: 'ledger_changed', agent_id: agentId };
}

function memoryVerbs(
  { file, clock }: LedgerOptions,
  health: TextHealth,
): Pick<Ledger, 'put' | 'delete' | 'get' | 'list' | 'context' | 'search' | 'usage'> {
  const write = writerOf(file);
  return {
    put: async (input) => {
      const draft = draftPut(input);
      return write((db, emit) => {
        const nowMs = clock.nowMs();
        const entry = put(db, input, draft, nowMs);
        emit(changed(input.agentId));
        return { entry, ttl: draft.ttlSeconds, usage: readUsage(db, input.agentId, nowMs) };
      });
    },
    delete: (input) =>
      write((db, emit) => {
        const nowMs = clock.nowMs();
        const version = tombstone(db, input, nowMs);
        emit(changed(input.agentId));
        return { version, usage: readUsage(db, input.agentId, nowMs) };
      }),
    get: (agentId, key) => file.read((db) => readValue(db, agentId, key, clock.nowMs())),
    list: (input) => file.read((db) => listEntries(db, input, clock.nowMs())),
    context: (input) => file.read((db) => readContext(db, input, clock.nowMs())),
    search: (input) => file.read((db) => searchValues(db, input, clock.nowMs(), health)),
    usage: (agentId) => file.read((db) => readUsage(db, agentId, clock.nowMs())),
  };
}

function ownerVerbs({
  file,
  clock,
  ids,
}: LedgerOptions): Pick<
  Ledger,
  | 'listAgents'
  | 'listKeys'
  | 'history'
  | 'valueAt'
  | 'diff'
  | 'getPolicy'
  | 'listPolicies'
  | 'appendPolicy'
  | 'findCustody'
  | 'openCustody'
  | 'closeCustody'
> {
  const write = writerOf(file);
  /** A write of the owner's or of a policy, told to who listens. */
  const act = <Result>(agentId: LedgerAgentId, verb: (db: WritableDb) => Result): Promise<Result> =>
    write((db, emit) => {
      const result = verb(db);
      emit(changed(agentId));
      return result;
    });
  return {
    listAgents: (page) => file.read((db) => listAgents(db, page, clock.nowMs())),
    listKeys: (input) => file.read((db) => listKeys(db, input, clock.nowMs())),
    history: (input) => file.read((db) => readHistory(db, input)),
    valueAt: (input) => file.read((db) => readValueAt(db, input)),
    diff: (input) => file.read((db) => readDiff(db, input)),
    getPolicy: (agentId) => file.read((db) => readPolicy(db, agentId)),
    listPolicies: (input) => file.read((db) => listPolicies(db, input)),
    appendPolicy: (input) => act(input.agentId, (db) => appendPolicy(db, input, ids.uuidv7(), clock.nowMs())),
    findCustody: (agentId) => file.read((db) => readCustody(db, agentId)),
    openCustody: (agentId, custodian) => act(agentId, (db) => openEpoch(db, agentId, custodian, clock.nowMs())),
    closeCustody: (agentId) => act(agentId, (db) => closeEpoch(db, agentId, clock.nowMs())),
  };
}

function upkeepVerbs({ file, clock, log }: LedgerOptions, health: TextHealth): Pick<Ledger, 'verify' | 'maintain'> {
  const keepText = openTextUpkeep({ write: file.write, health, log });
  return {
    verify: async (onProgress) => {
      const { report, isIndexSound } = await file.snapshots.reading((read) => verifyLedger(read, onProgress));
      if (!isIndexSound) health.noticeDamage();
      if (!report.ok)
        log.error({ findings: report.findings.slice(0, 20) }, 'verification of the ledger found what does not hold');
      return report;
    },
    maintain: async () => (await file.write((db) => sweepEnded(db, clock.nowMs()))) || (await keepText()),
  };
}
