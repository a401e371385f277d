import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { diffJson } from '../../src-main/ledger/rules/json-diff.ts';
import { timestampSchema } from '../../src-preload/contract/ids.ts';
import type { JsonValue } from '../../src-preload/contract/json.ts';
import type { LedgerChange, LedgerPoint } from '../../src-preload/contract/ledger.ts';
import { agent, key, openTempLedger, other, type TempLedger } from './temp-ledger.ts';

let temp: TempLedger;
beforeEach(() => {
  temp = openTempLedger();
});
afterEach(() => temp.discard());

const notFound = expect.objectContaining({ code: 'MEMORY_KEY_NOT_FOUND' });
const badCursor = expect.objectContaining({ code: 'CURSOR_INVALID' });
const at = (point: LedgerPoint, name = 'k') => temp.ledger.valueAt({ agentId: agent, key: key(name), point });
const moment = (seconds: number): LedgerPoint => ({
  at: timestampSchema.parse(new Date(Date.UTC(2026, 10, 30, 12, 0, seconds)).toISOString()),
});

test('G30 agents and keys that have a history are listed in pages, tombstones and ended values among them', async () => {
  await temp.put('b', 1);
  await temp.put('a', 'xy', { importance: 'high', ttl: 5 });
  await temp.put('c', 1);
  await temp.remove('c');
  await temp.put('theirs', 1, { agentId: other });
  const first = temp.ledger.listAgents({ limit: 1 });
  expect(first.agents).toMatchObject([{ agent_id: agent, usage: { live_keys: 2, ledger_rows: 4 } }]);
  const second = temp.ledger.listAgents({ limit: 1, cursor: first.nextCursor });
  expect(second.agents.map((one) => one.agent_id)).toEqual([other]);
  expect(second.nextCursor).toBeUndefined();
  temp.clock.advance(5_000);
  const page = temp.ledger.listKeys({ agentId: agent, limit: 2 });
  expect(page.keys).toEqual([
    {
      key: 'a',
      version: 1,
      state: 'expired',
      importance: 'high',
      size_bytes: 4,
      written_at: '2026-11-30T12:00:00Z',
      expires_at: '2026-11-30T12:00:05Z',
    },
    expect.objectContaining({ key: 'b', state: 'live', expires_at: null }),
  ]);
  const rest = temp.ledger.listKeys({ agentId: agent, limit: 2, cursor: page.nextCursor });
  expect(rest).toEqual({
    keys: [expect.objectContaining({ key: 'c', version: 2, state: 'deleted', importance: null })],
  });
  expect(temp.ledger.listKeys({ agentId: agent, limit: 9, prefix: 'b' }).keys.map((one) => one.key)).toEqual(['b']);
  expect(() => temp.ledger.listKeys({ agentId: other, limit: 2, cursor: page.nextCursor })).toThrow(badCursor);
  expect(() => temp.ledger.listAgents({ limit: 2, cursor: page.nextCursor })).toThrow(badCursor);
});

test('G31 the versions of a key come newest first, in pages that writing between them does not shift', async () => {
  for (let number = 1; number <= 5; number += 1) await temp.put('k', number);
  const page = temp.ledger.history({ agentId: agent, key: key('k'), limit: 2 });
  await temp.put('k', 6);
  const next = temp.ledger.history({ agentId: agent, key: key('k'), limit: 2, cursor: page.next_cursor });
  const last = temp.ledger.history({ agentId: agent, key: key('k'), limit: 2, cursor: next.next_cursor });
  const numbers = [page, next, last].map((one) => one.versions.map((version) => version.version));
  expect(numbers).toEqual([[5, 4], [3, 2], [1]]);
  expect(last.next_cursor).toBeUndefined();
  expect(page.versions[0]).toMatchObject({ kind: 'put', size_bytes: 1, ttl: null, redacted: false });
  expect(() => temp.ledger.history({ agentId: agent, key: key('never'), limit: 2 })).toThrow(notFound);
  expect(() => temp.ledger.history({ agentId: other, key: key('k'), limit: 2 })).toThrow(notFound);
  for (const cursor of [
    `${page.next_cursor}x`,
    'e30',
    '!',
    temp.ledger.listKeys({ agentId: agent, limit: 1 }).nextCursor ?? 'none',
  ])
    expect(() => temp.ledger.history({ agentId: agent, key: key('k'), limit: 2, cursor })).toThrow(badCursor);
});

describe('a key at a point', () => {
  beforeEach(async () => {
    await temp.put('k', 'one');
    temp.clock.advance(10_000);
    await temp.put('k', 'two', { ttl: 10 });
    temp.clock.advance(20_000);
    await temp.put('k', 'three');
    temp.clock.advance(10_000);
    await temp.remove('k');
  });

  test('G32 at a version it holds what was put, at a moment what stood then', () => {
    expect(at({ version: 2 })).toMatchObject({ kind: 'value', value: 'two', version: { version: 2, ttl: 10 } });
    expect(at({ version: 4 })).toMatchObject({ kind: 'absent', reason: 'deleted', version: { version: 4 } });
    expect(() => at({ version: 5 })).toThrow(notFound);
    expect(at(moment(-1))).toEqual({ kind: 'absent', reason: 'not_yet', version: null });
    const seen = [0, 9, 10, 19, 20, 29, 30, 39, 40, 99].map((seconds) => {
      const state = at(moment(seconds));
      return state.kind === 'value' ? state.value : state.reason;
    });
    expect(seen).toEqual(['one', 'one', 'two', 'two', 'expired', 'expired', 'three', 'three', 'deleted', 'deleted']);
  });

  test('G32 a clock that went back does not reorder versions: a moment sees no version before an earlier one', async () => {
    temp.clock.advance(-30_000);
    await temp.put('k', 'back');
    expect(at({ version: 5 })).toMatchObject({ version: { written_at: '2026-11-30T12:00:10Z' } });
    expect(at(moment(12))).toMatchObject({ value: 'two' });
    expect(at(moment(40))).toMatchObject({ value: 'back' });
    expect(await temp.ledger.verify()).toMatchObject({ ok: true });
  });

  test('G33 the differences between two points name the versions, the fields and the places', () => {
    const diff = (from: LedgerPoint, to: LedgerPoint) =>
      temp.ledger.diff({ agentId: agent, key: key('k'), from, to, limit: 10 });
    expect(diff({ version: 1 }, { version: 2 })).toEqual({
      key: 'k',
      from: 1,
      to: 2,
      fields: ['expires_at'],
      changes: [{ kind: 'changed', path: '', before: 'one', after: 'two' }],
      total: 1,
    });
    expect(diff({ version: 3 }, { version: 4 })).toMatchObject({
      changes: [{ kind: 'removed', path: '', before: 'three' }],
    });
    expect(diff(moment(-1), moment(0))).toMatchObject({
      from: null,
      to: 1,
      changes: [{ kind: 'added', after: 'one' }],
    });
    expect(diff({ version: 4 }, moment(99))).toMatchObject({ from: 4, to: 4, changes: [], total: 0 });
    expect(() => diff({ version: 1 }, { version: 9 })).toThrow(notFound);
  });
});

test('G33 places are listed in pages, and a cursor is good for its own question alone', async () => {
  await temp.put('k', Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`n${index}`, index])));
  await temp.put('k', {});
  const ask = (cursor?: string, to = 2) =>
    temp.ledger.diff({ agentId: agent, key: key('k'), from: { version: 1 }, to: { version: to }, limit: 2, cursor });
  const [one, two] = [ask(), ask(ask().next_cursor)];
  const three = ask(two.next_cursor);
  expect([one, two, three].flatMap((page) => page.changes.map((change) => change.path))).toEqual([
    '/n0',
    '/n1',
    '/n2',
    '/n3',
    '/n4',
  ]);
  expect([one.total, three.total, three.next_cursor]).toEqual([5, 5, undefined]);
  expect(() => ask(one.next_cursor, 1)).toThrow(badCursor);
});

describe('JSON', () => {
  test('G33 maps are compared by name, lists by place, and what is of another kind as a whole', () => {
    const before = { a: 1, b: { 'x/y~z': [1, 2, 3], same: null }, c: [], d: { e: 1 } };
    const after = { c: {}, b: { same: null, 'x/y~z': [1, 5] }, d: { e: 1, f: '2' }, __proto: 0 };
    expect(diffJson(before, after)).toEqual([
      { kind: 'removed', path: '/a', before: 1 },
      { kind: 'changed', path: '/b/x~1y~0z/1', before: 2, after: 5 },
      { kind: 'removed', path: '/b/x~1y~0z/2', before: 3 },
      { kind: 'changed', path: '/c', before: [], after: {} },
      { kind: 'added', path: '/d/f', after: '2' },
      { kind: 'added', path: '/__proto', after: 0 },
    ]);
    const hostile: JsonValue = JSON.parse('{"__proto__":1,"constructor":2}');
    expect(diffJson({}, hostile)).toHaveLength(2);
    expect(diffJson(hostile, {})).toHaveLength(2);
  });

  test('G33 what is named as changed is all that changed: put into the older value it makes the newer one', () => {
    const json = fc.jsonValue({ maxDepth: 3 }).map((value) => value as JsonValue);
    fc.assert(
      fc.property(json, json, (before, after) => {
        const clean = (value: JsonValue): JsonValue => JSON.parse(JSON.stringify(value));
        const [one, two] = [clean(before), clean(after)];
        expect(diffJson(one, one)).toEqual([]);
        expect(applied(one, diffJson(one, two))).toEqual(two);
      }),
    );
  });
});

/** The value after its changes, by the pointers alone. */
function applied(value: JsonValue, changes: readonly LedgerChange[]): unknown {
  const root: { value: unknown } = { value: structuredClone(value) };
  const removals = changes.filter((change) => change.kind === 'removed').toReversed();
  for (const change of [...changes.filter((one) => one.kind !== 'removed'), ...removals]) {
    const names = `/value${change.path}`
      .split('/')
      .slice(1)
      .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = names.pop() ?? '';
    let holder: unknown = root;
    for (const name of names) holder = Reflect.get(Object(holder), name);
    const { kind } = change;
    if (kind === 'removed' && Array.isArray(holder)) holder.splice(Number(last), 1);
    else if (kind === 'removed') Reflect.deleteProperty(Object(holder), last);
    else if (kind === 'added' && Array.isArray(holder)) holder.push(change.after);
    else
      Object.defineProperty(Object(holder), last, {
        value: change.after,
        writable: true,
        enumerable: true,
        configurable: true,
      });
  }
  return root.value;
}
