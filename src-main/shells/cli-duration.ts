import { dayMs, obolLifeMaxMs } from '../../src-preload/contract/limits.ts';
import { usageFault } from './cli-program.ts';

const hourMs = 3_600_000;

/** The life of a token as it is typed, `7d`, `12h` or `never`, in milliseconds; null for never. Throws INPUT_INVALID. */
export function parseDuration(text: string): number | null {
  if (text === 'never') return null;
  const [, count, unit] = /^(\d{1,4})([dh])$/.exec(text) ?? [];
  const ms = Number(count) * (unit === 'd' ? dayMs : hourMs);
  if (ms >= hourMs && ms <= obolLifeMaxMs) return ms;
  throw usageFault('--expires', 'a number of days or hours such as 7d or 12h, at most 90d, or never.');
}
