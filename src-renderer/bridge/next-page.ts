import { z } from 'zod';

/** Where an answer says that there is more: lists by themselves, a proposal in the diff that is the long part of it. */
const pagedSchema = z.object({
  next_cursor: z.string().optional(),
  diff: z.object({ next_cursor: z.string().optional() }).optional(),
});

/** The cursor of the page after this one; undefined after the last. */
export function findNextCursor(page: unknown): string | undefined {
  const paged = pagedSchema.safeParse(page);
  return paged.success ? (paged.data.next_cursor ?? paged.data.diff?.next_cursor) : undefined;
}
