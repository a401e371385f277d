import type { Conflict, Resolution } from '../../../src-preload/contract/conflict.ts';
import { memoriesOf, sidesOf } from '../../ui/conflicts.ts';

/** Whether nothing has to be done about a blocking conflict before the merge: it was settled, or what is drafted can be carried out. */
export function isSettled(conflict: Conflict, kept: Resolution | undefined): boolean {
  if (kept !== undefined) return kept.problem === undefined;
  return conflict.status === 'resolved' && !sidesOf(conflict).isOneMemory;
}

/**
 * Whether a choice can be made here: of an open conflict, and of one that was settled before but for which nothing can be
 * written now, since the merge has to say what becomes of a memory that both sides changed.
 */
export function mayBeSettled(conflict: Conflict, kept: Resolution | undefined): boolean {
  return conflict.status === 'open' || !isSettled(conflict, kept);
}

/**
 * A key for each conflict on screen by what it is about, so that a move of the target, which gives every conflict another id, does
 * not take the text from under whoever is typing. Conflicts about the same have their ids.
 */
export function cardKeys(conflicts: readonly Conflict[]): readonly string[] {
  const abouts = conflicts.map((conflict) =>
    JSON.stringify([conflict.conflict_type, [...memoriesOf(conflict)].toSorted()]),
  );
  const amounts = new Map<string, number>();
  for (const about of abouts) amounts.set(about, (amounts.get(about) ?? 0) + 1);
  return abouts.map((about, index) => (amounts.get(about) === 1 ? about : (conflicts[index]?.conflict_id ?? about)));
}
