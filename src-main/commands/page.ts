import { z } from 'zod';
import { type RefName, refNameSchema } from '../../src-preload/contract/ids.ts';
import { resultBytesMax } from '../../src-preload/contract/limits.ts';
import { Fault } from '../base/fault.ts';
import { resultBytes } from './result-bytes.ts';

/**
 * Reads a page that fits into one result (48 kB, `charon.md` §3): when what `read` gives for `limit` is larger, it is
 * read again with fewer items, until it fits or holds one. `count` says how many items a result holds.
 */
export async function fitPage<Result>(
  limit: number,
  read: (limit: number) => Result | Promise<Result>,
  count: (result: Result) => number,
): Promise<Result> {
  let result = await read(limit);
  let asked = Math.min(limit, Math.max(1, count(result)));
  for (let bytes = resultBytes(result); bytes > resultBytesMax && asked > 1; bytes = resultBytes(result)) {
    asked = Math.max(1, Math.min(asked - 1, Math.floor((asked * resultBytesMax) / bytes)));
    result = await read(asked);
  }
  return result;
}

const nameCursorSchema = z.tuple([z.string(), z.string(), refNameSchema]);

/** A cursor of a list in ref name order: pins the list and its project, continues after `name`. */
export function formatNameCursor(list: string, project: string, name: string): string {
  return Buffer.from(JSON.stringify([list, project, name])).toString('base64url');
}

/** The ref name after which a list continues. Throws CURSOR_INVALID for a cursor of another list or project. */
export function parseNameCursor(cursor: string, list: string, project: string): RefName {
  const parsed = nameCursorSchema.safeParse(decodeCursor(cursor));
  if (parsed.success && parsed.data[0] === list && parsed.data[1] === project) return parsed.data[2];
  throw cursorInvalid();
}

/** The refusal of a cursor that another question gave. */
export function cursorInvalid(): Fault {
  return new Fault('CURSOR_INVALID', 'cursor: not one of this list. Start again without a cursor.', {
    field: 'cursor',
  });
}

/** A cursor only when there is one: absent keys stay absent in a result. */
export function nextCursor(cursor: string | undefined): { readonly next_cursor?: string } {
  return cursor === undefined ? {} : { next_cursor: cursor };
}

/** What a cursor says; undefined for what is none. Whoever asks checks it. */
export function decodeCursor(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}
