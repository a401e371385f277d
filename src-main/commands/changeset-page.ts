import { z } from 'zod';
import type { Changeset } from '../../src-preload/contract/changeset.ts';
import type { CommandOutput } from '../../src-preload/contract/commands/table.ts';
import { type ChangesetId, changesetIdSchema } from '../../src-preload/contract/ids.ts';
import { resultBytesMax } from '../../src-preload/contract/limits.ts';
import { cursorInvalid, decodeCursor, nextCursor } from './page.ts';
import { resultBytes } from './result-bytes.ts';

/** Bytes kept for the keys around the lists and for the cursor. */
const frameBytes = 512;

/**
 * What of a changeset fits into one result: its ops, then its evidence, then its verification, from where the cursor
 * says, one of them at least. All pages together are the changeset, which its digest covers whole. Throws
 * CURSOR_INVALID for a cursor of another changeset or place.
 */
export function pageChangeset(changeset: Changeset, cursor: string | undefined): CommandOutput<'memory.show'> {
  const { ops = [], evidence = [], verification = [], ...rest } = changeset;
  const sizes = [...ops, ...evidence, ...verification].map((item) => resultBytes(item) + 1);
  const start = cursor === undefined ? 0 : parseShowCursor(cursor, changeset.changeset_id, sizes.length);
  const end = findEnd(sizes, start, resultBytesMax - frameBytes - resultBytes(rest));
  const cut = <Item>(items: readonly Item[], before: number): Item[] =>
    items.slice(Math.max(0, start - before), Math.max(0, end - before));
  const lists = {
    ops: cut(ops, 0),
    evidence: cut(evidence, ops.length),
    verification: cut(verification, ops.length + evidence.length),
  };
  return {
    ...rest,
    ...(lists.ops.length === 0 ? {} : { ops: lists.ops }),
    ...(lists.evidence.length === 0 ? {} : { evidence: lists.evidence }),
    ...(lists.verification.length === 0 ? {} : { verification: lists.verification }),
    ...nextCursor(end < sizes.length ? formatShowCursor(changeset.changeset_id, end) : undefined),
  };
}

/** In a list, a changeset that would fill more than half a result comes without its lists; `memory.show` has them. */
export function withoutBulk(changeset: Changeset): Changeset {
  if (resultBytes(changeset) <= resultBytesMax / 2) return changeset;
  const { ops, evidence, verification, ...rest } = changeset;
  return rest;
}

/** The place before which items fit into the bytes, at least one after `start`. */
function findEnd(sizes: readonly number[], start: number, bytesMax: number): number {
  let bytes = 0;
  const past = sizes.findIndex((size, place) => {
    if (place < start) return false;
    bytes += size;
    return bytes > bytesMax && place > start;
  });
  return past < 0 ? sizes.length : past;
}

const showCursorSchema = z.tuple([z.literal('show'), changesetIdSchema, z.int().min(1)]);

function formatShowCursor(changesetId: ChangesetId, place: number): string {
  return Buffer.from(JSON.stringify(['show', changesetId, place])).toString('base64url');
}

function parseShowCursor(cursor: string, changesetId: ChangesetId, places: number): number {
  const parsed = showCursorSchema.safeParse(decodeCursor(cursor));
  if (parsed.success && parsed.data[1] === changesetId && parsed.data[2] < places) return parsed.data[2];
  throw cursorInvalid();
}
