// How similar an entry is to a query: 0 to 1, by what of the query stands in it, and nothing else: not by what other
// entries hold. An entry with the whole query in whole words has 0.9 or more, one that shares no more than little words with
// it stays below 0.4 (ledger.md §2, calibrated by a table of pairs in the tests).

import { foldText, type Piece } from '../../text/pieces.ts';
import { parseSearch, type SearchTerm } from '../../text/search-query.ts';
import { type EntryText, foldedWords, wordsOf } from './entry-text.ts';

/** One thing that is looked for, and how much it says. */
export interface Part {
  readonly piece: Piece;
  readonly weight: number;
  /** The term that it is a part of, when its symbols tell it from others: `c++`, `#42`. */
  readonly marked: string | undefined;
}

/** A query as entries are compared with it. */
export interface Question {
  /** Each once, those that say most first. */
  readonly parts: readonly Part[];
  readonly literal: string;
  readonly words: string;
  readonly pieces: number;
}

/** An entry with every part in whole words has so much, and whatever a phrase adds; one that lacks a part has less. */
export const wholeSimilarity = 0.9;

/** Parts that are looked for at most. */
export const partsMax = 64;

/** Symbols that join or set off words and tell nothing by themselves. */
const JOINING = /^[-_.:/\\,;!?'"`´()[\]{}<>|…–—«»„“”‘’。、，！？：；「」『』（）]$/u;

/** Reads a query. Without a visible character there are no parts. */
export function readQuestion(query: string): Question {
  const { needles, terms, literal } = parseSearch(query);
  const marked = markedTerms(terms);
  const parts = new Map<string, Part>();
  for (const needle of needles)
    for (const piece of partsOf(needle))
      parts.set(piece.text, { piece, weight: weightOf(piece), marked: marked.get(needle.text) });
  const pieces = terms.flatMap((term) => term.pieces);
  return {
    parts: [...parts.values()].sort((one, other) => other.weight - one.weight).slice(0, partsMax),
    literal,
    words: wordsOf(pieces),
    pieces: pieces.length,
  };
}

/** How similar an entry is, 0 to 1, in steps of a ten-thousandth. */
export function similarityOf(question: Question, text: EntryText): number {
  const key = foldText(text.key);
  const body = foldText(text.body);
  let wanted = 0;
  let found = 0;
  for (const { piece, weight, marked } of question.parts) {
    wanted += weight;
    const share = Math.max(shareOf(piece, key), shareOf(piece, body));
    const stands = marked === undefined || key.includes(marked) || body.includes(marked);
    found += weight * share * (stands ? 1 : 0.5);
  }
  if (found === 0) return 0;
  // A phrase stands only where all of it does.
  const bonus = found === wanted ? phraseBonus(question, text, key, body) : 0;
  return Math.round((wholeSimilarity * steep(found / wanted) + bonus) * 10_000) / 10_000;
}

/**
 * The most that an entry can have which holds none of the parts before the one at `from`, in the order of the question: what
 * is left to it is a share of the weight.
 */
export function mostWithout(question: Question, from: number): number {
  const weights = question.parts.map((part) => part.weight);
  const sum = (of: readonly number[]): number => of.reduce((total, weight) => total + weight, 0);
  return from === 0 ? 1 : wholeSimilarity * steep(sum(weights.slice(from)) / sum(weights));
}

/** Little of a query says less than its share, much of it more: 0 to 0, a half to a half, 1 to 1. */
function steep(share: number): number {
  return share * share * (3 - 2 * share);
}

/** 0.1 when the query is the key, 0.08 when it stands in the key as a phrase, 0.05 when it stands so in the value. */
function phraseBonus(question: Question, text: EntryText, key: string, body: string): number {
  const { words, literal, pieces } = question;
  const within = (haystack: string): boolean => ` ${haystack} `.includes(` ${words} `);
  // Cutting a text into words is what costs: it is done where it can say something.
  const keyLines = question.parts.every(({ piece }) => key.includes(piece.text))
    ? text.key.split('\n').map(foldedWords)
    : [];
  if (keyLines.includes(words)) return 0.1;
  if (pieces < 2) return 0;
  if (key.includes(literal) || keyLines.some(within)) return 0.08;
  return body.includes(literal) || within(foldedWords(text.body)) ? 0.05 : 0;
}

/** Terms that mean something else without their symbols, by the pieces in them. */
function markedTerms(terms: readonly SearchTerm[]): ReadonlyMap<string, string> {
  const marked = new Map<string, string>();
  for (const { text, pieces } of terms) {
    const isMarked = pieces.some((piece) => piece.kind === 'symbol' && !JOINING.test(piece.text));
    if (isMarked && pieces.length > 1) for (const piece of pieces) marked.set(piece.text, text);
  }
  return marked;
}

/** A run in a script without spaces is looked for by its neighbouring characters, two by two; all else as it is. */
function partsOf(needle: Piece): readonly Piece[] {
  const characters = [...needle.text];
  if (needle.kind !== 'run_on' || characters.length <= 2) return [needle];
  return characters.slice(1).map((second, at) => ({ kind: 'run_on', text: `${characters[at] ?? ''}${second}` }));
}

/** Words of English that stand in every text though they are not short. In other languages short ones are most of them. */
const littleWords = new Set(
  `about after also because been before being between could does from have into just like more most only over should some
  such than that their them then there these they this those very were what when where which while will with would your`.split(
    /\s+/,
  ),
);

/** Longer words say more: those that stand in every text are short. */
function weightOf({ kind, text }: Piece): number {
  if (kind === 'symbol') return 2;
  const length = [...text].length * (kind === 'run_on' ? 2 : 1);
  return Math.min(length, 8) ** 1.5 * (littleWords.has(text) ? 0.2 : 1);
}

/**
 * How much of a piece stands in folded text: 1 for a whole word, a run or a symbol; for the beginning of a word its share of
 * that word; inside one half of that; 0 for one or two letters of a longer word.
 */
function shareOf({ kind, text }: Piece, haystack: string): number {
  let best = 0;
  for (let at = haystack.indexOf(text); at >= 0 && best < 1; at = haystack.indexOf(text, at + text.length)) {
    if (kind !== 'word') return 1;
    best = Math.max(best, placeShare(text, haystack, at));
  }
  return best;
}

const WORD_BEFORE = /[\p{L}\p{N}\p{M}]*$/u;
const WORD_AFTER = /^[\p{L}\p{N}\p{M}]*/u;
/** Letters around a place that are looked at; a longer word counts as so long. */
const aroundMax = 64;

function placeShare(text: string, haystack: string, at: number): number {
  const before = WORD_BEFORE.exec(haystack.slice(Math.max(0, at - aroundMax), at))?.[0].length ?? 0;
  const end = at + text.length;
  const after = WORD_AFTER.exec(haystack.slice(end, end + aroundMax))?.[0].length ?? 0;
  if (before === 0 && after === 0) return 1;
  if (text.length < 3) return 0;
  const share = text.length / (before + text.length + after);
  return before === 0 ? share : share / 2;
}
