import type { AuditEntry, Door } from '../../../src-preload/contract/audit.ts';
import type { Confirmed } from '../../../src-preload/contract/commands/owner-word.ts';
import { ambiguousOutcome } from './audit-entry.ts';

/** The first object id of an entry about an act of power outside the desk: no id has a space, so nothing else reads like it. */
const marks: ReadonlyMap<string, Confirmed> = new Map([
  ['confirmed: off', 'off'],
  ['confirmed: passphrase', 'passphrase'],
  ['confirmed: desk', 'desk'],
]);

/** Outcomes after which the act was done, or may have been: nobody knows that of an ambiguous one. */
const doneOutcomes: ReadonlySet<string> = new Set(['ok', 'settled: applied', ambiguousOutcome]);

/** How the entry says that it was confirmed, as its first object id. */
export function markOf(confirmed: Confirmed): string {
  return `confirmed: ${confirmed}`;
}

/** How the act of an entry was confirmed; undefined for an entry about anything else. */
export function confirmedBy(entry: Pick<AuditEntry, 'object_ids'>): Confirmed | undefined {
  return marks.get(entry.object_ids[0] ?? '');
}

/** The owner's doors outside the desk, and the engine itself, which settles what a crash cut off from its outcome. */
const doorsOutside: ReadonlySet<Door> = new Set(['owner_socket', 'files', 'system']);

/** Whether an entry is the outcome of an act of power that was done outside the desk (`charon.md` §8). */
export function isActOfPower(entry: Pick<AuditEntry, 'door' | 'object_ids' | 'phase' | 'outcome'>): boolean {
  const isDone = entry.phase === 'outcome' && doneOutcomes.has(entry.outcome);
  return isDone && doorsOutside.has(entry.door) && confirmedBy(entry) !== undefined;
}
