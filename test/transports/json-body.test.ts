import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Fault } from '../../src-main/base/fault.ts';
import { parseJsonBody } from '../../src-main/transports/json-body.ts';

const codeOf = (text: string | Uint8Array): string => {
  try {
    parseJsonBody(typeof text === 'string' ? Buffer.from(text) : text);
    return 'read';
  } catch (thrown) {
    return thrown instanceof Fault ? thrown.code : 'not a fault';
  }
};

test('T7 every JSON text that is not too deep is read as what it says', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const text = JSON.stringify(value);
      if (text.includes('__proto__')) return;
      expect(parseJsonBody(Buffer.from(text))).toEqual(JSON.parse(text));
    }),
  );
});

test('T7 any bytes are read or refused, never anything else', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 64 }),
    fc.string({ unit: fc.constantFrom(...'[]{}":,1e-\\u0nul tf'), maxLength: 32 }),
  );
  fc.assert(
    fc.property(bytes, (body) => {
      expect(['read', 'BODY_INVALID']).toContain(codeOf(body));
    }),
  );
});

test('T7 exactly 64 levels of arrays and objects in any mixture are read', () => {
  const nested = (kinds: readonly boolean[]): string =>
    kinds.map((isArray) => (isArray ? '[' : '{"k":')).join('') +
    'null' +
    kinds
      .toReversed()
      .map((isArray) => (isArray ? ']' : '}'))
      .join('');
  fc.assert(
    fc.property(fc.array(fc.boolean(), { minLength: 64, maxLength: 64 }), fc.boolean(), (kinds, one) => {
      expect(codeOf(nested(kinds))).toBe('read');
      expect(codeOf(nested([...kinds, one]))).toBe('BODY_TOO_DEEP');
    }),
  );
});

test('T7 a key named __proto__ is refused at any depth, the same words as a value or in a key are not', () => {
  expect(codeOf('{"__proto__":1}')).toBe('BODY_INVALID');
  expect(codeOf('[[{"a":{"__proto__":{}}}]]')).toBe('BODY_INVALID');
  expect(codeOf('{"\\u005f_proto__":1}')).toBe('BODY_INVALID');
  expect(codeOf('{"a":"__proto__","my__proto__":1,"constructor":{"prototype":2}}')).toBe('read');
});
