import type { ReadableDb } from '../../sqlite/driver.ts';
import { lastOpOf } from '../rules/numbers.ts';
import { listTouchesOfChain, type Touch } from '../tables/touches.ts';
import { inOrder } from './in-order.ts';
import type { ChainRange, Sight } from './sight.ts';

const touchesPerReadMax = 512;

/** The touches of several runs of chains by op number, after an op. Each run is read in chunks that grow. */
export function* touchesInOrder(sight: Sight, ranges: readonly ChainRange[], after: number): IterableIterator<Touch> {
  yield* inOrder(
    ranges.map((range) => touchesOfRange(sight.db, range, after)),
    (touch) => touch.key,
  );
}

/** The touches of one run after an op, oldest first. */
export function* touchesOfRange(db: ReadableDb, range: ChainRange, after: number): IterableIterator<Touch> {
  let from = Math.max(after, range.after === 0 ? 0 : lastOpOf(range.after));
  for (let limit = 8; ; limit = Math.min(limit * 2, touchesPerReadMax)) {
    const touches = listTouchesOfChain(db, range.chain, from, lastOpOf(range.upTo), limit);
    // An op touches two memories at most: the last op of a full chunk is read again, whole.
    const last = touches.at(-1)?.key;
    const whole = touches.length < limit ? touches : touches.filter((touch) => touch.key !== last);
    yield* whole;
    if (touches.length < limit) return;
    from = whole.at(-1)?.key ?? from;
  }
}
