// How a search is read. Nothing in it is an operator: quotes, stars, colons and words like AND are text.

import { cutPieces, foldText, type Piece } from './pieces.ts';

/** One term of a search: what stood between two spaces, and the pieces it is made of. */
export interface SearchTerm {
  /** The term as folded text, punctuation included: `better-sqlite3`. */
  readonly text: string;
  readonly pieces: readonly Piece[];
}

/** A search as it is matched. */
export interface SearchQuery {
  /** The folded query with single spaces: what an exact quotation would hold. */
  readonly literal: string;
  readonly terms: readonly SearchTerm[];
  /** What is looked for and counted, each once: words, runs and pictures; punctuation when there is nothing else. */
  readonly needles: readonly Piece[];
}

/** Most needles that are looked for; the rest of a longer query still counts as part of its literal text. */
export const searchNeedlesMax = 64;

const PICTURE = /[\p{So}\p{Co}]/u;

/** Reads a search query. Every text is a valid one; without a visible character there are no needles. */
export function parseSearch(query: string): SearchQuery {
  const texts = foldText(query).match(/\P{White_Space}+/gu) ?? [];
  const terms = texts.map((text) => ({ text, pieces: cutPieces(text) }));
  const pieces = terms.flatMap((term) => term.pieces);
  const solid = pieces.filter((piece) => piece.kind !== 'symbol' || PICTURE.test(piece.text));
  const needles = new Map((solid.length > 0 ? solid : pieces).map((piece) => [piece.text, piece]));
  return { literal: texts.join(' '), terms, needles: [...needles.values()].slice(0, searchNeedlesMax) };
}
