import { z } from 'zod';
import { sha256Hex } from '../canonical/digest.ts';
import { resultBytes } from '../commands/result-bytes.ts';
import { type Cut, startOf } from './mcp-cut.ts';

/** Where the rest of a cut answer goes on: in which cut, and at which character of its rest. */
const placeSchema = z.strictObject({ cut: z.int().min(0), at: z.int().min(0) });
export type Place = z.infer<typeof placeSchema>;

const restCursorSchema = z.strictObject({
  /** Digest of the tool and of what it was asked, but for the cursor. */
  asked: z.string(),
  /** Digest of the whole answer that was cut. */
  answer: z.string(),
  place: placeSchema,
  /** The cursor and the head of the answer that was cut. */
  cursor: z.string().optional(),
  head: z.string().optional(),
});

/** What a cursor to the rest of a cut answer says. */
export type RestCursor = z.infer<typeof restCursorSchema>;

/** A piece of what was cut off: `text` stands at `offset` of the rest of that place, `last` when it ends there. */
export interface RestPart {
  readonly path: string;
  readonly form: Cut['form'];
  readonly offset: number;
  readonly text: string;
  readonly last: boolean;
}

const prefix = 'rest.';
/** Bytes around the text of a piece. */
const partFrameBytes = 256;

/** The cursor as a client sends it back. */
export function formatRestCursor(cursor: RestCursor): string {
  return `${prefix}${Buffer.from(JSON.stringify(cursor)).toString('base64url')}`;
}

/** What a cursor to a rest says; undefined for every other cursor. */
export function parseRestCursor(cursor: unknown): RestCursor | undefined {
  if (typeof cursor !== 'string' || !cursor.startsWith(prefix)) return undefined;
  try {
    const said = JSON.parse(Buffer.from(cursor.slice(prefix.length), 'base64url').toString('utf8'));
    return restCursorSchema.safeParse(said).data;
  } catch {
    return undefined;
  }
}

/** A digest by which an answer is known again. */
export function restDigest(value: unknown): string {
  return sha256Hex(JSON.stringify(value)).slice(0, 32);
}

/** The pieces from a place on that are sent in `bytesMax` bytes, at least one; and where it goes on, when it does. */
export function readRest(
  cuts: readonly Cut[],
  from: Place,
  bytesMax: number,
): { readonly parts: readonly RestPart[]; readonly next: Place | undefined } {
  const parts: RestPart[] = [];
  let left = bytesMax;
  let offset = from.at;
  for (const [place, { path, form, rest }] of cuts.entries()) {
    if (place < from.cut) continue;
    left -= partFrameBytes + resultBytes(path);
    if (left < partFrameBytes && parts.length > 0) return { parts, next: { cut: place, at: offset } };
    const text = startOf(rest.slice(offset), left);
    const last = offset + text.length >= rest.length;
    parts.push({ path, form, offset, text, last });
    if (!last) return { parts, next: { cut: place, at: offset + text.length } };
    left -= resultBytes(text);
    offset = 0;
  }
  return { parts, next: undefined };
}
