import { z } from 'zod';
import { cursorSchema } from '../../../src-preload/contract/ids.ts';
import { Fault } from '../../base/fault.ts';

/** A page's end as opaque text: what was listed, so that it is good for that list alone, and where the next page begins. */
export function encodePageCursor(question: readonly string[], position: string | number): string {
  return Buffer.from(JSON.stringify([question, position])).toString('base64url');
}

/** Where a list goes on; `first` without a cursor. Throws CURSOR_INVALID for a cursor of anything else. */
export function decodePageCursor<Position extends string | number>(
  question: readonly string[],
  cursor: string | undefined,
  first: Position,
): Position {
  if (cursor === undefined) return first;
  const position = parse(cursor, question);
  if (typeof position !== typeof first) throw cursorInvalid();
  return position as Position;
}

function parse(cursor: string, question: readonly string[]): string | number {
  try {
    const text = Buffer.from(cursorSchema.parse(cursor), 'base64url').toString('utf8');
    const [of, position] = z
      .tuple([z.array(z.string()), z.union([z.string(), z.int().min(0)])])
      .parse(JSON.parse(text));
    if (JSON.stringify(of) === JSON.stringify(question)) return position;
  } catch {
    // Whatever is wrong with it, there is one refusal.
  }
  throw cursorInvalid();
}

function cursorInvalid(): Fault {
  return new Fault(
    'CURSOR_INVALID',
    'This cursor does not belong to this question. Ask again without cursor and follow next_cursor from there.',
  );
}
