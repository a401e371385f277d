import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countUnseen, plainLine, visibleParts } from '../../../src-renderer/ui/visible-text.ts';

const marks = (text: string): readonly string[] =>
  visibleParts(text).flatMap((part) => (part.kind === 'mark' ? [part.code] : []));

describe('text that somebody else wrote', () => {
  test('markup is text like any other', () => {
    expect(visibleParts('<img src=x onerror=alert(1)>')).toEqual([
      { kind: 'text', text: '<img src=x onerror=alert(1)>' },
    ]);
  });

  test('terminal escapes, bells and backspaces are marked', () => {
    expect(marks('\u001b[31mred\u001b[0m\u0007\u0008')).toEqual(['U+001B', 'U+001B', 'U+0007', 'U+0008']);
  });

  test('direction overrides and isolates are marked', () => {
    expect(marks('a\u202eb\u202cc\u2066d\u2069')).toEqual(['U+202E', 'U+202C', 'U+2066', 'U+2069']);
  });

  test('zero-width characters and byte-order marks are marked by name', () => {
    expect(visibleParts('a\u200bb\ufeff')).toEqual([
      { kind: 'text', text: 'a' },
      { kind: 'mark', code: 'U+200B', name: 'zero-width space' },
      { kind: 'text', text: 'b' },
      { kind: 'mark', code: 'U+FEFF', name: 'zero-width no-break space' },
    ]);
  });

  test('letters smuggled as tags or variation selectors are marked', () => {
    expect(marks('x\u{e0041}\u{e0101}')).toEqual(['U+E0041', 'U+E0101']);
  });

  test('lone surrogates are marked', () => {
    expect(marks('a\ud800b')).toEqual(['U+D800']);
  });

  test('line breaks and tabs stay; a carriage return stays only before a line feed', () => {
    expect(marks('a\nb\tc\r\nd')).toEqual([]);
    expect(marks('safe\rover')).toEqual(['U+000D']);
  });

  test('joiners stay where emoji and scripts need them, and nowhere else', () => {
    expect(marks('👩‍💻 👩🏽‍🚀 ❤️‍🔥')).toEqual([]);
    expect(marks('می‌خواهم')).toEqual([]);
    expect(marks('क्‍ष')).toEqual([]);
    expect(marks('pass\u200dword')).toEqual(['U+200D']);
    expect(marks('pass\u200cword')).toEqual(['U+200C']);
  });

  test('right-to-left, CJK and accents are ordinary text', () => {
    expect(marks('שלום مرحبا 共有メモリ Ünïcödé e\u0301')).toEqual([]);
  });

  test('parts cover the input exactly, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const back = visibleParts(text)
          .map((part) =>
            part.kind === 'text' ? part.text : String.fromCodePoint(Number.parseInt(part.code.slice(2), 16)),
          )
          .join('');
        expect(back).toBe(text);
      }),
    );
  });

  test('unseen characters are counted', () => {
    expect(countUnseen('a\u202eb\u200bc')).toBe(2);
  });
});

describe('one line for labels', () => {
  test('breaks become spaces and marks are spelled out', () => {
    expect(plainLine('one\n\n two\u202e')).toBe('one two[U+202E]');
  });

  test('it is cut between characters, never inside one', () => {
    expect(plainLine('😀😀😀😀', 3)).toBe('😀😀…');
    expect(plainLine('abc', 3)).toBe('abc');
  });
});
