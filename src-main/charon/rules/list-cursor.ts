import { z } from 'zod';
import { Fault } from '../../base/fault.ts';

const cursorSchema = z.strictObject({ project: z.string(), status: z.string().nullable(), before: z.int().min(1) });

/** Where a list of proposals goes on: the filter that it belongs to, and the last one that was given. */
export type ListCursor = z.infer<typeof cursorSchema>;

/** Opaque text for a caller to hand back. */
export function formatListCursor(cursor: ListCursor): string {
  return Buffer.from(JSON.stringify([cursor.project, cursor.status, cursor.before])).toString('base64url');
}

/** The place that a cursor names. Throws `CURSOR_INVALID` for text that is none and for another project or filter. */
export function parseListCursor(text: string, project: string, status: string | null): number {
  try {
    const [ofProject, ofStatus, before] = z
      .tuple([z.string(), z.string().nullable(), z.int()])
      .parse(JSON.parse(Buffer.from(text, 'base64url').toString()));
    const cursor = cursorSchema.parse({ project: ofProject, status: ofStatus, before });
    if (cursor.project === project && cursor.status === status) return cursor.before;
  } catch {
    // Falls through to the one refusal for every cursor that cannot be used here.
  }
  throw new Fault(
    'CURSOR_INVALID',
    'cursor does not belong to this list. Use the next_cursor of the same request, or leave it out.',
    { field: 'cursor' },
  );
}
