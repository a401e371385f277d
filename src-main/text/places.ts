// Where a needle stands in a text, and what that is worth.

import type { Piece } from './pieces.ts';

const placesMax = 8;
const wordCharacter = /[\p{L}\p{N}\p{M}]/u;

/**
 * How often a needle stands in folded text: a sum over its first eight places, 1 for a whole word, a run or a symbol, 0.7
 * for the beginning of a word, 0.4 inside one, 0 for one or two letters inside a longer word.
 */
export function placesWeight(needle: Piece, haystack: string): number {
  const { text } = needle;
  let weight = 0;
  let places = 0;
  for (let at = haystack.indexOf(text); at >= 0 && places < placesMax; at = haystack.indexOf(text, at + text.length)) {
    const found = placeWeight(needle, haystack, at);
    if (found === 0) continue;
    weight += found;
    places += 1;
  }
  return weight;
}

function placeWeight(needle: Piece, haystack: string, at: number): number {
  if (needle.kind !== 'word') return 1;
  const starts = !wordCharacter.test(characterBefore(haystack, at));
  const ends = !wordCharacter.test(characterAt(haystack, at + needle.text.length));
  if (starts && ends) return 1;
  // Two letters inside a longer word say nothing.
  if (needle.text.length < 3) return 0;
  return starts ? 0.7 : 0.4;
}

function characterAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? '' : String.fromCodePoint(code);
}

function characterBefore(text: string, at: number): string {
  return [...text.slice(Math.max(0, at - 2), at)].at(-1) ?? '';
}
