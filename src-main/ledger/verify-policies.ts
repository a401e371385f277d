import { checking, type Findings } from '../base/findings.ts';
import { amendmentText, verifyPassportSignature } from '../canonical/consolidation.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import { custodyDigest, policyDigest } from './rules/policy-digest.ts';
import { readPolicyParams } from './rules/policy-params.ts';
import { findAgentId } from './tables/agents.ts';
import { findCustodyStep, listCustodyAfter } from './tables/custody.ts';
import { findPolicyVersion, listPoliciesAfter, type PolicyRow } from './tables/policies.ts';
import type { Tallies } from './verify-tallies.ts';

const rowsPerChunk = 50;

/** Verifies the next policies after a number (`G52`): digest, chain, signature; answers the last one, undefined at the end. */
export function verifyPolicies(
  db: ReadableDb,
  after: number,
  findings: Findings,
  tallies: Tallies,
): number | undefined {
  const rows = listPoliciesAfter(db, after, rowsPerChunk);
  let last = after;
  for (const row of rows) {
    if (row.seq !== last + 1) findings.add(`policy number ${last + 1}`, 'it is missing');
    last = row.seq;
    const agentId = findAgentId(db, row.agent) ?? `number ${row.agent}`;
    tallies.countPolicy(row.agent);
    const where = `policy ${row.version} of agent ${agentId}`;
    checking(findings, where, () => {
      if (policyDigest(agentId, row) !== row.row_digest) findings.add(where, 'it is not what its digest says');
      const previous = row.version === 1 ? undefined : findPolicyVersion(db, row.agent, row.version - 1);
      if (row.previous_digest !== (previous?.row_digest ?? '') || row.supersedes !== (previous?.policy_id ?? null))
        findings.add(where, 'it does not follow the policy before it');
      if (!isSigned(row)) findings.add(where, 'its signature does not hold');
    });
  }
  return rows.at(-1)?.seq;
}

function isSigned(row: PolicyRow): boolean {
  const params = JSON.parse(row.params);
  if (readPolicyParams(params) !== row.params) return false;
  const text = amendmentText({
    challengeId: row.challenge_id,
    challengeNonce: row.challenge_nonce,
    templateId: row.template_id,
    params,
    issuedAt: row.issued_at,
    expiresAt: row.expires_at,
  });
  return verifyPassportSignature(row.public_key, text, row.signature);
}

/** Verifies the next steps of custody after a number (`G52`); answers the last one, undefined at the end. */
export function verifyCustody(db: ReadableDb, after: number, findings: Findings, tallies: Tallies): number | undefined {
  const rows = listCustodyAfter(db, after, rowsPerChunk);
  let last = after;
  for (const row of rows) {
    if (row.seq !== last + 1) findings.add(`custody step number ${last + 1}`, 'it is missing');
    last = row.seq;
    const agentId = findAgentId(db, row.agent) ?? `number ${row.agent}`;
    tallies.countCustody(row.agent);
    const where = `custody step ${row.step} of agent ${agentId}`;
    checking(findings, where, () => {
      if (custodyDigest(agentId, row) !== row.row_digest) findings.add(where, 'it is not what its digest says');
      const previous = row.step === 1 ? undefined : findCustodyStep(db, row.agent, row.step - 1);
      if (row.previous_digest !== (previous?.row_digest ?? ''))
        findings.add(where, 'it does not follow the step before it');
    });
  }
  return rows.at(-1)?.seq;
}
