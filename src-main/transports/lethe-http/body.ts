import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { jsonObjectSchema } from '../../../src-preload/contract/json.ts';
import { Fault } from '../../base/fault.ts';
import { parseJsonBody } from '../json-body.ts';

/**
 * A body's fields, as the reference reads them (`lethe.md` §1.0): the first JSON value only, names in any letter case and the
 * last of a name winning, `null` as if left out, unknown names ignored. Everything else is BODY_INVALID.
 */
export function readBody<Shape extends z.ZodObject>(bytes: Buffer, shape: Shape): z.infer<Shape> {
  const parsed = shape.safeParse(fieldsOf(parseFirst(decodeUtf8(bytes))));
  if (parsed.success) return parsed.data;
  throw bodyInvalid();
}

/** The one refusal of a body that cannot be read. */
export function bodyInvalid(): Fault {
  return new Fault('BODY_INVALID', 'invalid request body');
}

/** Kinds of fields: left out or null they are empty, of another type they are refused. */
export const textField = z.string().default('');
export const flagField = z.boolean().default(false);
export const numberField = z.int().default(0);
export const textsField = z
  .array(
    z
      .string()
      .nullable()
      .transform((text) => text ?? ''),
  )
  .default([]);
/** Objects of free form. */
export const objectsField = z.array(jsonObjectSchema).default([]);

/** An object with the fields of `shape`, read as a body is. */
export function recordField<Shape extends z.ZodObject>(shape: Shape) {
  return z.preprocess(foldNames, shape);
}

/** A list of objects with the fields of `shape`, each read as a body is. */
export function recordsField<Shape extends z.ZodObject>(shape: Shape) {
  return z.array(z.preprocess((value) => (value === null ? {} : foldNames(value)), shape)).default([]);
}

/** Text as the reference decodes it (`lethe.md` §3): every byte that is part of no character becomes one U+FFFD. */
function decodeUtf8(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  let text = '';
  let start = 0;
  for (let at = 0; at < bytes.length; ) {
    const length = characterBytes(bytes, at);
    at += Math.max(1, length);
    if (length > 0) continue;
    text += `${bytes.toString('utf8', start, at - 1)}\ufffd`;
    start = at;
  }
  return text + bytes.toString('utf8', start);
}

/** How many bytes the character at a place has, 0 when there is none. */
function characterBytes(bytes: Buffer, at: number): number {
  const lead = bytes[at] ?? 0;
  const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  return at + length <= bytes.length && isUtf8(bytes.subarray(at, at + length)) ? length : 0;
}

function parseFirst(text: string): unknown {
  const start = text.search(/[^ \t\r\n]/);
  if (start < 0) throw bodyInvalid();
  if (/^null(?:[ \t\r\n]|$)/.test(text.slice(start, start + 5))) return {};
  const end = text[start] === '{' ? findObjectEnd(text, start) : -1;
  if (end < 0) throw bodyInvalid();
  return parseJsonBody(Buffer.from(text.slice(start, end)));
}

/** One past the brace that closes the object at `start`, or -1. What stands between is for the parser to judge. */
function findObjectEnd(text: string, start: number): number {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at += 1) {
    const char = text[at];
    if (quoted && char === '\\') at += 1;
    else if (char === '"') quoted = !quoted;
    else if (!quoted && char === '{') depth += 1;
    else if (!quoted && char === '}') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return -1;
}

function fieldsOf(value: unknown): unknown {
  const folded = foldNames(value);
  if (folded === undefined) throw bodyInvalid();
  return folded;
}

function foldNames(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, field]) => (field === null ? [] : [[name.toLowerCase(), field]])),
  );
}
