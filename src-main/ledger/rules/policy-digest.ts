import { domainDigest } from '../../canonical/digest.ts';

/** A policy as its digest sees it: every column of its row, its agent by id. */
export type DigestedPolicy = {
  readonly seq: number;
  readonly version: number;
  readonly policy_id: string;
  readonly supersedes: string | null;
  readonly template_id: string;
  readonly params: string;
  readonly custody_epoch: number;
  readonly challenge_id: string;
  readonly challenge_nonce: string;
  readonly issued_at: string;
  readonly expires_at: string;
  readonly public_key: string;
  readonly signature: string;
  readonly amended_ms: number;
  /** The digest of the policy that this one supersedes, empty for the first. */
  readonly previous_digest: string;
};

/** `row_digest` of a policy. */
export function policyDigest(agentId: string, row: DigestedPolicy): string {
  return domainDigest('ledger/policy/v1', {
    agent_id: agentId,
    amended_ms: row.amended_ms,
    challenge_id: row.challenge_id,
    challenge_nonce: row.challenge_nonce,
    custody_epoch: row.custody_epoch,
    expires_at: row.expires_at,
    issued_at: row.issued_at,
    params: row.params,
    policy_id: row.policy_id,
    previous_digest: row.previous_digest,
    public_key: row.public_key,
    seq: row.seq,
    signature: row.signature,
    supersedes: row.supersedes,
    template_id: row.template_id,
    version: row.version,
  });
}

/** A step of custody as its digest sees it. */
export type DigestedCustody = {
  readonly seq: number;
  readonly step: number;
  readonly epoch: number;
  readonly kind: string;
  readonly custodian: string;
  readonly written_ms: number;
  readonly previous_digest: string;
};

/** `row_digest` of a step of custody. */
export function custodyDigest(agentId: string, row: DigestedCustody): string {
  return domainDigest('ledger/custody/v1', {
    agent_id: agentId,
    custodian: row.custodian,
    epoch: row.epoch,
    kind: row.kind,
    previous_digest: row.previous_digest,
    seq: row.seq,
    step: row.step,
    written_ms: row.written_ms,
  });
}
