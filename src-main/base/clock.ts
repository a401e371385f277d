import { type Timestamp, timestampSchema } from '../../src-preload/contract/ids.ts';

/** Where the time comes from. A parameter everywhere, so that a test decides what time it is. */
export interface Clock {
  /** Milliseconds since 1970 in UTC. */
  nowMs(): number;
}

/** The clock of this machine. */
export const systemClock: Clock = { nowMs: () => Date.now() };

/** Milliseconds as wire text: RFC 3339 UTC, trailing zeros of the fraction trimmed (`lethe.md` §1.0). */
export function toTimestamp(ms: number): Timestamp {
  const [whole, fraction] = new Date(ms).toISOString().slice(0, -1).split('.');
  const trimmed = (fraction ?? '').replace(/0+$/, '');
  return timestampSchema.parse(trimmed === '' ? `${whole}Z` : `${whole}.${trimmed}Z`);
}

/** Wire text as milliseconds, the part below a millisecond cut off. NaN never comes out of a parsed Timestamp. */
export function fromTimestamp(timestamp: Timestamp): number {
  return Date.parse(timestamp);
}
