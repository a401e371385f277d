import type { Ref } from '../../src-preload/contract/changeset.ts';
import type { ChangesetId, ProjectId, RefName } from '../../src-preload/contract/ids.ts';
import { attributionBytesMax } from '../../src-preload/contract/limits.ts';
import { assert } from '../base/assert.ts';
import { toTimestamp } from '../base/clock.ts';
import { utf8Length } from '../canonical/text.ts';
import type { WritableDb } from '../sqlite/driver.ts';
import { getChangesetRow } from './changeset-rows.ts';
import { moveCauses, writeMove } from './ref-move.ts';
import { getRef, isProtectedName, protectedRef, refMoved } from './refs.ts';
import { updateRefArchived } from './tables/refs.ts';
import type { Emit, VerbContext } from './verb-context.ts';

/**
 * Archives an unprotected ref at its head by compare-and-set (`lethe.md` §0.5), with its signed row, in the caller's
 * transaction. One that is archived there already is answered as it is. The faults are those of `Lethe.archiveRef`.
 */
export function archiveRef(
  db: WritableDb,
  emit: Emit,
  context: VerbContext,
  input: {
    readonly projectId: ProjectId;
    readonly refName: RefName;
    readonly expectedHead: ChangesetId;
    readonly principal: string;
  },
): Ref {
  assert(utf8Length(input.principal) <= attributionBytesMax, 'a principal is bounded before it gets here');
  const { projectId, refName, principal } = input;
  if (isProtectedName(refName)) throw protectedRef(refName);
  const { ref, headSeq } = getRef(db, projectId, refName);
  if (ref.protected) throw protectedRef(refName);
  const head = ref.head_changeset_id;
  if (input.expectedHead !== head) throw refMoved(refName, input.expectedHead, head);
  if (ref.archived === true) return ref;
  const movedMs = context.clock.nowMs();
  const marked = updateRefArchived(db, { projectId, refName, headSeq, archivedAt: toTimestamp(movedMs) });
  assert(marked, 'the head was read in this very transaction');
  const to = getChangesetRow(db, head, 'expected_head');
  const move = { projectId, refName, fromHead: head, to, movedMs, principal };
  writeMove(db, context.headSigner, { ...move, cause: moveCauses.archive });
  emit({ kind: 'ref_moved', project_id: projectId, ref_name: refName, head_changeset_id: head });
  return getRef(db, projectId, refName).ref;
}
