import { envelopeLifeMs } from '../../../src-preload/contract/limits.ts';
import type { MergeStrategy } from '../../../src-preload/contract/proposal.ts';
import { toTimestamp } from '../../base/clock.ts';
import { type MergeEnvelope, signMergeEnvelope } from '../../canonical/signature.ts';
import type { MacKey } from './audit-entry.ts';

/** What a signed authorization says beside its times and its key. */
export interface MergeGrant {
  readonly projectId: string;
  readonly refName: string;
  readonly expectedHead: string;
  readonly newHead: string;
  readonly proposalId: string;
  readonly proposalDigest: string;
  readonly reviewer: string;
  readonly merger: string;
  readonly strategy: MergeStrategy;
  /** 16 random bytes in hex, fresh for every attempt. */
  readonly nonce: string;
}

/** Random bytes of a nonce (`charon.md` §5). */
export const nonceBytes = 16;

/**
 * The authorization of one attempt as the store takes it: JSON text `{"envelope", "signature"}` (`lethe.md` §8), good for two
 * minutes from `nowMs`.
 */
export function signAuthorization(grant: MergeGrant, key: MacKey, nowMs: number): string {
  const envelope: MergeEnvelope = {
    version: 'memory-git-merge/v2',
    project_id: grant.projectId,
    ref_name: grant.refName,
    expected_head: grant.expectedHead,
    new_head: grant.newHead,
    proposal_id: grant.proposalId,
    proposal_digest: grant.proposalDigest,
    reviewer_principal: grant.reviewer,
    merger_principal: grant.merger,
    strategy: grant.strategy,
    issued_at: toTimestamp(nowMs),
    expires_at: toTimestamp(nowMs + envelopeLifeMs),
    nonce: grant.nonce,
    key_id: key.id,
  };
  return JSON.stringify({ envelope, signature: signMergeEnvelope(key.key, envelope) });
}
