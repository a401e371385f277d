import { z } from 'zod';
import type { ProjectId, RefName } from '../../src-preload/contract/ids.ts';
import { listLimitMax } from '../../src-preload/contract/limits.ts';
import { assert } from '../base/assert.ts';
import type { HeadMove } from '../canonical/signature.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import { getRef } from './refs.ts';
import { cursorInvalid, decodeCursor, encodeCursor } from './rules/cursor.ts';
import { listMovesOfRef } from './tables/ref-move-pages.ts';
import { findMoveBySeq } from './tables/ref-moves.ts';

/** One signed creation or move of a ref, as it is told outside (`lethe.md` §0.2). */
export type RefMove = HeadMove & { readonly signature: string };

/**
 * A page of the moves of a ref, newest first. The cursor names the ref and the move that ended the page before.
 * Throws PROJECT_NOT_FOUND, REF_NOT_FOUND, CURSOR_INVALID.
 */
export function listRefMoves(
  db: ReadableDb,
  input: {
    readonly projectId: ProjectId;
    readonly refName: RefName;
    readonly limit: number;
    readonly cursor?: string | undefined;
  },
): { readonly moves: readonly RefMove[]; readonly nextCursor?: string | undefined } {
  assert(input.limit >= 1 && input.limit <= listLimitMax, 'the limit of a list is checked at the door');
  const { projectId: project, refName: ref } = input;
  getRef(db, project, ref);
  const before = input.cursor === undefined ? undefined : readCursor(db, project, ref, input.cursor);
  const found = listMovesOfRef(db, project, ref, before, input.limit + 1);
  const moves = found.slice(0, input.limit).map(({ moved_ms: _, epoch: __, ...told }) => told);
  const last = moves.at(-1);
  if (found.length <= input.limit || last === undefined) return { moves };
  return { moves, nextCursor: encodeCursor({ of: 'ref-moves', project, ref, seq: last.seq }) };
}

function readCursor(db: ReadableDb, project: string, ref: string, cursor: string) {
  const schema = z.strictObject({
    of: z.literal('ref-moves'),
    project: z.literal(project),
    ref: z.literal(ref),
    seq: z.int().min(1),
  });
  const move = findMoveBySeq(db, decodeCursor(cursor, schema).seq);
  if (move === undefined || move.project_id !== project || move.ref_name !== ref) throw cursorInvalid();
  return move;
}
