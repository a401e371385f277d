import { type Importance, importances } from '../../../src-preload/contract/ledger.ts';
import { assert } from '../../base/assert.ts';

/** An importance as a number that sorts the most important first. */
export function rankOf(importance: Importance): number {
  return importances.indexOf(importance);
}

/** The importance of a stored number. */
export function importanceOf(rank: number | null): Importance {
  const importance = rank === null ? undefined : importances[rank];
  assert(importance !== undefined, 'a put has one of the four importances');
  return importance;
}

/** The numbers of an importance and all above it, the most important first; all of them without a floor. */
export function ranksFrom(floor: Importance | undefined): readonly number[] {
  return importances.slice(0, floor === undefined ? importances.length : rankOf(floor) + 1).map(rankOf);
}
