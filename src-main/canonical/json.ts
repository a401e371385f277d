// The two JSON encoders of the protocol (lethe.md §3). What they write is what digests and signatures are taken over and
// what the JSON columns hold, so the bytes are those of Go's encoding/json, not those of JSON.stringify.

import type { JsonValue } from '../../src-preload/contract/json.ts';
import { assert } from '../base/assert.ts';
import { Fault } from '../base/fault.ts';
import { compareUtf8 } from './text.ts';

/** What the encoders take: JSON, and objects marked by `ordered` at any depth. */
export type Encodable = JsonValue | Ordered | readonly Encodable[] | { readonly [key: string]: Encodable };

/** Deepest nesting that is encoded. The doors allow 64; the rest is room for what a reference server has stored. */
export const encodeDepthMax = 1000;

/** An object whose fields are written in their declared order, as Go writes a struct. Made by `ordered` only. */
export class Ordered {
  readonly fields: readonly (readonly [string, Encodable])[];

  constructor(fields: readonly (readonly [string, Encodable])[]) {
    this.fields = fields;
  }
}

/**
 * Marks an object as a struct: its fields are written in the order of the literal. Names that look like array indexes
 * would be moved by JavaScript and are our own bug.
 */
export function ordered(fields: { readonly [name: string]: Encodable }): Ordered {
  const entries = Object.entries(fields);
  assert(!/^\d/.test(entries[0]?.[0] ?? ''), 'the fields of an ordered object are named, not numbered');
  return new Ordered(entries);
}

/**
 * The "plain" encoding: `<`, `>` and `&` escaped. For integrity and request digests, stored JSON columns and HTTP
 * replies (lethe.md §3). No white space; maps sorted by UTF-8 bytes; text made well-formed; `-0` kept; U+2028/9 escaped.
 * Faults `INPUT_INVALID` for a number that is not finite and for two keys that are one key once well-formed,
 * `BODY_TOO_DEEP` for nesting beyond `encodeDepthMax`. A value that JSON cannot say (undefined, a function, a bigint, a class) is our own bug.
 */
export function encodePlain(value: Encodable): string {
  return encodeValue(value, quotePlain, 0);
}

/**
 * The "canonical" encoding: as `encodePlain`, but `<`, `>` and `&` stay raw. For conflict identities, merge envelopes
 * and every digest of ours (lethe.md §0.2, §0.3, §3.3, §3.4; charon.md §4, §6). The same faults.
 */
export function encodeCanonical(value: Encodable): string {
  return encodeValue(value, quoteCanonical, 0);
}

type Quote = (wellFormed: string) => string;
type Field = readonly [name: string, value: Encodable];

function encodeValue(value: Encodable, quote: Quote, depth: number): string {
  if (typeof value === 'string') return quote(value.toWellFormed());
  if (typeof value === 'number') return encodeNumber(value);
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (value === null) return 'null';
  assert(typeof value === 'object', 'only null, booleans, numbers, texts, arrays and objects have a JSON form');
  if (depth === encodeDepthMax) {
    throw new Fault('BODY_TOO_DEEP', `nested deeper than ${encodeDepthMax} levels: make the value flatter`);
  }
  if (value instanceof Ordered) return encodeFields(value.fields, quote, depth + 1);
  if (isArray(value)) return encodeArray(value, quote, depth + 1);
  const prototype: unknown = Object.getPrototypeOf(value);
  assert(prototype === null || prototype === Object.prototype, 'only plain objects have a JSON form');
  return encodeFields(sortedFields(value), quote, depth + 1);
}

function isArray(value: Encodable): value is readonly Encodable[] {
  return Array.isArray(value);
}

function encodeArray(values: readonly Encodable[], quote: Quote, depth: number): string {
  let text = '[';
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index];
    assert(value !== undefined, 'an array with a hole has no JSON form');
    if (index > 0) text += ',';
    text += encodeValue(value, quote, depth);
  }
  return `${text}]`;
}

function encodeFields(fields: readonly Field[], quote: Quote, depth: number): string {
  let text = '{';
  for (const [name, value] of fields) {
    if (text.length > 1) text += ',';
    text += `${quote(name)}:${encodeValue(value, quote, depth)}`;
  }
  return `${text}}`;
}

function sortedFields(map: { readonly [key: string]: Encodable }): readonly Field[] {
  const fields = Object.entries(map).map(([key, value]): Field => [key.toWellFormed(), value]);
  fields.sort(([left], [right]) => compareUtf8(left, right));
  for (let index = 1; index < fields.length; index += 1) {
    if (fields[index]?.[0] === fields[index - 1]?.[0]) {
      throw new Fault(
        'INPUT_INVALID',
        'two keys of one object differ only in ill-formed characters: rename one of them',
      );
    }
  }
  return fields;
}

function encodeNumber(value: number): string {
  if (!Number.isFinite(value))
    throw new Fault('INPUT_INVALID', 'a number is too large: use one that a float64 can hold');
  return Object.is(value, -0) ? '-0' : String(value);
}

const LINE_SEPARATORS = /[\u2028\u2029]/g;
const HTML_AND_LINE_SEPARATORS = /[<>&\u2028\u2029]/g;
/** What neither encoding can write as it stands; most texts have none of it and are only put between quotes. */
const ESCAPED = /["\\<>&\p{Cc}\u2028\u2029]/u;

function quoteCanonical(wellFormed: string): string {
  if (!ESCAPED.test(wellFormed)) return `"${wellFormed}"`;
  return JSON.stringify(wellFormed).replace(LINE_SEPARATORS, escapeUnit);
}

function quotePlain(wellFormed: string): string {
  if (!ESCAPED.test(wellFormed)) return `"${wellFormed}"`;
  return JSON.stringify(wellFormed).replace(HTML_AND_LINE_SEPARATORS, escapeUnit);
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
