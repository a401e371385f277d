import type { z } from 'zod';
import { cursorSchema } from '../../../src-preload/contract/ids.ts';
import { Fault } from '../../base/fault.ts';

/**
 * A page's end as opaque text. `fields` pin everything the next page depends on (what is listed, the head, the filter,
 * the position), so that a cursor is good for the question it came from and no other.
 */
export function encodeCursor(fields: Readonly<Record<string, string | number | boolean | null>>): string {
  return Buffer.from(JSON.stringify(fields)).toString('base64url');
}

/**
 * The fields of a cursor, as `schema` (a strict object whose `of` and filter are literals of this question) has them.
 * Throws CURSOR_INVALID for anything that `encodeCursor` did not write for this very question.
 */
export function decodeCursor<Schema extends z.ZodType>(text: string, schema: Schema): z.infer<Schema> {
  const read = schema.safeParse(parseJson(text));
  if (!read.success) throw cursorInvalid();
  return read.data;
}

/** The refusal of a cursor, also for positions that turn out not to exist. */
export function cursorInvalid(): Fault {
  return new Fault(
    'CURSOR_INVALID',
    'This cursor does not belong to this question. Ask again without cursor and follow next_cursor from there.',
  );
}

function parseJson(text: string): unknown {
  if (!cursorSchema.safeParse(text).success) return undefined;
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}
