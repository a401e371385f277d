import fc from 'fast-check';
import { expect, test } from 'vitest';
import { tokenBucket } from '../../src-main/transports/token-bucket.ts';
import { fakeClock } from './stage.ts';

test('T12 a bucket lets a burst through, then so many a second, and says exactly how long to wait', () => {
  const clock = fakeClock();
  const bucket = tokenBucket({ perSecond: 4, burst: 8 }, clock);
  expect(Array.from({ length: 9 }, () => bucket.take(1))).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 250]);
  clock.advance(249);
  const rest = bucket.take(1);
  expect(rest).toBeGreaterThan(0);
  expect(rest).toBeLessThanOrEqual(2);
  clock.advance(1);
  expect(bucket.take(1)).toBe(0);
  clock.advance(1_000_000);
  expect(bucket.take(9)).toBeGreaterThan(0);
  expect(bucket.take(8)).toBe(0);
});

test('T12 a clock that steps back takes nothing away that was there', () => {
  const clock = fakeClock();
  const bucket = tokenBucket({ perSecond: 1, burst: 3 }, clock);
  clock.advance(-3_600_000);
  expect([bucket.take(1), bucket.take(1), bucket.take(1)]).toEqual([0, 0, 0]);
  expect(bucket.take(1)).toBe(1_000);
});

test('T12 no order of calls and no step of the clock gets more through than burst and rate allow', () => {
  const step = fc.record({ ms: fc.integer({ min: -500, max: 500 }), count: fc.integer({ min: 1, max: 5 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const clock = fakeClock();
      const bucket = tokenBucket({ perSecond: 10, burst: 5 }, clock);
      let taken = 0;
      let aheadMs = 0;
      for (const { ms, count } of steps) {
        clock.advance(ms);
        aheadMs += Math.max(0, ms);
        if (bucket.take(count) === 0) taken += count;
      }
      expect(taken).toBeLessThanOrEqual(5 + (aheadMs * 10) / 1_000);
    }),
  );
});

test('T12 whoever waits as long as it was told gets through', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 50 }), (counts) => {
      const clock = fakeClock();
      const bucket = tokenBucket({ perSecond: 7, burst: 5 }, clock);
      for (const count of counts) {
        const waitMs = bucket.take(count);
        if (waitMs === 0) continue;
        clock.advance(waitMs);
        expect(bucket.take(count)).toBe(0);
      }
    }),
  );
});
