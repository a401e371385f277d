import type { Changeset } from '../../src-preload/contract/changeset.ts';
import { assert } from '../base/assert.ts';
import { Fault } from '../base/fault.ts';
import type { ReadableDb, WritableDb } from '../sqlite/driver.ts';
import type { CommitInput } from './api.ts';
import { commitChangeset } from './commit.ts';
import { moveCauses } from './ref-move.ts';
import { isProtectedName, protectedRef, requireRefName, writeNewRef } from './refs.ts';
import { findChangesetRow, findChangesetRowByKey } from './tables/changesets.ts';
import { findFirstMove } from './tables/ref-moves.ts';
import { findRef } from './tables/refs.ts';
import type { Emit, VerbContext } from './verb-context.ts';

/**
 * A commit that may create its ref (`create_ref_if_missing`, `lethe.md` §1.3 step 10 with D9), in the caller's transaction.
 * The changeset of a created ref is stored as one that moved nothing; that it began the ref is said by the ref's first
 * move. `expectedHead` must then be absent or one of the parents. The faults are those of `commit` and `createRef`.
 */
export function commitCreatingRef(db: WritableDb, emit: Emit, context: VerbContext, input: CommitInput): Changeset {
  if (isProtectedName(input.refName)) throw protectedRef(input.refName);
  requireRefName(input.refName);
  const resting: CommitInput = { ...input, advanceRef: false, expectedHead: undefined };
  const known = findRef(db, input.projectId, input.refName) !== undefined;
  const earlier = findChangesetRowByKey(db, input.projectId, input.authorPrincipal, input.idempotencyKey);
  if (earlier !== undefined) {
    if (began(db, input, earlier.changeset_id)) return commitChangeset(db, emit, context, resting);
    if (!known) throw usedOtherwise(earlier.changeset_id);
  }
  if (known) return commitChangeset(db, emit, context, input.advanceRef ? input : resting);
  const { expectedHead } = input;
  if (expectedHead !== undefined && !input.parentIds.includes(expectedHead)) {
    throw new Fault(
      'NOT_A_DESCENDANT',
      'expected_head: not a descendant of it: the ref is created here. Leave it out, or name one of the parents.',
      { ref: input.refName },
    );
  }
  const changeset = commitChangeset(db, emit, context, resting);
  const head = findChangesetRow(db, changeset.changeset_id);
  assert(head !== undefined, 'a changeset that was just written is there');
  const { projectId, refName, authorPrincipal: principal } = input;
  writeNewRef(db, emit, context, { projectId, refName, head, isProtected: false, principal, cause: moveCauses.create });
  return changeset;
}

function began(db: ReadableDb, input: CommitInput, changesetId: string): boolean {
  return findFirstMove(db, input.projectId, input.refName)?.to_head === changesetId;
}

function usedOtherwise(changesetId: string): Fault {
  return new Fault(
    'IDEMPOTENCY_MISMATCH',
    'idempotency_key: this key was used for another request. Take a new key for a new request.',
    { changeset_id: changesetId },
  );
}
