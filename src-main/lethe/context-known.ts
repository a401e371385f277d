import type { Sight } from './projection/sight.ts';
import { lastOpOf } from './rules/numbers.ts';
import { diffVectors } from './rules/vector.ts';
import type { Place } from './tables/chains.ts';
import { listTouchesBack, type Touch } from './tables/touches.ts';

const touchesPerRead = 64;

/** One chain of which touches are still to come, newest first. */
interface Run {
  readonly chain: number;
  /** Op number at or below which its next touch is. */
  upTo: number;
  touches: Touch[];
}

/**
 * Every touch that a head sees, whatever it made of its memory, by op number from the newest on: those of one memory one
 * after the other. A chain is read only once the walk has come down to it, so that taking a few costs little.
 * @param below only touches by earlier ops than this one
 */
export function* walkTouchesBack(sight: Sight, head: Place, below: number): IterableIterator<Touch> {
  const others = diffVectors(sight.nodes, head.vector, undefined).filter(({ chain }) => chain !== head.chain);
  const runs: Run[] = [{ chain: head.chain, left: head.seq }, ...others].map(({ chain, left }) => ({
    chain,
    upTo: Math.min(lastOpOf(left), below - 1),
    touches: [],
  }));
  while (runs.length > 0) {
    const newest = runs.reduce((most, run) => (run.upTo > most.upTo ? run : most));
    const [touch] = newest.touches.length === 0 ? readMore(sight, newest) : newest.touches;
    if (touch === undefined) runs.splice(runs.indexOf(newest), 1);
    else if (touch.key < newest.upTo) newest.upTo = touch.key;
    else {
      newest.touches.shift();
      yield touch;
      newest.upTo = newest.touches[0]?.key ?? touch.key - 1;
    }
  }
}

/** Reads the next touches of a chain; answers them. */
function readMore(sight: Sight, run: Run): readonly Touch[] {
  const touches = listTouchesBack(sight.db, run.chain, 0, run.upTo, touchesPerRead);
  // An op touches two memories at most: a full read ends before its last op, which may not be whole.
  const last = touches.length < touchesPerRead ? undefined : touches.at(-1)?.key;
  run.touches = touches.filter((touch) => touch.key !== last);
  return run.touches;
}
