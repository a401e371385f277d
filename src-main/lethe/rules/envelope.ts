import { z } from 'zod';
import { clockSkewMs, envelopeLifeMaxMs } from '../../../src-preload/contract/limits.ts';
import { mergeStrategySchema } from '../../../src-preload/contract/proposal.ts';
import { Fault } from '../../base/fault.ts';
import { type MergeEnvelope, verifyMergeEnvelope } from '../../canonical/signature.ts';
import { type MergeAuthorization, parseAuthorization } from './authorization-text.ts';

/** The one version of the signed envelope (`lethe.md` §2). */
export const envelopeVersion = 'memory-git-merge/v2';

/** What a request says for itself; its envelope must say the same. */
export interface AdvanceClaims {
  readonly project_id: string;
  readonly ref_name: string;
  readonly expected_head: string;
  readonly new_head: string;
  readonly proposal_id: string;
  readonly reviewer_principal: string;
}

/**
 * What an authorization is worth. `unverified`: no key of ours signed it, so nothing of it is believed and its nonce stays.
 * `refused`: it is ours but does not fit, and its nonce is spent by the attempt (`lethe.md` D20).
 */
export type EnvelopeJudgement =
  | { readonly kind: 'unverified'; readonly fault: Fault }
  | { readonly kind: 'refused'; readonly fault: Fault; readonly authorization: MergeAuthorization }
  | { readonly kind: 'accepted'; readonly authorization: MergeAuthorization };

const noncePattern = /^[0-9a-f]{32}$/;
const digestPattern = /^[0-9a-f]{64}$/;
const signaturePattern = /^[0-9a-f]{64}$/i;
const instantSchema = z.iso.datetime({ offset: true });

/** Judges an authorization against the request, the keys and the time, in the order of `lethe.md` §8, 3a to 3o. */
export function judgeEnvelope(
  text: string,
  claims: AdvanceClaims,
  mergeKeys: ReadonlyMap<string, Uint8Array>,
  nowMs: number,
): EnvelopeJudgement {
  const authorization = parseAuthorization(text);
  if (authorization === undefined)
    return { kind: 'unverified', fault: malformed('it is not {"envelope": {…}, "signature": "…"}') };
  const { envelope, signature } = authorization;
  if (envelope.version !== envelopeVersion)
    return { kind: 'unverified', fault: malformed(`version must be ${envelopeVersion}`) };
  const key = mergeKeys.get(envelope.key_id);
  if (key === undefined) return { kind: 'unverified', fault: refused('key_id names no merge key of this store') };
  if (!signaturePattern.test(signature))
    return { kind: 'unverified', fault: malformed('signature must be 64 hex characters') };
  if (!verifyMergeEnvelope(key, envelope, signature))
    return { kind: 'unverified', fault: refused('the signature does not verify') };
  const reason = findFieldReason(envelope, claims) ?? findTimeReason(envelope, nowMs);
  return reason === undefined
    ? { kind: 'accepted', authorization }
    : { kind: 'refused', fault: malformed(reason), authorization };
}

/** Whether a nonce can be recorded at all. */
export function isNonce(text: string): boolean {
  return noncePattern.test(text);
}

function findFieldReason(envelope: MergeEnvelope, claims: AdvanceClaims): string | undefined {
  const claimed = ['project_id', 'ref_name', 'expected_head', 'new_head', 'proposal_id', 'reviewer_principal'] as const;
  for (const field of claimed) if (envelope[field] !== claims[field]) return `${field} differs from the request`;
  if (envelope.merger_principal === '') return 'merger_principal is missing';
  if (!mergeStrategySchema.safeParse(envelope.strategy).success)
    return 'strategy must be fast_forward, merge_commit or cherry_pick';
  if (!isNonce(envelope.nonce)) return 'nonce must be 32 lower-case hex characters';
  if (!digestPattern.test(envelope.proposal_digest)) return 'proposal_digest must be 64 lower-case hex characters';
  return undefined;
}

function findTimeReason(envelope: MergeEnvelope, nowMs: number): string | undefined {
  const issuedMs = instantMs(envelope.issued_at);
  const expiresMs = instantMs(envelope.expires_at);
  if (issuedMs === undefined) return 'issued_at must be an RFC 3339 time';
  if (expiresMs === undefined) return 'expires_at must be an RFC 3339 time';
  if (issuedMs > nowMs + clockSkewMs) return 'issued_at lies in the future: check the clocks';
  if (expiresMs <= issuedMs) return 'expires_at must be after issued_at';
  if (expiresMs - issuedMs > envelopeLifeMaxMs)
    return `an envelope lives ${envelopeLifeMaxMs / 60_000} minutes at most`;
  if (nowMs >= expiresMs + clockSkewMs) return 'it has expired: merge again for a fresh one';
  return undefined;
}

function instantMs(text: string): number | undefined {
  return instantSchema.safeParse(text).success ? Date.parse(text) : undefined;
}

function malformed(reason: string): Fault {
  return new Fault('MERGE_AUTHORIZATION_MALFORMED', `invalid merge authorization: ${reason}.`, { reason });
}

function refused(reason: string): Fault {
  return new Fault('MERGE_AUTHORIZATION_REFUSED', `invalid merge authorization: ${reason}.`, { reason });
}
