import type { Digest } from '../../src-preload/contract/ids.ts';
import type { LedgerAgentId, Policy } from '../../src-preload/contract/ledger.ts';
import { assert } from '../base/assert.ts';
import { toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import { amendmentText, verifyPassportSignature } from '../canonical/consolidation.ts';
import type { ReadableDb, WritableDb } from '../sqlite/driver.ts';
import type { AmendInput, Ledger } from './api.ts';
import { decodePageCursor, encodePageCursor } from './rules/page-cursor.ts';
import { policyDigest } from './rules/policy-digest.ts';
import { readPolicyParams, requireTemplate } from './rules/policy-params.ts';
import { findAgent } from './tables/agents.ts';
import { findCustodyRow } from './tables/custody.ts';
import {
  findLastPolicySeq,
  findPolicyRow,
  insertPolicyRow,
  listPolicyRows,
  type PolicyRow,
} from './tables/policies.ts';
import { addPolicyToTotals } from './tables/totals.ts';

/** The policy of an agent that stands (`G40`). Throws CONSOLIDATION_POLICY_NOT_FOUND, INTEGRITY_MISMATCH. */
export function readPolicy(db: ReadableDb, agentId: LedgerAgentId): Policy {
  const agent = findAgent(db, agentId);
  const row = agent === undefined ? undefined : findPolicyRow(db, agent);
  if (row === undefined)
    throw new Fault(
      'CONSOLIDATION_POLICY_NOT_FOUND',
      'This agent has declared no consolidation policy yet. Amend it once to declare the first.',
    );
  return toPolicy(agentId, row);
}

/** Every version of an agent's policy, the newest first (`G40`). Throws CURSOR_INVALID, INTEGRITY_MISMATCH. */
export function listPolicies(
  db: ReadableDb,
  input: Parameters<Ledger['listPolicies']>[0],
): ReturnType<Ledger['listPolicies']> {
  const { agentId, limit } = input;
  const question = ['ledger-policies', agentId];
  const before = decodePageCursor(question, input.cursor, Number.MAX_SAFE_INTEGER);
  const agent = findAgent(db, agentId);
  if (agent === undefined) return { policies: [] };
  const rows = listPolicyRows(db, agent, before, limit + 1);
  const policies = rows.slice(0, limit).map((row) => toPolicy(agentId, row));
  const last = policies.at(-1);
  return {
    policies,
    ...(rows.length > limit && last !== undefined ? { nextCursor: encodePageCursor(question, last.version) } : {}),
  };
}

/** Appends a version of an agent's policy (`G40`); its signature was verified by the caller. Throws as `Ledger.appendPolicy`. */
export function appendPolicy(db: WritableDb, input: AmendInput, policyId: string, nowMs: number): Policy {
  const { agentId, templateId, params, challengeId, challengeNonce, issuedAt, expiresAt, publicKey, signature } = input;
  requireTemplate(templateId);
  const canonical = readPolicyParams(params);
  const agent = findAgent(db, agentId);
  const custody = agent === undefined ? undefined : findCustodyRow(db, agent);
  if (agent === undefined || custody?.kind !== 'open') throw amendForbidden();
  assert(
    verifyPassportSignature(publicKey, amendmentText(input), signature),
    'the signature of an amendment is verified before it is appended',
  );
  const last = findPolicyRow(db, agent);
  const undigested = {
    seq: findLastPolicySeq(db) + 1,
    agent,
    version: (last?.version ?? 0) + 1,
    policy_id: policyId,
    supersedes: last?.policy_id ?? null,
    template_id: templateId,
    params: canonical,
    custody_epoch: custody.epoch,
    challenge_id: challengeId,
    challenge_nonce: challengeNonce,
    issued_at: issuedAt,
    expires_at: expiresAt,
    public_key: publicKey,
    signature,
    amended_ms: nowMs,
    previous_digest: last?.row_digest ?? '',
  };
  const row = { ...undigested, row_digest: policyDigest(agentId, undigested) };
  insertPolicyRow(db, row);
  addPolicyToTotals(db, agent);
  return toPolicy(agentId, row);
}

/** The refusal of an amendment while nobody has custody. */
function amendForbidden(): Fault {
  return new Fault(
    'CONSOLIDATION_POLICY_AMEND_FORBIDDEN',
    'No custody epoch of this agent is open, so its policy cannot be amended. Ask the owner to open one.',
  );
}

function toPolicy(agentId: LedgerAgentId, row: PolicyRow): Policy {
  if (policyDigest(agentId, row) !== row.row_digest)
    throw new Fault(
      'INTEGRITY_MISMATCH',
      'A stored policy is not what its digest says: something was altered or damaged. Run lethe verify-chain.',
      { agent_id: agentId, version: row.version },
    );
  return {
    policy_id: row.policy_id,
    version: row.version,
    supersedes: row.supersedes,
    template_id: row.template_id,
    params: JSON.parse(row.params),
    custody_epoch: row.custody_epoch,
    amended_at: toTimestamp(row.amended_ms),
    digest: row.row_digest as Digest,
  };
}
