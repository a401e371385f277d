import { setImmediate } from 'node:timers/promises';
import type { Findings } from '../../base/findings.ts';
import { compareUtf8 } from '../../canonical/text.ts';

/**
 * Calls `page` with where the page before ended until it answers undefined, letting others work in between. A damaged
 * order of rows can lead back to where it was: a page that does not go on in the order of `rank` ends the walk.
 */
export async function eachPage<Position>(
  findings: Findings,
  first: Position,
  rank: (position: Position) => number | string,
  page: (after: Position) => Position | undefined | Promise<Position | undefined>,
): Promise<void> {
  for (let [at, next] = [first, await page(first)]; next !== undefined; [at, next] = [next, await page(next)]) {
    if (!isAfter(rank(next), rank(at))) {
      findings.add('the order of stored rows', 'a table or an index of the database file is damaged');
      return;
    }
    await setImmediate();
  }
}

function isAfter(next: number | string, at: number | string): boolean {
  return typeof next === 'string' && typeof at === 'string' ? compareUtf8(next, at) > 0 : next > at;
}

/** The rank of a position that is its own. */
export const own = <Position extends number | string>(position: Position): Position => position;
