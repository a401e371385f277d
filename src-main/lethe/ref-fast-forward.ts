import type { Ref } from '../../src-preload/contract/changeset.ts';
import type { ChangesetId, ProjectId, RefName } from '../../src-preload/contract/ids.ts';
import { attributionBytesMax } from '../../src-preload/contract/limits.ts';
import { assert } from '../base/assert.ts';
import { toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import { utf8Length } from '../canonical/text.ts';
import type { WritableDb } from '../sqlite/driver.ts';
import { changesetNotFound, getChangesetRow } from './changeset-rows.ts';
import { openSight, sees } from './projection/sight.ts';
import { moveCauses, writeMove } from './ref-move.ts';
import { getRef, isProtectedName, protectedRef, refMoved, requireInUse } from './refs.ts';
import { updateRefHead } from './tables/refs.ts';
import type { Emit, VerbContext } from './verb-context.ts';

/**
 * Moves an unprotected ref by compare-and-set to a descendant of its head (`lethe.md` §1.2 with D9), with its signed row, in
 * the caller's transaction. The faults are those of `GatewayVerbs.fastForward`.
 */
export function fastForwardRef(
  db: WritableDb,
  emit: Emit,
  context: VerbContext,
  input: {
    readonly projectId: ProjectId;
    readonly refName: RefName;
    readonly expectedHead: ChangesetId;
    readonly newHead: ChangesetId;
    readonly principal: string;
  },
): Ref {
  assert(utf8Length(input.principal) <= attributionBytesMax, 'a principal is bounded before it gets here');
  const { projectId, refName } = input;
  if (isProtectedName(refName)) throw protectedRef(refName);
  const { ref, headSeq } = getRef(db, projectId, refName);
  if (ref.protected) throw protectedRef(refName);
  requireInUse(ref);
  const to = getChangesetRow(db, input.newHead, 'new_head');
  if (to.project_id !== projectId) throw changesetNotFound(input.newHead, 'new_head');
  const actual = ref.head_changeset_id;
  if (input.expectedHead !== actual) throw refMoved(refName, input.expectedHead, actual);
  if (to.seq === headSeq) return ref;
  if (!sees(openSight(db), to.seq, headSeq)) {
    throw new Fault(
      'NOT_A_DESCENDANT',
      'new_head: not a descendant of the head of the ref. Move it to a changeset that contains its head.',
      { ref: refName, head: actual },
    );
  }
  const movedMs = context.clock.nowMs();
  const moved = updateRefHead(db, {
    projectId,
    refName,
    fromSeq: headSeq,
    toSeq: to.seq,
    movedAt: toTimestamp(movedMs),
  });
  assert(moved, 'the head was read in this very transaction');
  const move = { projectId, refName, fromHead: actual, to, movedMs, principal: input.principal };
  writeMove(db, context.headSigner, { ...move, cause: moveCauses.fastForward });
  emit({ kind: 'ref_moved', project_id: projectId, ref_name: refName, head_changeset_id: input.newHead });
  return getRef(db, projectId, refName).ref;
}
