// How text is cut for a full-text index. One index serves two readers: a search by words, in any language, and a query
// that asks for substrings (lethe.md §5.10). So every text gives words, symbols and grams:
//   words    runs of letters, digits and marks in scripts that put spaces between words
//   symbols  every other visible character, one by one (punctuation, emoji, signs)
//   grams    every 1 to 3 neighbouring characters of a run, from which any substring of 3 bytes or more can be found
// Scripts that run on without spaces (Chinese, Japanese, Thai, …) are found by their grams alone.

import { lowerSimple, utf8Length } from '../canonical/text.ts';

/** A piece of folded text: a word, a run in a script without spaces, or a single symbol. */
export interface Piece {
  readonly kind: 'word' | 'run_on' | 'symbol';
  readonly text: string;
}

/** Longest prefix of a word that the index holds, in UTF-16 units; longer words share it and are told apart in the text. */
export const wordUnitsMax = 64;
/** Most grams of one needle that are asked of the index; a longer needle is asked by grams spread over it. */
export const needleGramsMax = 8;

const RUN_ON_SCRIPTS =
  '\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{scx=Bopomofo}\\p{scx=Hangul}\\p{scx=Yi}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmer}\\p{scx=Myanmar}\\p{scx=Tibetan}';
const RUN_ON = `[[${RUN_ON_SCRIPTS}]&&[\\p{L}\\p{N}\\p{M}]]`;
const WORD = `[[\\p{L}\\p{N}\\p{M}]--[${RUN_ON_SCRIPTS}]]`;
const PIECES = new RegExp(
  `(?<run_on>${RUN_ON}+)|(?<word>${WORD}+)|(?<symbol>[^\\p{White_Space}\\p{L}\\p{N}\\p{M}])`,
  'gv',
);
const ASCII = /^[\0-\x7f]*$/;
const RUNS = /[\p{L}\p{N}\p{M}]+/gu;
const INVISIBLE = /[\p{Cf}\p{Variation_Selector}]/gu;

/**
 * The form in which words are compared: compatibility-composed (full-width and half-width forms meet), lower-case,
 * without characters that cannot be seen (joiners, variation selectors).
 */
export function foldText(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return lowerSimple(text.toWellFormed().normalize('NFKC')).normalize('NFC').replace(INVISIBLE, '');
}

/** Cuts folded text into its pieces, in order. White space separates and is dropped. */
export function cutPieces(folded: string): readonly Piece[] {
  const pieces: Piece[] = [];
  for (const match of folded.matchAll(PIECES)) {
    const { word, symbol } = match.groups ?? {};
    const kind = word !== undefined ? 'word' : symbol !== undefined ? 'symbol' : 'run_on';
    pieces.push({ kind, text: match[0] });
  }
  return pieces;
}

/** Index token of a whole word, or of a symbol. */
export function pieceToken(piece: Piece): string {
  return piece.kind === 'symbol' ? `s${asciiSafe(piece.text)}` : `w${headOf(piece.text, wordUnitsMax)}`;
}

/**
 * Index tokens that a text holding this needle as a substring must all have; empty when the index cannot tell (a needle
 * of fewer than 3 bytes, or without letters and digits). The needle is lower-cased or folded text.
 */
export function needleTokens(needle: string): readonly string[] {
  const tokens = new Set<string>();
  for (const [run] of needle.matchAll(RUNS)) {
    const characters = [...run];
    const length = Math.min(3, characters.length);
    for (let at = 0; at + length <= characters.length; at += 1)
      addGram(tokens, characters.slice(at, at + length).join(''));
  }
  return spread([...tokens], needleGramsMax);
}

/** All letters and digits of a text, folded and run together, as many as a token holds: looser than equality. */
export function lettersOnly(text: string): string {
  const folded = foldText(text).match(RUNS)?.join('') ?? '';
  return headOf(folded, wordUnitsMax);
}

/**
 * Adds the index tokens of a text: words, symbols and grams of the folded text, and grams of the lower-cased one where
 * that differs. Linear in the text. The tokens hold no ASCII but letters and digits, so that FTS5's `ascii` tokenizer
 * splits at spaces alone.
 */
export function addTextTokens(tokens: Set<string>, raw: string): void {
  const folded = foldText(raw);
  for (const piece of cutPieces(folded)) if (piece.kind !== 'run_on') tokens.add(pieceToken(piece));
  addGrams(tokens, folded);
  const lowered = lowerSimple(raw.toWellFormed());
  if (lowered !== folded) addGrams(tokens, lowered);
}

function addGrams(tokens: Set<string>, text: string): void {
  for (const [run] of text.matchAll(RUNS)) {
    if (ASCII.test(run)) {
      // A byte a character: grams of one and two are too short to be of use.
      for (let at = 0; at + 3 <= run.length; at += 1) tokens.add(`g${run.slice(at, at + 3)}`);
      continue;
    }
    const characters = [...run];
    for (const [at, first] of characters.entries()) {
      const second = characters[at + 1] ?? '';
      const third = characters[at + 2] ?? '';
      addGram(tokens, first);
      if (second !== '') addGram(tokens, first + second);
      if (third !== '') addGram(tokens, first + second + third);
    }
  }
}

/** Grams of fewer than 3 bytes are too frequent to be of use and never asked for. */
function addGram(tokens: Set<string>, gram: string): void {
  if (utf8Length(gram) >= 3) tokens.add(`g${gram}`);
}

/** At most `count` of the items, first and last among them, evenly spread. */
function spread<Item>(items: readonly Item[], count: number): readonly Item[] {
  if (items.length <= count) return items;
  const step = (items.length - 1) / (count - 1);
  return Array.from({ length: count }, (_, index) => items[Math.round(index * step)]).filter(
    (item) => item !== undefined,
  );
}

function headOf(text: string, units: number): string {
  return text.length <= units ? text : text.slice(0, units).toWellFormed();
}

/** ASCII characters that the tokenizer would split at, as their code. */
function asciiSafe(text: string): string {
  return text.replace(/[^a-z0-9\u0080-\u{10ffff}]/gu, (character) => `x${character.charCodeAt(0).toString(16)}`);
}
