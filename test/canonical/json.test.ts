import { deepStrictEqual } from 'node:assert';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Fault } from '../../src-main/base/fault.ts';
import {
  type Encodable,
  encodeCanonical,
  encodeDepthMax,
  encodePlain,
  ordered,
} from '../../src-main/canonical/json.ts';
import type { JsonValue } from '../../src-preload/contract/json.ts';

/** Any text at all, lone surrogates, controls and astral characters included. */
const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 6 }).map((units) => String.fromCharCode(...units)),
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toJSON',
    '0',
    '10',
    '9',
    '',
    '\ud800',
    '\udfff',
    '\ufffd',
    '\u2028',
    '<&>',
  ),
);

const anyNumber = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.constantFrom(-0, 1e21, 1e-7),
);

const { anyJson } = fc.letrec<{ anyJson: JsonValue }>((tie) => ({
  anyJson: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    anyNumber,
    anyText,
    fc.array(tie('anyJson'), { maxLength: 4 }),
    fc.array(fc.tuple(anyText, tie('anyJson')), { maxLength: 6 }).map((entries) => Object.fromEntries(entries)),
  ),
}));

function isMap(value: JsonValue): value is { readonly [key: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value with every text well-formed, or undefined when two keys of one map become one. */
function wellFormed(value: JsonValue): JsonValue | undefined {
  if (typeof value === 'string') return value.toWellFormed();
  if (isMap(value)) {
    const entries = Object.entries(value).map(([key, child]) => [key.toWellFormed(), wellFormed(child)] as const);
    if (new Set(entries.map(([key]) => key)).size < entries.length) return undefined;
    if (entries.some(([, child]) => child === undefined)) return undefined;
    return Object.fromEntries(entries.map(([key, child]) => [key, child ?? null]));
  }
  if (typeof value === 'object' && value !== null) {
    const items = value.map((child: JsonValue) => wellFormed(child));
    return items.includes(undefined) ? undefined : items.map((child: JsonValue | undefined) => child ?? null);
  }
  return value;
}

/** The same text written another way: bytes sorted by Buffer.compare, text escaped unit by unit. */
function encodedByTheBook(value: JsonValue, html: boolean): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : `${value}`;
  if (typeof value === 'string') return quotedByTheBook(value, html);
  if (!isMap(value)) return `[${value.map((child: JsonValue) => encodedByTheBook(child, html)).join(',')}]`;
  const keys = Object.keys(value).toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return `{${keys.map((key) => `${quotedByTheBook(key, html)}:${encodedByTheBook(value[key] ?? null, html)}`).join(',')}}`;
}

function quotedByTheBook(text: string, html: boolean): string {
  const short: Record<string, string> = {
    '"': '\\"',
    '\\': '\\\\',
    '\n': '\\n',
    '\r': '\\r',
    '\t': '\\t',
    '\b': '\\b',
    '\f': '\\f',
  };
  const escaped = [...text].map((character) => {
    const code = character.codePointAt(0) ?? 0;
    const unicode = code < 0x20 || code === 0x2028 || code === 0x2029 || (html && '<>&'.includes(character));
    return short[character] ?? (unicode ? `\\u${code.toString(16).padStart(4, '0')}` : character);
  });
  return `"${escaped.join('')}"`;
}

function shuffled(value: JsonValue, seed: number): JsonValue {
  if (isMap(value)) {
    const entries = Object.entries(value).map(([key, child]) => [key, shuffled(child, seed)] as const);
    const turn = entries.length === 0 ? 0 : seed % entries.length;
    return Object.fromEntries([...entries.slice(turn), ...entries.slice(0, turn)].reverse());
  }
  if (typeof value === 'object' && value !== null) return value.map((child: JsonValue) => shuffled(child, seed));
  return value;
}

describe('any JSON value, any Unicode', () => {
  test('K1 what is encoded parses to the same value, well-formed', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const expected = wellFormed(value);
        if (expected === undefined) {
          expect(() => encodePlain(value)).toThrow(Fault);
          return;
        }
        deepStrictEqual(JSON.parse(encodePlain(value)), expected);
        deepStrictEqual(JSON.parse(encodeCanonical(value)), expected);
      }),
      { numRuns: 2_000 },
    );
  });

  test('K2 the bytes are those of an encoder written by the book', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const expected = wellFormed(value);
        fc.pre(expected !== undefined);
        if (expected === undefined) return;
        expect(encodePlain(value)).toBe(encodedByTheBook(expected, true));
        expect(encodeCanonical(value)).toBe(encodedByTheBook(expected, false));
      }),
      { numRuns: 2_000 },
    );
  });

  test('K3 the order in which keys were inserted never shows', () => {
    fc.assert(
      fc.property(anyJson, fc.nat(), (value, seed) => {
        fc.pre(wellFormed(value) !== undefined);
        expect(encodeCanonical(shuffled(value, seed))).toBe(encodeCanonical(value));
      }),
      { numRuns: 1_000 },
    );
  });

  test('K1 encoding what was parsed from an encoding changes nothing, and the text is well-formed', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        fc.pre(wellFormed(value) !== undefined);
        const text = encodePlain(value);
        expect(encodePlain(JSON.parse(text))).toBe(text);
        expect(text.isWellFormed()).toBe(true);
        expect(text).not.toMatch(/[<>&\u2028\u2029]/);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('the facts of the encoding', () => {
  test.each([
    [-0, '-0'],
    [0, '0'],
    [1e21, '1e+21'],
    [1e20, '100000000000000000000'],
    [1e-6, '0.000001'],
    [1e-7, '1e-7'],
    [1.5e-9, '1.5e-9'],
    [2.5, '2.5'],
    [123456789012345680, '123456789012345680'],
    [Number.MAX_VALUE, '1.7976931348623157e+308'],
    [5e-324, '5e-324'],
  ])('K2 the number %d is written %s', (value, text) => {
    expect(encodePlain(value)).toBe(text);
    expect(encodeCanonical({ a: [value] })).toBe(`{"a":[${text}]}`);
  });

  test('K2 plain escapes < > & and canonical does not; both escape U+2028 and U+2029', () => {
    expect(encodePlain('a<b>&\u2028\u2029/\u007f\u0001é😀')).toBe(
      '"a\\u003cb\\u003e\\u0026\\u2028\\u2029/\u007f\\u0001é😀"',
    );
    expect(encodeCanonical('a<b>&\u2028\u2029/\u007f')).toBe('"a<b>&\\u2028\\u2029/\u007f"');
  });

  test('K2 keys are escaped like values and sorted by UTF-8 bytes, not by UTF-16 units', () => {
    expect(encodePlain({ '😀': 2, '\ufffd': 1, '<': 3 })).toBe('{"\\u003c":3,"\ufffd":1,"😀":2}');
  });

  test('K4 `__proto__` and index-like keys are keys like any other', () => {
    expect(encodePlain(JSON.parse('{"b":1,"__proto__":{"x":1},"10":1,"9":2}'))).toBe(
      '{"10":1,"9":2,"__proto__":{"x":1},"b":1}',
    );
    expect(encodePlain(Object.assign(Object.create(null), { b: 1, a: 2 }))).toBe('{"a":2,"b":1}');
  });

  test('K3 fields of an ordered object keep their order at any depth, maps inside it are sorted', () => {
    expect(encodePlain([ordered({ z: 1, a: ordered({ y: { d: 1, c: 2 }, b: [] }) })])).toBe(
      '[{"z":1,"a":{"y":{"c":2,"d":1},"b":[]}}]',
    );
  });
});

describe('what has no encoding is refused', () => {
  test('K5 two keys that become one when made well-formed: none is dropped in silence', () => {
    expect(() => encodePlain({ '\ud800': 1, '\udfff': 2 })).toThrow(expect.objectContaining({ code: 'INPUT_INVALID' }));
    expect(() => encodePlain({ a: [{ '\ufffd': 1, '\ud800': 2 }] })).toThrow(Fault);
    expect(encodePlain({ '\ud800': 1 })).toBe('{"\ufffd":1}');
  });

  test.each([Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN, JSON.parse('1e400')])(
    'K5 the number %d',
    (value) => {
      expect(() => encodePlain({ a: value })).toThrow(expect.objectContaining({ code: 'INPUT_INVALID' }));
    },
  );

  test('K5 nesting to the limit is encoded, one level more is refused, and a million levels do not overflow the stack', () => {
    const nested = (levels: number): JsonValue => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
    expect(encodePlain(nested(encodeDepthMax))).toBe('['.repeat(encodeDepthMax) + ']'.repeat(encodeDepthMax));
    const tooDeep = expect.objectContaining({ code: 'BODY_TOO_DEEP' });
    expect(() => encodePlain(nested(encodeDepthMax + 1))).toThrow(tooDeep);
    let map: JsonValue = {};
    for (let level = 0; level < 1_000_000; level += 1) map = { a: map };
    expect(() => encodeCanonical(map)).toThrow(tooDeep);
  });

  test.each([
    ['undefined', undefined],
    ['a function', () => 1],
    ['a bigint', 1n],
    ['a symbol', Symbol('s')],
    ['a date', new Date(0)],
    ['a map', new Map()],
    ['bytes', new Uint8Array(1)],
    ['an array with a hole', new Array(3)],
  ])('K5 %s is our own bug, alone or inside', (_name, value) => {
    const encode: (value: unknown) => string = (inside) => encodePlain(inside as Encodable);
    expect(() => encode(value)).toThrow();
    expect(() => encode({ a: value })).toThrow();
    expect(() => encode([value])).toThrow();
    expect(() => encode({ a: value })).not.toThrow(Fault);
  });
});
