import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareUtf8, isBlank, lowerSimple, trimWhiteSpace, utf8Length } from '../../src-main/canonical/text.ts';

const anyUnits = fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units));

/** The 25 characters of the Unicode property White_Space, from PropList.txt. */
const whiteSpace = [
  0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20, 0x85, 0xa0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006,
  0x2007, 0x2008, 0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000,
];

test('K6 trimming removes exactly the characters of White_Space, U+0085 among them and U+FEFF not', () => {
  for (let unit = 0; unit <= 0xffff; unit += 1) {
    const character = String.fromCharCode(unit);
    const wrapped = `${character}a${character}b${character}`;
    const expected = whiteSpace.includes(unit) ? `a${character}b` : wrapped;
    if (trimWhiteSpace(wrapped) !== expected) expect(trimWhiteSpace(wrapped), unit.toString(16)).toBe(expected);
  }
  expect(trimWhiteSpace(`\u0085\ufeff \u3000`)).toBe('\ufeff');
});

test('K6 a text of white space alone is blank, and so is the empty one', () => {
  expect(isBlank('')).toBe(true);
  expect(isBlank(String.fromCharCode(...whiteSpace))).toBe(true);
  expect(isBlank('\ufeff')).toBe(false);
  expect(isBlank(' . ')).toBe(false);
});

test('K6 lower-casing maps every code point alone, to one code point', () => {
  for (let code = 0; code <= 0x10ffff; code += 1) {
    const character = String.fromCodePoint(code);
    const expected = code === 0x130 ? 'i' : character.toLowerCase();
    const lowered = lowerSimple(character);
    if (lowered !== expected || [...lowered].length !== 1) expect(lowered, code.toString(16)).toBe(expected);
  }
  expect(lowerSimple('\u0130')).toBe('i');
});

test('K6 lower-casing a text is lower-casing its runes: no final sigma', () => {
  expect(lowerSimple('ΟΔΟΣ ΣΣ')).toBe('οδοσ σσ');
  expect(lowerSimple('İSTANBUL')).toBe('istanbul');
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(lowerSimple(text)).toBe([...text].map(lowerSimple).join(''));
    }),
  );
});

test('K6 the length in bytes is that of the UTF-8 form', () => {
  expect(utf8Length('aé€😀')).toBe(1 + 2 + 3 + 4);
  expect(utf8Length('\ud800')).toBe(3);
  fc.assert(
    fc.property(anyUnits, (text) => {
      expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
    }),
  );
});

test('K6 the order of texts is the order of their UTF-8 bytes', () => {
  fc.assert(
    fc.property(anyUnits, anyUnits, fc.nat(3), (left, right, shared) => {
      const a = (right.slice(0, shared) + left).toWellFormed();
      const b = right.toWellFormed();
      expect(Math.sign(compareUtf8(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
    { numRuns: 5_000 },
  );
});
