import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { JsonValue } from '../../src-preload/contract/json.ts';
import { ledgerValueBytesMax } from '../../src-preload/contract/ledger.ts';
import { agent, key, openTempLedger, other, type TempLedger } from './temp-ledger.ts';

let temp: TempLedger;
beforeEach(() => {
  temp = openTempLedger();
});
afterEach(() => temp.discard());

const get = (name: string) => temp.ledger.get(agent, key(name));
const versionsOf = (name: string) =>
  temp.ledger
    .history({ agentId: agent, key: key(name), limit: 100 })
    .versions.map((row) => `${row.version} ${row.kind}`);

describe('puts', () => {
  test('G1 versions of a key count from 1, each key and each agent for itself', async () => {
    for (const value of ['a', 'b', 'c']) await temp.put('k', value);
    await temp.put('k', 'theirs', { agentId: other });
    const first = await temp.put('l', 1);
    expect(first.entry.version).toBe(1);
    expect(get('k')).toMatchObject({ version: 3, value: 'c' });
    expect(temp.ledger.get(other, key('k'))).toMatchObject({ version: 1, value: 'theirs' });
    expect(versionsOf('k')).toEqual(['3 put', '2 put', '1 put']);
  });

  test('G1 eight writers on one key: versions 1 to n, no gap, none twice, none lost', async () => {
    const written = await Promise.all(
      Array.from({ length: 8 }, async (_, writer) => {
        const own: (readonly [number, string])[] = [];
        for (let count = 0; count < 25; count += 1) {
          const value = `${writer}/${count}`;
          own.push([(await temp.put('shared', value)).entry.version, value]);
        }
        return own;
      }),
    );
    const all = written.flat().sort(([one], [two]) => one - two);
    expect(all.map(([version]) => version)).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
    for (const [version, value] of all)
      expect(temp.ledger.valueAt({ agentId: agent, key: key('shared'), point: { version } })).toMatchObject({ value });
    expect(await temp.ledger.verify()).toMatchObject({ ok: true, checked: 200 });
  });

  test('G2 created_at is of the first put since the key was last absent, updated_at of the latest', async () => {
    const at = (seconds: number) => `2026-11-30T12:00:${String(seconds).padStart(2, '0')}Z`;
    await temp.put('k', 1);
    temp.clock.advance(5_000);
    await temp.put('k', 2);
    expect(get('k')).toMatchObject({ created_at: at(0), updated_at: at(5) });
    temp.clock.advance(5_000);
    await temp.remove('k');
    temp.clock.advance(5_000);
    await temp.put('k', 3, { ttl: 10 });
    expect(get('k')).toMatchObject({ version: 4, created_at: at(15), updated_at: at(15), expires_at: at(25) });
    temp.clock.advance(10_000);
    await temp.put('k', 4);
    expect(get('k')).toMatchObject({ version: 5, created_at: at(25), expires_at: null });
  });

  test('G3 whatever JSON is put comes back, and nothing of the one before remains', async () => {
    const values: JsonValue[] = [
      null,
      false,
      0,
      -1.5,
      '',
      'é😀\u0000"\\',
      '\ud800',
      [],
      {},
      [[], {}, [null]],
      JSON.parse('{"__proto__":{"a":1},"constructor":2,"":3}'),
    ];
    await temp.put('k', 'first', { importance: 'critical', source: 'unit', confidence: 0.5, ttl: 60 });
    for (const value of values) {
      await temp.put('k', value);
      const read = get('k');
      expect(JSON.stringify(read.value)).toBe(JSON.stringify(value));
      expect(read.size_bytes).toBe(Buffer.byteLength(JSON.stringify(value)));
      expect(read).toMatchObject({ importance: 'normal', source: null, confidence: 1, expires_at: null });
    }
  });

  test('G3 a value of 524 288 bytes is taken and one byte more is refused, nothing written', async () => {
    const text = 'é'.repeat((ledgerValueBytesMax - 2) / 2);
    await expect(temp.put('k', text)).resolves.toMatchObject({ entry: { size_bytes: ledgerValueBytesMax } });
    await expect(temp.put('k', `${text}x`)).rejects.toMatchObject({ code: 'MEMORY_VALUE_TOO_LARGE' });
    expect(get('k').version).toBe(1);
  });

  test('G4 what a put is derived from is kept as declared, whether there are such versions or not', async () => {
    await temp.put('k', 1, { derivedFrom: { start_version: 7, end_version: 9 } });
    expect(get('k').derived_from).toEqual({ start_version: 7, end_version: 9 });
    await temp.remove('k');
    await temp.put('k', 2);
    expect(get('k').derived_from).toBeUndefined();
  });

  test('G11 a put or delete that expects another version is refused with both, and nothing is written', async () => {
    await temp.put('k', 1);
    await temp.put('k', 2, { ifVersion: 1 });
    await expect(temp.put('k', 3, { ifVersion: 1 })).rejects.toMatchObject({
      code: 'MEMORY_LEDGER_VERSION_CONFLICT',
      data: { key: 'k', expected: 1, actual: 2 },
    });
    await expect(temp.ledger.delete({ agentId: agent, key: key('k'), ifVersion: 1 })).rejects.toMatchObject({
      data: { actual: 2 },
    });
    await temp.ledger.delete({ agentId: agent, key: key('k'), ifVersion: 2 });
    await expect(temp.put('k', 4, { ifVersion: 3 })).rejects.toMatchObject({ data: { expected: 3, actual: null } });
    await expect(temp.put('new', 4, { ifVersion: 1 })).rejects.toMatchObject({ data: { actual: null } });
    expect(versionsOf('k')).toEqual(['3 delete', '2 put', '1 put']);
    expect(temp.ledger.usage(agent)).toMatchObject({ ledger_rows: 3 });
  });

  test('G11 of eight writers that expect the same version one is taken', async () => {
    await temp.put('k', 0);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, (_, writer) => temp.put('k', writer, { ifVersion: 1 })),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(get('k').version).toBe(2);
  });
});

describe('ends', () => {
  test('G5 a delete appends a tombstone that takes a number; what is absent is not deleted again', async () => {
    await temp.put('k', 1, { derivedFrom: { start_version: 1, end_version: 1 } });
    expect(await temp.remove('k')).toMatchObject({ version: 2, usage: { live_keys: 0, bytes: 0, ledger_rows: 2 } });
    expect(() => get('k')).toThrow(expect.objectContaining({ code: 'MEMORY_KEY_NOT_FOUND' }));
    await expect(temp.remove('k')).rejects.toMatchObject({ code: 'MEMORY_KEY_NOT_FOUND' });
    await expect(temp.remove('never')).rejects.toMatchObject({ code: 'MEMORY_KEY_NOT_FOUND' });
    await expect(temp.remove('k', other)).rejects.toMatchObject({ code: 'MEMORY_KEY_NOT_FOUND' });
    expect(temp.ledger.listAgents({ limit: 10 }).agents).toHaveLength(1);
    await temp.put('k', 3);
    expect(versionsOf('k')).toEqual(['3 put', '2 delete', '1 put']);
  });

  test('G6 a value whose time is over is absent everywhere, swept or not, and cannot be deleted', async () => {
    await temp.put('k', { word: 'lighthouse' }, { ttl: 10 });
    await temp.put('stays', { word: 'lighthouse' });
    await temp.maintain();
    temp.clock.advance(9_999);
    expect(get('k').version).toBe(1);
    temp.clock.advance(1);
    const look = () => ({
      list: temp.ledger.list({ agentId: agent, page: 1, perPage: 10 }),
      prefixed: temp.ledger.list({ agentId: agent, page: 1, perPage: 10, prefix: 'k' }).total,
      context: temp.ledger.context({ agentId: agent, limit: 10 }).map((entry) => entry.key),
      search: temp.ledger
        .search({ agentId: agent, query: 'lighthouse', limit: 10, threshold: 0 })
        .map((entry) => entry.key),
      live: temp.ledger.usage(agent).live_keys,
      bytes: temp.ledger.usage(agent).bytes,
    });
    const before = look();
    expect(() => get('k')).toThrow(expect.objectContaining({ code: 'MEMORY_KEY_NOT_FOUND' }));
    await expect(temp.remove('k')).rejects.toMatchObject({ code: 'MEMORY_KEY_NOT_FOUND' });
    expect(before).toMatchObject({ prefixed: 0, context: ['stays'], search: ['stays'], live: 1, bytes: 21 });
    expect(before.list).toMatchObject({ total: 1, entries: [{ key: 'stays' }] });
    await temp.maintain();
    expect(versionsOf('k')).toEqual(['2 expire', '1 put']);
    expect(look()).toEqual(before);
    expect(await temp.ledger.verify()).toMatchObject({ ok: true });
  });

  test('G6 the end of a value is an act of nobody: it counts no operation', async () => {
    await temp.put('k', 1, { ttl: 1 });
    temp.clock.advance(1_000);
    await temp.maintain();
    expect(temp.ledger.usage(agent)).toMatchObject({ ops: 1, ledger_rows: 2 });
  });
});
