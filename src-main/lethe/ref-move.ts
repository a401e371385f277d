import type { ProjectId, RefName } from '../../src-preload/contract/ids.ts';
import { toTimestamp } from '../base/clock.ts';
import { headMoveBytes, type Signer } from '../canonical/signature.ts';
import type { WritableDb } from '../sqlite/driver.ts';
import {
  findLastHeadKey,
  findLastMove,
  insertHeadKey,
  insertMove,
  nextMoveSeq,
  type RefMoveRow,
} from './tables/ref-moves.ts';

/** A creation (`fromHead` empty) or move of a ref, before it has a number and a signature. */
export interface MoveDraft {
  readonly projectId: ProjectId;
  readonly refName: RefName;
  readonly fromHead: string;
  readonly to: { readonly changeset_id: string; readonly chain_digest: string };
  readonly movedMs: number;
  readonly principal: string;
  readonly cause: string;
}

/** Why a ref was created, moved or archived, as its signed row says it. */
export const moveCauses = {
  init: 'init',
  create: 'create',
  commit: 'commit',
  fastForward: 'fast_forward',
  /** The creation of a ref that came from a file, protected or not. */
  import: 'import',
  /** Not a move: the last row of a ref, from its head to the same head. */
  archive: 'archive',
} as const;

/** The cause of a protected move names its advance record, so that the signature covers both. */
export function advanceCause(advanceId: string): string {
  return `advance:${advanceId}`;
}

/** The epoch of a move after the one before it on its ref: the next one when the clock has gone back. */
export function epochAfter(before: RefMoveRow | undefined, movedMs: number): number {
  if (before === undefined) return 0;
  return movedMs < before.moved_ms ? before.epoch + 1 : before.epoch;
}

/**
 * Writes the signed row of a creation or move (`lethe.md` §0.2), in the transaction of the move itself. A key that did
 * not sign the move before is recorded with this one as its first.
 */
export function writeMove(db: WritableDb, signer: Signer, draft: MoveDraft): RefMoveRow {
  const seq = nextMoveSeq(db);
  if (findLastHeadKey(db)?.public_key !== signer.publicKey)
    insertHeadKey(db, { first_seq: seq, public_key: signer.publicKey });
  const move = {
    seq,
    project_id: draft.projectId,
    ref_name: draft.refName,
    from_head: draft.fromHead,
    to_head: draft.to.changeset_id,
    moved_at: toTimestamp(draft.movedMs),
    principal: draft.principal,
    cause: draft.cause,
    chain_digest: draft.to.chain_digest,
  };
  const epoch = epochAfter(findLastMove(db, draft.projectId, draft.refName), draft.movedMs);
  const row: RefMoveRow = { ...move, moved_ms: draft.movedMs, epoch, signature: signer.sign(headMoveBytes(move)) };
  insertMove(db, row);
  return row;
}
