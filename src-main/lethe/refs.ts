import type { Ref } from '../../src-preload/contract/changeset.ts';
import {
  type ChangesetId,
  type ProjectId,
  protectedRefPrefix,
  type RefName,
  refNameSchema,
} from '../../src-preload/contract/ids.ts';
import { attributionBytesMax, listLimitMax } from '../../src-preload/contract/limits.ts';
import { assert } from '../base/assert.ts';
import { toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import { utf8Length } from '../canonical/text.ts';
import type { ReadableDb, WritableDb } from '../sqlite/driver.ts';
import type { Lethe } from './api.ts';
import { changesetNotFound, getChangesetRow } from './changeset-rows.ts';
import { requireProject } from './projects.ts';
import { moveCauses, writeMove } from './ref-move.ts';
import { findRef, insertRef, listRefs, type StoredRef } from './tables/refs.ts';
import type { Emit, VerbContext } from './verb-context.ts';

/**
 * Refs of a project in name order, after the last name of the page before; archived ones only when asked for.
 * Throws PROJECT_NOT_FOUND.
 */
export function listProjectRefs(
  db: ReadableDb,
  projectId: ProjectId,
  page: Parameters<Lethe['listRefs']>[1],
): readonly Ref[] {
  requireProject(db, projectId);
  assert(page.limit >= 1 && page.limit <= listLimitMax, 'the limit of a list is checked at the door');
  const which = page.archived === true ? 'all' : 'in use';
  return listRefs(db, projectId, page.after ?? '', page.limit, which).map((stored) => stored.ref);
}

/** The ref of that name with the number of its head. Throws PROJECT_NOT_FOUND, REF_NOT_FOUND. */
export function getRef(db: ReadableDb, projectId: ProjectId, refName: string): StoredRef {
  const stored = findRef(db, projectId, refName);
  if (stored !== undefined) return stored;
  requireProject(db, projectId);
  throw new Fault('REF_NOT_FOUND', 'ref: there is no such ref in this project. List the refs, or create it first.', {
    ref: refName,
  });
}

/**
 * Creates an unprotected ref at an existing changeset of the project, with its signed creation row, in the caller's
 * transaction. Throws PROTECTED_REF, REF_NAME_INVALID, PROJECT_NOT_FOUND, REF_EXISTS, CHANGESET_NOT_FOUND.
 */
export function createRef(
  db: WritableDb,
  emit: Emit,
  context: VerbContext,
  input: {
    readonly projectId: ProjectId;
    readonly refName: RefName;
    readonly headChangesetId: ChangesetId;
    readonly principal: string;
  },
): Ref {
  requireRefName(input.refName);
  if (isProtectedName(input.refName)) throw protectedRef(input.refName);
  requireProject(db, input.projectId);
  const existing = findRef(db, input.projectId, input.refName);
  if (existing !== undefined) {
    const message =
      existing.ref.archived === true
        ? 'ref_name: an archived ref has that name, for good. Take another name.'
        : 'ref_name: a ref of that name exists already. Take another name, or commit to it.';
    throw new Fault('REF_EXISTS', message, { ref: input.refName, head: existing.ref.head_changeset_id });
  }
  const head = getChangesetRow(db, input.headChangesetId, 'head_changeset_id');
  if (head.project_id !== input.projectId) throw changesetNotFound(input.headChangesetId, 'head_changeset_id');
  return writeNewRef(db, emit, context, { ...input, head, isProtected: false, cause: moveCauses.create });
}

/** Writes a ref and its signed creation row; what may be created is decided by the caller. */
export function writeNewRef(
  db: WritableDb,
  emit: Emit,
  context: VerbContext,
  input: {
    readonly projectId: ProjectId;
    readonly refName: RefName;
    readonly head: { readonly seq: number; readonly changeset_id: string; readonly chain_digest: string };
    readonly isProtected: boolean;
    readonly principal: string;
    readonly cause: string;
  },
): Ref {
  assert(utf8Length(input.principal) <= attributionBytesMax, 'a principal is bounded before it gets here');
  const movedMs = context.clock.nowMs();
  const { projectId, refName, principal, cause } = input;
  insertRef(db, {
    projectId,
    refName,
    headSeq: input.head.seq,
    isProtected: input.isProtected,
    createdAt: toTimestamp(movedMs),
    principal,
  });
  writeMove(db, context.headSigner, { projectId, refName, fromHead: '', to: input.head, movedMs, principal, cause });
  const { ref } = getRef(db, projectId, refName);
  emit({ kind: 'ref_moved', project_id: projectId, ref_name: refName, head_changeset_id: ref.head_changeset_id });
  return ref;
}

/** Whether refs of that name are protected whatever their row says (`lethe.md` §2). */
export function isProtectedName(refName: string): boolean {
  return refName.startsWith(protectedRefPrefix);
}

/** Refuses a name that is not `refs/` and 2 to 6 segments (`charon.md` §1). */
export function requireRefName(refName: string): void {
  if (refNameSchema.safeParse(refName).success) return;
  throw new Fault(
    'REF_NAME_INVALID',
    'ref_name: a ref is refs/ and 2 to 6 segments of letters, digits, `.`, `_`, `-`.',
    { field: 'ref_name' },
  );
}

/** The refusal of every way around the merge path. */
export function protectedRef(refName: string): Fault {
  return new Fault(
    'PROTECTED_REF',
    'ref: a protected ref moves only by a reviewed, signed merge. Commit to a branch of your own and propose it.',
    { ref: refName },
  );
}

/** Refuses to move what is archived. */
export function requireInUse(ref: Ref): void {
  if (ref.archived !== true) return;
  throw new Fault(
    'REF_ARCHIVED',
    'ref: it is archived and takes nothing new. Its history can be read; commit to another branch, or create one at its head.',
    { ref: ref.ref_name, head: ref.head_changeset_id },
  );
}

/** The refusal of a stale head, with both. */
export function refMoved(refName: string, expected: string, actual: string): Fault {
  return new Fault(
    'REF_MOVED',
    'expected_head: the ref has moved. Read its new head, look at what changed, and send the commit again on top of it.',
    {
      ref: refName,
      expected,
      actual,
    },
  );
}
