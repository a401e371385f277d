import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { percentile, race } from '../../bench/lib/measure.ts';
import { rateRatio, timeRatio, toRow } from '../../bench/lib/rows.ts';
import { toTable } from '../../bench/lib/table.ts';
import { queryClasses, queryOf, seededRandom, textOf } from '../../bench/lib/texts.ts';

const timing = (name: string, samplesMs: readonly number[], perSecond: number) => ({
  ...{ name, samplesMs, perSecond },
  cpuMs: 1.5,
});

test('a percentile is a sample that so many do not exceed', () => {
  const hundred = timing(
    'hundred',
    Array.from({ length: 100 }, (_, index) => index + 1),
    1,
  );
  expect([0.5, 0.95, 0.99].map((share) => percentile(hundred, share))).toEqual([50, 95, 99]);
  expect(percentile(timing('one', [7], 1), 0.5)).toBe(7);
});

test('contestants take turns, a unit at least each, and the warm-up does not count', async () => {
  const order: string[] = [];
  const contestant = (name: string) => ({ name, workers: 1, once: () => void order.push(name) });
  const measured = await race([contestant('a'), contestant('b')], { rounds: 2, turnMs: 0 });
  expect(order).toEqual(['a', 'b', 'a', 'b', 'a', 'b']);
  expect(measured('a').samplesMs).toHaveLength(2);
});

test('units that lead a turn are done and not timed', async () => {
  const done: string[] = [];
  const measured = await race([{ name: 'a', workers: 1, lead: 3, once: () => void done.push('a') }], {
    rounds: 2,
    turnMs: 0,
  });
  expect([done.length, measured('a').samplesMs.length]).toEqual([12, 2]);
});

test('preparation is not timed, and workers work at the same time', async () => {
  const measured = await race(
    [
      { name: 'prepared', workers: 1, prepare: () => setTimeout(400), once: () => setTimeout(5) },
      { name: 'four', workers: 4, once: () => setTimeout(20) },
    ],
    { rounds: 1, turnMs: 1 },
  );
  expect(percentile(measured('prepared'), 1)).toBeLessThan(300);
  expect(measured('prepared').perSecond).toBeGreaterThan(1_000 / 300);
  expect(measured('four').samplesMs).toHaveLength(4);
  expect(measured('four').perSecond).toBeGreaterThan(1_000 / 20 / 2);
});

test('processor time is that of the work alone, and of all who work together', async () => {
  const spin = (ms: number): void => {
    const from = process.cpuUsage();
    for (let used = 0; used < ms * 1_000; ) used = process.cpuUsage(from).user + process.cpuUsage(from).system;
  };
  const measured = await race(
    [
      { name: 'prepared', workers: 1, prepare: () => spin(60), once: () => spin(10) },
      { name: 'three', workers: 3, once: () => spin(10) },
    ],
    { rounds: 1, turnMs: 1 },
  );
  for (const name of ['prepared', 'three'] as const) {
    expect(measured(name).cpuMs).toBeGreaterThan(9);
    expect(measured(name).cpuMs).toBeLessThan(50);
  }
});

test('a ratio says what it compares: rates as they are, times by a percentile', () => {
  const [ours, theirs] = [timing('ours', [2, 4], 300), timing('theirs', [1, 8], 100)];
  expect(rateRatio(ours, theirs)).toEqual({ to: 'theirs', by: 'rate', ratio: 3 });
  expect(timeRatio(ours, theirs, 'p50')).toEqual({ to: 'theirs', by: 'p50', ratio: 2 });
  expect(timeRatio(ours, theirs, 'p95')).toEqual({ to: 'theirs', by: 'p95', ratio: 0.5 });
});

test('the table has a line a row and says what was not reached', () => {
  const ours = timing('ours', [2, 4], 300);
  const missed = toRow('W0', 'ours', ours, { must: { text: '≥ 5 × the floor', reached: false } });
  const result = { workload: 'W0', rows: [missed, toRow('W0', 'floor', ours)], peak_rss_mib: 90, load: 1, took_ms: 5 };
  const lines = toTable([result]).split('\n');
  expect(lines).toHaveLength(4);
  expect(new Set(lines.map((line) => line.length)).size).toBe(1);
  expect(lines[2]).toMatch(/W0 .* ours .* 1\.5 .* ≥ 5 × the floor \| NO/);
});

test('texts are the same in every run, about 200 bytes, and each class of query but a miss quotes one', () => {
  expect(textOf(41)).toBe(textOf(41));
  const texts = Array.from({ length: 400 }, (_, index) => textOf(index));
  const mean = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / texts.length;
  expect(mean).toBeGreaterThan(150);
  expect(mean).toBeLessThan(250);
  for (const kind of queryClasses) {
    const words = queryOf(kind, texts.length, seededRandom(1)).split(' ');
    const quoted = texts.some((text) => words.every((word) => text.includes(word)));
    expect([kind, quoted]).toEqual([kind, kind !== 'a miss']);
  }
});
