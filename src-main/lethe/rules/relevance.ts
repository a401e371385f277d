// How well a text answers a query: the score of a context query exactly as §5.10 counts it, and the order of a search,
// which is ours (lethe.md §0.5): BM25 over the candidates, whole words before beginnings before inner parts, quotations
// first. Scores of a search are no part of what a head reproduces.

import { foldText, type Piece } from '../../text/pieces.ts';
import { placesWeight } from '../../text/places.ts';
import type { SearchQuery } from '../../text/search-query.ts';
import type { MemoryFilter } from './memory-filter.ts';
import { contextText, fieldText, type MemoryText, type TextField, textFields } from './segment.ts';

/** What the index knows of a filter: it keeps memories of one of the kinds that carry every one of the tags. */
export type TextFilter = Pick<MemoryFilter, 'kinds' | 'tags'>;

/** True when the memory passes the filter. Kinds and tags are compared exactly. */
export function passesFilter(text: Pick<MemoryText, 'kind' | 'tags'>, filter: TextFilter): boolean {
  const { kinds = [], tags = [] } = filter;
  return (kinds.length === 0 || kinds.includes(text.kind)) && tags.every((tag) => text.tags.includes(tag));
}

/** The score of §5.10: how many of the tokens (`contextTokens`) occur in the text as substrings. */
export function contextScore(tokens: readonly string[], text: MemoryText): number {
  const haystack = contextText(text);
  return tokens.reduce((score, token) => (haystack.includes(token) ? score + 1 : score), 0);
}

/** Where and how often one needle was found: `weights` sums one entry a place, 1 for a whole word and less for a part. */
export interface NeedleHits {
  readonly needle: Piece;
  readonly fields: readonly TextField[];
  readonly weight: number;
}

/** True when the text holds the needle in a field: `findHits` would count it. */
export function holdsNeedle(needle: Piece, text: MemoryText): boolean {
  return textFields.some((field) => placesWeight(needle, foldText(fieldText(text, field))) > 0);
}

/** What a search found in one text. */
export interface TextHits {
  /** One entry a needle that was found, in the order of the query. */
  readonly hits: readonly NeedleHits[];
  /** Needles of terms that stand in the text as written, punctuation included. */
  readonly quoted: ReadonlySet<string>;
  /** The whole query stands in one field as written. */
  readonly literal: boolean;
  /** Length of the content in UTF-16 units. */
  readonly length: number;
}

const fieldWeight: Record<TextField, number> = { content: 1, kind: 0.5, scope: 0.7, tags: 1.2 };

/** Looks for every needle of the query in every field; undefined when none is there. */
export function findHits(query: SearchQuery, text: MemoryText): TextHits | undefined {
  const folded = textFields.map((field) => [field, foldText(fieldText(text, field))] as const);
  const hits = query.needles.flatMap((needle) => findNeedle(needle, folded));
  if (hits.length === 0) return undefined;
  const stands = (literal: string): boolean => folded.some(([, haystack]) => haystack.includes(literal));
  const quoted = query.terms.filter((term) => term.pieces.length > 1 && stands(term.text));
  return {
    hits,
    quoted: new Set(quoted.flatMap((term) => term.pieces.map((piece) => piece.text))),
    literal: query.terms.length > 1 && stands(query.literal),
    length: text.content.length,
  };
}

function findNeedle(needle: Piece, folded: readonly (readonly [TextField, string])[]): NeedleHits[] {
  const fields: TextField[] = [];
  let weight = 0;
  for (const [field, haystack] of folded) {
    const found = placesWeight(needle, haystack);
    if (found === 0) continue;
    fields.push(field);
    weight += found * fieldWeight[field];
  }
  return fields.length === 0 ? [] : [{ needle, fields, weight }];
}

/** How rare a needle is: in how many of how many memories it is thought to be. */
export interface NeedleRarity {
  readonly holders: number;
  readonly total: number;
}

/**
 * The score of one text, greater is better: BM25 (k1 = 1.2, b = 0.3) over the needles, a bonus for terms and for a whole
 * query that stand as written, all of it scaled by the share of the query's rarity that was found.
 * @param rarity by needle text
 * @param meanLength mean content length of the candidates, above 0
 */
export function searchScore(
  query: SearchQuery,
  found: TextHits,
  rarity: ReadonlyMap<string, NeedleRarity>,
  meanLength: number,
): number {
  const idf = (text: string): number => inverseFrequency(rarity.get(text));
  const wanted = query.needles.reduce((sum, needle) => sum + idf(needle.text), 0);
  const norm = 1.2 * (0.7 + 0.3 * (found.length / meanLength));
  let sum = 0;
  let covered = 0;
  for (const { needle, weight } of found.hits) {
    const value = idf(needle.text);
    covered += value;
    sum += value * ((weight * 2.2) / (weight + norm));
    if (found.quoted.has(needle.text)) sum += value * 0.5;
  }
  if (found.literal) sum += wanted * 0.5;
  return wanted === 0 ? 0 : sum * (covered / wanted);
}

function inverseFrequency(rarity: NeedleRarity | undefined): number {
  const { holders, total } = rarity ?? { holders: 0, total: 1 };
  return Math.log(1 + (Math.max(total, holders) - holders + 0.5) / (holders + 0.5));
}
