import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lowerSimple, utf8Length } from '../../src-main/canonical/text.ts';
import { indexTokens } from '../../src-main/lethe/rules/segment.ts';
import { contextTokens } from '../../src-main/lethe/rules/tokens.ts';
import { cutPieces, foldText, needleGramsMax, needleTokens, pieceToken } from '../../src-main/text/pieces.ts';
import { parseSearch, searchNeedlesMax } from '../../src-main/text/search-query.ts';
import { text } from './text-model.ts';

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 }).map((units) => String.fromCharCode(...units)),
  fc.string({
    unit: fc.constantFrom('a', 'B', 'ß', 'я', 'Σ', 'İ', '設', '定', 'カ', 'ｶ', 'น', '้', '서', '😀', '1', '-', ' ', '"'),
  }),
);

describe('context queries', () => {
  test('L62 a query is split at everything but letters and numbers, lower-cased, of 3 bytes or more, each token once', () => {
    expect(contextTokens('The CAT, the_cat; a b2b at ab я яя 設 ÉTÉ ①② Σας')).toEqual([
      'the',
      'cat',
      'b2b',
      'яя',
      '設',
      'été',
      '①②',
      'σας',
    ]);
    expect(contextTokens(' "*" AND-or ')).toEqual(['and']);
    expect(contextTokens('e\u0301te')).toEqual([]);
    expect(contextTokens('')).toEqual([]);
  });

  test('L62 whatever token stands in a text as a substring, the index has all that is asked for it', () => {
    fc.assert(
      fc.property(anyText, anyText, anyText, (before, middle, after) => {
        const content = `${before}${middle}${after}`;
        const tokens = indexTokens(1, text(content));
        const haystack = lowerSimple(content.toWellFormed());
        for (const token of contextTokens(middle)) {
          if (!haystack.includes(token)) continue;
          const asked = needleTokens(token);
          expect(asked.length).toBeGreaterThan(0);
          expect(asked.length).toBeLessThanOrEqual(needleGramsMax);
          for (const gram of asked) expect(tokens.has(gram), gram).toBe(true);
        }
      }),
      { numRuns: 3_000 },
    );
  });
});

describe('searches', () => {
  test('L65 a query is terms between spaces, each of words, runs and symbols', () => {
    const query = parseSearch('  Better-SQLite3\t"設定" ');
    expect(query.literal).toBe('better-sqlite3 "設定"');
    expect(query.terms.map((term) => term.pieces.map((piece) => `${piece.kind} ${piece.text}`))).toEqual([
      ['word better', 'symbol -', 'word sqlite3'],
      ['symbol "', 'run_on 設定', 'symbol "'],
    ]);
    expect(query.needles.map((needle) => needle.text)).toEqual(['better', 'sqlite3', '設定']);
  });

  test('L65 symbols are looked for when there is nothing else, and too many parts are cut off', () => {
    expect(parseSearch('"*" 😀').needles.map((needle) => needle.text)).toEqual(['😀']);
    expect(parseSearch('"*"').needles.map((needle) => needle.text)).toEqual(['"', '*']);
    expect(parseSearch('deploy, 🚀').needles.map((needle) => needle.text)).toEqual(['deploy', '🚀']);
    expect(parseSearch(' \u200b\u2028 ').needles).toEqual([]);
    expect(parseSearch(Array.from({ length: 500 }, (_, index) => `w${index}`).join(' ')).needles).toHaveLength(
      searchNeedlesMax,
    );
  });

  test('L66 whatever piece stands in a text, the index has its token, and no token needs quoting for the tokenizer', () => {
    fc.assert(
      fc.property(anyText, (content) => {
        const tokens = indexTokens(1, text(content));
        for (const piece of cutPieces(foldText(content))) {
          const wanted = piece.kind === 'run_on' ? needleTokens(piece.text) : [pieceToken(piece)];
          for (const token of wanted) expect(tokens.has(token), token).toBe(true);
        }
        for (const token of tokens) expect(token).toMatch(/^[a-z0-9\u0080-\u{10ffff}]+$/u);
        for (const token of tokens) expect(token).not.toMatch(/ /);
      }),
      { numRuns: 2_000 },
    );
  });

  test('L68 folding meets full-width, half-width, case, composition and what cannot be seen', () => {
    expect(foldText('ＡＰＩ ｶﾞ Ⅷ')).toBe('api ガ viii');
    expect(foldText('CAFE\u0301')).toBe('café');
    expect(foldText('so\u00adft ❤\ufe0f 👩\u200d🚀')).toBe('soft ❤ 👩🚀');
    expect(foldText('\ud800x')).toBe('\ufffdx');
  });

  test('L67 scripts without spaces run on, others are words, and a change of script is a cut', () => {
    const cut = (content: string) => cutPieces(foldText(content)).map((piece) => `${piece.kind}:${piece.text}`);
    expect(cut('Kubernetes設定 v2')).toEqual(['word:kubernetes', 'run_on:設定', 'word:v2']);
    expect(cut('コーヒー น้ำ 서버를')).toEqual(['run_on:コーヒー', `run_on:${foldText('น้ำ')}`, 'run_on:서버를']);
    expect(cut('naïve, ελληνικά')).toEqual(['word:naïve', 'symbol:,', 'word:ελληνικά']);
  });

  test('L62 grams of fewer than 3 bytes are neither kept nor asked for', () => {
    fc.assert(
      fc.property(anyText, (content) => {
        const grams = [...indexTokens(1, text(content))].filter((token) => token.startsWith('g'));
        for (const gram of grams) expect(utf8Length(gram.slice(1))).toBeGreaterThanOrEqual(3);
      }),
    );
    expect(needleTokens('ab')).toEqual([]);
    expect(needleTokens('я')).toEqual([]);
    expect(needleTokens('яя')).toEqual(['gяя']);
    expect(needleTokens('abcd')).toEqual(['gabc', 'gbcd']);
  });
});
