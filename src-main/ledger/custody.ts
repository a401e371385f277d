import type { Custody, LedgerAgentId } from '../../src-preload/contract/ledger.ts';
import { toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { ReadableDb, WritableDb } from '../sqlite/driver.ts';
import { custodyDigest } from './rules/policy-digest.ts';
import { ensureAgent, findAgent } from './tables/agents.ts';
import { type CustodyRow, findCustodyRow, findLastCustodySeq, insertCustodyRow } from './tables/custody.ts';
import { addCustodyToTotals } from './tables/totals.ts';

/** Who has custody of an agent, or had it last (`G41`); undefined before the first epoch. Throws INTEGRITY_MISMATCH. */
export function readCustody(db: ReadableDb, agentId: LedgerAgentId): Custody | undefined {
  const agent = findAgent(db, agentId);
  const row = agent === undefined ? undefined : findCustodyRow(db, agent);
  return row === undefined ? undefined : toCustody(agentId, row);
}

/** Opens the next epoch (`G41`). Throws CUSTODY_STATE when one is open. */
export function openEpoch(db: WritableDb, agentId: LedgerAgentId, custodian: string, nowMs: number): Custody {
  const agent = ensureAgent(db, agentId);
  const last = findCustodyRow(db, agent);
  if (last?.kind === 'open')
    throw new Fault('CUSTODY_STATE', 'A custody epoch of this agent is open. Close it first.', { epoch: last.epoch });
  return appendStep(db, agentId, { agent, kind: 'open', custodian, written_ms: nowMs }, last);
}

/** Closes the open epoch (`G41`). Throws CUSTODY_STATE when none is open. */
export function closeEpoch(db: WritableDb, agentId: LedgerAgentId, nowMs: number): Custody {
  const agent = findAgent(db, agentId);
  const last = agent === undefined ? undefined : findCustodyRow(db, agent);
  if (last?.kind !== 'open')
    throw new Fault('CUSTODY_STATE', 'No custody epoch of this agent is open. Open one first.', {
      epoch: last?.epoch ?? null,
    });
  const { agent: number, custodian } = last;
  return appendStep(db, agentId, { agent: number, kind: 'close', custodian, written_ms: nowMs }, last);
}

function appendStep(
  db: WritableDb,
  agentId: LedgerAgentId,
  draft: Pick<CustodyRow, 'agent' | 'kind' | 'custodian' | 'written_ms'>,
  last: CustodyRow | undefined,
): Custody {
  const step = (last?.step ?? 0) + 1;
  const undigested = {
    ...draft,
    seq: findLastCustodySeq(db) + 1,
    step,
    epoch: Math.ceil(step / 2),
    previous_digest: last?.row_digest ?? '',
  };
  const row = { ...undigested, row_digest: custodyDigest(agentId, undigested) };
  insertCustodyRow(db, row);
  addCustodyToTotals(db, draft.agent);
  return toCustody(agentId, row);
}

function toCustody(agentId: LedgerAgentId, row: CustodyRow): Custody {
  if (custodyDigest(agentId, row) !== row.row_digest)
    throw new Fault(
      'INTEGRITY_MISMATCH',
      'The custody of an agent is not what its digest says: something was altered or damaged. Run lethe verify-chain.',
      { agent_id: agentId, step: row.step },
    );
  return {
    state: row.kind === 'open' ? 'open' : 'closed',
    current_epoch: row.epoch,
    current_custodian: row.custodian,
    since: toTimestamp(row.written_ms),
    transfer_count: row.epoch - 1,
  };
}
