import { describe, expect, test } from 'vitest';
import { AssertionFailed, assert, assertNever } from '../../src-main/base/assert.ts';
import { fromTimestamp, toTimestamp } from '../../src-main/base/clock.ts';
import { Fault, toFault } from '../../src-main/base/fault.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { timestampSchema } from '../../src-preload/contract/ids.ts';

describe('time on the wire', () => {
  test('trailing zeros of the fraction are trimmed', () => {
    expect(toTimestamp(0)).toBe('1970-01-01T00:00:00Z');
    expect(toTimestamp(120)).toBe('1970-01-01T00:00:00.12Z');
    expect(toTimestamp(1_700_000_000_001)).toBe('2023-11-14T22:13:20.001Z');
  });

  test('text and milliseconds agree, with up to nine digits', () => {
    for (const ms of [0, 1, 999, 1_767_312_000_000, 4_102_444_799_999]) expect(fromTimestamp(toTimestamp(ms))).toBe(ms);
    expect(fromTimestamp(timestampSchema.parse('2026-01-02T03:04:05.000000006Z'))).toBe(Date.UTC(2026, 0, 2, 3, 4, 5));
  });
});

describe('faults', () => {
  test('a fault crosses a door as code, kind, message and data, without its cause', () => {
    const fault = new Fault('REF_MOVED', 'The ref moved.', { actual: 'x' }, { cause: new Error('secret') });
    expect(fault.toWire()).toEqual({
      code: 'REF_MOVED',
      kind: 'conflict',
      message: 'The ref moved.',
      data: { actual: 'x' },
    });
  });

  test('an unknown error becomes INTERNAL without a word of its text', () => {
    const fault = toFault(new Error('token obol_1234'));
    expect(fault.code).toBe('INTERNAL');
    expect(JSON.stringify(fault.toWire())).not.toContain('obol_1234');
    expect(toFault(fault)).toBe(fault);
  });

  test('a broken promise of our own is no refusal', () => {
    expect(() => assert(false, 'one is one')).toThrow(AssertionFailed);
    const unhandled = (): never => assertNever('late' as never, 'every variant is handled');
    expect(unhandled).toThrow('every variant is handled: "late"');
  });
});

describe('identities', () => {
  test('UUIDs of one process ascend and are lower case', () => {
    const ids = systemIds();
    const made = Array.from({ length: 2_000 }, () => ids.uuidv7());
    expect(made).toEqual(made.toSorted());
    expect(new Set(made).size).toBe(made.length);
    for (const id of made.slice(0, 20))
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(ids.randomBytes(32).length).toBe(32);
  });
});
