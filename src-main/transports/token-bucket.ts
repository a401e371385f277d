import type { Clock } from '../base/clock.ts';

/** A rate: `perSecond` on average, `burst` at once. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Lets so many through and makes the rest wait. */
export interface TokenBucket {
  /** Takes `count` tokens and returns 0; or takes none and returns the milliseconds after which they will be there. */
  take(count: number): number;
}

/**
 * A full bucket. A clock that steps back refills nothing; one that steps ahead fills it at most to the brim.
 * More tokens than `burst` at once are never there: the wait returned is then that for a full bucket.
 */
export function tokenBucket(rate: Rate, clock: Clock): TokenBucket {
  let tokens = rate.burst;
  let filledAtMs = clock.nowMs();
  return {
    take(count) {
      const nowMs = clock.nowMs();
      tokens = Math.min(rate.burst, tokens + (Math.max(0, nowMs - filledAtMs) * rate.perSecond) / 1_000);
      filledAtMs = nowMs;
      if (count <= tokens) {
        tokens -= count;
        return 0;
      }
      return Math.max(1, Math.ceil(((Math.min(count, rate.burst) - tokens) * 1_000) / rate.perSecond));
    },
  };
}
