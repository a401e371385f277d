import {
  dayMs,
  openProposalsMax,
  ownRefsMax,
  payloadBytesPerDayMax,
  pendingRegistrationsMax,
} from '../../../src-preload/contract/limits.ts';
import { Fault } from '../../base/fault.ts';

/** How much a principal may have and send (`charon.md` §3), and how many registrations may wait. */
export interface Quotas {
  readonly openProposals: number;
  readonly refs: number;
  /** Of one principal in one day of UTC. */
  readonly payloadBytesPerDay: number;
  /** Of all agents together. */
  readonly pendingRegistrations: number;
}

export const quotasDefault: Quotas = {
  openProposals: openProposalsMax,
  refs: ownRefsMax,
  payloadBytesPerDay: payloadBytesPerDayMax,
  pendingRegistrations: pendingRegistrationsMax,
};

/** What one call takes of its principal's quotas. */
export interface QuotaUse {
  readonly refs: number;
  readonly payloadBytes: number;
}

/** What a principal has used: refs for good, bytes on `day` (days of UTC since 1970). */
export interface UsedQuota extends QuotaUse {
  readonly day: number;
}

/** The day of a moment, in days of UTC since 1970. */
export function dayOf(nowMs: number): number {
  return Math.floor(nowMs / dayMs);
}

/**
 * What is used after one more use at that moment: bytes of an earlier day are forgotten. Refs given back never make less
 * than none.
 */
export function usedAfter(before: UsedQuota | undefined, use: QuotaUse, nowMs: number): UsedQuota {
  const day = dayOf(nowMs);
  return {
    refs: Math.max(0, (before?.refs ?? 0) + use.refs),
    day,
    payloadBytes: (before?.day === day ? before.payloadBytes : 0) + use.payloadBytes,
  };
}

/** Throws `QUOTA` when the use leads beyond what a principal may have; what is given back is always taken. */
export function requireWithin(quotas: Quotas, used: UsedQuota, use: QuotaUse, nowMs: number): void {
  if (use.refs > 0 && used.refs > quotas.refs) {
    throw new Fault(
      'QUOTA',
      `This principal has made ${quotas.refs} branches, which is the limit. Commit to one that it has.`,
      { quota: 'refs', max: quotas.refs },
    );
  }
  if (use.payloadBytes > 0 && used.payloadBytes > quotas.payloadBytesPerDay) {
    throw new Fault(
      'QUOTA',
      `This principal has sent ${quotas.payloadBytesPerDay} bytes to be written today, which is the limit. It begins anew at 00:00 UTC.`,
      {
        quota: 'payload_bytes_per_day',
        max: quotas.payloadBytesPerDay,
        retry_after_ms: (dayOf(nowMs) + 1) * dayMs - nowMs,
      },
    );
  }
}

/** Throws `QUOTA` when a principal has as many open proposals as it may have. */
export function requireProposalRoom(quotas: Quotas, open: number): void {
  if (open < quotas.openProposals) return;
  throw new Fault(
    'QUOTA',
    `This principal has ${quotas.openProposals} open proposals, which is the limit. Cancel one, or wait for a review.`,
    { quota: 'open_proposals', max: quotas.openProposals },
  );
}
