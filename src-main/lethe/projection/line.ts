import { assert } from '../../base/assert.ts';
import type { Place } from '../tables/chains.ts';
import { type Sight, sees } from './sight.ts';

/**
 * Of a head and its first-parent ancestors the oldest one that holds to a property which, once it holds, holds for every
 * later one. Jumps up the line: a logarithm of its depth (`L101`). The head itself must hold to it.
 */
export function findOldestOnLine(sight: Sight, head: Place, holds: (place: Place) => boolean): Place {
  assert(holds(head), 'the head of the line holds to the property');
  let place = head;
  while (place.firstParent !== 0) {
    const jumped = sight.places.get(place.jump);
    const parent = sight.places.get(place.firstParent);
    if (holds(jumped)) place = jumped;
    else if (holds(parent)) place = parent;
    else return place;
  }
  return place;
}

/** One turn of the way from a head to a changeset in replay order: down a line to `place`, then to its second parent. */
export interface Turn {
  readonly place: Place;
  /** The changeset itself stands here; otherwise it came in by the second parent of `place`. */
  readonly arrived: boolean;
}

/**
 * The way from a head to a changeset that it sees: on each first-parent line the changeset that brought it in (`L94`).
 * Replay order is the order of these ways: the later the turn the later the place, the changeset itself after what it merges.
 */
export function findWay(sight: Sight, head: number, seq: number): readonly Turn[] {
  const way: Turn[] = [];
  const goal = sight.places.get(seq);
  let from = head;
  for (;;) {
    const start = sight.places.get(from);
    const place =
      start.chain === goal.chain ? goal : findOldestOnLine(sight, start, (one) => sees(sight, one.seq, seq));
    const arrived = place.seq === seq;
    way.push({ place, arrived });
    if (arrived) return way;
    assert(place.secondParent !== 0, 'what a line brings in it brings in by a merge');
    from = place.secondParent;
  }
}

/** Negative when the changeset at the end of the first way is later in replay order than that of the second. */
export function compareWays(one: readonly Turn[], other: readonly Turn[]): number {
  for (const [index, turn] of one.entries()) {
    const against = other[index];
    if (against === undefined) return 1;
    if (turn.place.seq !== against.place.seq) return against.place.depth - turn.place.depth;
    if (turn.arrived !== against.arrived) return turn.arrived ? -1 : 1;
  }
  return 0;
}
