import type { WritableDb } from '../sqlite/driver.ts';
import { appendVersion } from './append.ts';
import { listDue } from './tables/heads.ts';

/** Values that one step of sweeping ends. */
const sweptMax = 100;

/**
 * Appends an `expire` version to keys whose time is over (`G6`), one bounded step; true when there may be more. Readers see
 * no difference: what it makes durable was already so for them.
 */
export function sweepEnded(db: WritableDb, nowMs: number): boolean {
  const due = listDue(db, nowMs, sweptMax);
  for (const { agent, key } of due) appendVersion(db, { agent, key, nowMs, change: { kind: 'expire' } });
  return due.length === sweptMax;
}
