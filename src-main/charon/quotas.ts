import type { PrincipalId } from '../../src-preload/contract/ids.ts';
import { type CharonContext, write } from './context.ts';
import { type QuotaUse, requireWithin, usedAfter } from './rules/quota.ts';
import { findUsedQuota, upsertUsedQuota } from './tables/quota-use.ts';

/** Throws `QUOTA` when a use has no room left; takes nothing (`charon.md` §3). */
export function requireQuota({ db, clock, quotas }: CharonContext, principalId: PrincipalId, use: QuotaUse): void {
  const nowMs = clock.nowMs();
  requireWithin(quotas, usedAfter(findUsedQuota(db, principalId), use, nowMs), use, nowMs);
}

/**
 * Takes a use from the quotas of a principal, for good: all of it or, with `QUOTA`, nothing. Negative refs give back those
 * of a call that made none after all.
 */
export function takeQuota(context: CharonContext, principalId: PrincipalId, use: QuotaUse): Promise<void> {
  return write(context, (db) => {
    const nowMs = context.clock.nowMs();
    const used = usedAfter(findUsedQuota(db, principalId), use, nowMs);
    requireWithin(context.quotas, used, use, nowMs);
    upsertUsedQuota(db, principalId, used);
  });
}
