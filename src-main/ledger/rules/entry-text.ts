import type { JsonValue } from '../../../src-preload/contract/json.ts';
import { addTextTokens, cutPieces, foldText, lettersOnly, type Piece } from '../../text/pieces.ts';

/** What a search looks at: the key as it is written, its words, and every name and value of the JSON. */
export interface EntryText {
  readonly key: string;
  readonly body: string;
}

/** The searchable text of an entry: its key, and of its value the names, texts and numbers, a line each. */
export function entryText(key: string, value: JsonValue): EntryText {
  const lines: string[] = [];
  collect(value, lines);
  return { key: withHumps(key), body: lines.join('\n') };
}

/** The index tokens of an entry: of its text, one for its importance, and one for its key as a whole. */
export function entryTokens(key: string, text: EntryText, importance: number): ReadonlySet<string> {
  const tokens = new Set<string>([importanceToken(importance)]);
  const asKey = keyToken(key);
  if (asKey !== undefined) tokens.add(asKey);
  addTextTokens(tokens, text.key);
  addTextTokens(tokens, text.body);
  return tokens;
}

/** Index token of a whole key, or of a query that spells one: its letters and digits; undefined when there are none. */
export function keyToken(key: string): string | undefined {
  const letters = lettersOnly(key);
  return letters === '' ? undefined : `k${letters}`;
}

/** Index token of an importance. */
export function importanceToken(importance: number): string {
  return `i${importance}`;
}

/**
 * The words of folded text with a space between each two, so that a phrase is found whatever stood between its words; the
 * symbols when there are no words.
 */
export function wordsOf(pieces: readonly Piece[]): string {
  const solid = pieces.filter((piece) => piece.kind !== 'symbol');
  return (solid.length > 0 ? solid : pieces).map((piece) => piece.text).join(' ');
}

/** The words of a text that is not folded yet. */
export function foldedWords(text: string): string {
  return wordsOf(cutPieces(foldText(text)));
}

function collect(value: JsonValue, lines: string[]): void {
  if (typeof value === 'string') lines.push(value);
  else if (typeof value === 'number' || typeof value === 'boolean') lines.push(String(value));
  else if (Array.isArray(value)) for (const item of value) collect(item, lines);
  else if (value !== null)
    for (const [name, item] of Object.entries(value)) {
      lines.push(withHumps(name));
      collect(item, lines);
    }
}

/** A name, and the words in it when they are only told apart by capitals: `userName` has `user` and `name`. */
function withHumps(name: string): string {
  const apart = name.replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2');
  return apart === name ? name : `${name}\n${apart}`;
}
