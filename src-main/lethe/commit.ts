import type { Changeset } from '../../src-preload/contract/changeset.ts';
import type { ChangesetId } from '../../src-preload/contract/ids.ts';
import { toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import { requestDigest } from '../canonical/digest.ts';
import type { ReadableDb, WritableDb } from '../sqlite/driver.ts';
import type { CommitInput } from './api.ts';
import { digestedDraft, insertChangeset } from './changeset-insert.ts';
import {
  changesetNotFound,
  getChangesetRow,
  readChangeset,
  requireIntegrity,
  writtenChangeset,
} from './changeset-rows.ts';
import { openSight, sees } from './projection/sight.ts';
import { parentsView } from './projection/view.ts';
import { requireProject } from './projects.ts';
import { moveCauses, writeMove } from './ref-move.ts';
import { getRef, isProtectedName, protectedRef, refMoved, requireInUse } from './refs.ts';
import { type CommitRequest, normalizeCommit } from './rules/commit-request.ts';
import { needsState, validateAgainstState, validateStateless } from './rules/validate-ops.ts';
import { type ChangesetRow, findChangesetRowByKey } from './tables/changesets.ts';
import { findManifestRow } from './tables/manifests.ts';
import { type StoredRef, updateRefHead } from './tables/refs.ts';
import type { Emit, VerbContext } from './verb-context.ts';

/**
 * Commits in the caller's transaction (`lethe.md` §1.3 with D8 and D9), whole or not at all. The order: the request by
 * itself, the ops by themselves, protection, replay under the key, parents, the ops against the merged state of the
 * parents, the ref; then everything is written, unless the ops leave undecided what both parents changed (`L23`), and the
 * ref moved. The faults are those of `Lethe.commit`.
 */
export function commitChangeset(db: WritableDb, emit: Emit, context: VerbContext, input: CommitInput): Changeset {
  const request = normalizeCommit(input);
  validateStateless(request.ops, { mayRestore: input.mayRestore === true });
  if (request.advanceRef && isProtectedName(request.refName)) throw protectedRef(request.refName);
  requireProject(db, request.projectId);
  const digest = digestRequest(request);
  const earlier = findChangesetRowByKey(db, request.projectId, request.authorPrincipal, request.idempotencyKey);
  if (earlier !== undefined) return replay(db, earlier, digest);
  const parents = readParents(db, request);
  requireManifest(db, request);
  if (needsState(request.ops)) validateAgainstState(request.ops, parentsView(db, request.projectId, seqsOf(parents)));
  const ref = request.advanceRef ? requireMovable(db, request, parents) : undefined;
  const stamp = { changesetId: context.ids.uuidv7(), createdMs: context.clock.nowMs(), isRoot: false };
  const { row, parts } = insertChangeset(
    db,
    { ...request, parents },
    { ...stamp, expectedSeq: ref?.headSeq ?? null, requestDigest: digest },
  );
  emit({
    kind: 'changeset_created',
    project_id: request.projectId,
    changeset_id: row.changeset_id as ChangesetId,
    ref_name: request.refName,
  });
  if (ref !== undefined) moveRef(db, emit, context, request, ref, row);
  return writtenChangeset(row, parts);
}

/** The digest of the request by which a replay is told from another request (`lethe.md` §3.2). */
function digestRequest(request: CommitRequest): string {
  return requestDigest({
    ...digestedDraft({ ...request, parents: request.parentIds.map((id) => ({ changeset_id: id })) }),
    expected_head: request.expectedHead,
    advance_ref: request.advanceRef,
  });
}

/** A key that was used: the changeset that it made, or a refusal when the request was another (`lethe.md` §1.3). */
function replay(db: ReadableDb, row: ChangesetRow, digest: string): Changeset {
  if (row.request_digest !== '' && row.request_digest === digest) return readChangeset(db, row);
  throw new Fault(
    'IDEMPOTENCY_MISMATCH',
    'idempotency_key: this key was used for another request. Take a new key for a new request.',
    {
      changeset_id: row.changeset_id,
    },
  );
}

function readParents(db: ReadableDb, request: CommitRequest): readonly ChangesetRow[] {
  return request.parentIds.map((id, index) => {
    const field = `parent_ids[${index}]`;
    const row = getChangesetRow(db, id, field);
    if (row.project_id !== request.projectId) throw changesetNotFound(id, field);
    requireIntegrity(db, row);
    return row;
  });
}

function requireManifest(db: ReadableDb, request: CommitRequest): void {
  if (request.contextManifestId === '') return;
  if (findManifestRow(db, request.contextManifestId)?.project_id === request.projectId) return;
  throw new Fault('MANIFEST_NOT_FOUND', 'context_manifest_id: there is no such manifest in this project.', {
    field: 'context_manifest_id',
  });
}

/** The ref, when the commit may move it: unprotected, not archived, still at the expected head, and that head among the parents' history (D9). */
function requireMovable(db: ReadableDb, request: CommitRequest, parents: readonly ChangesetRow[]): StoredRef {
  const stored = getRef(db, request.projectId, request.refName);
  if (stored.ref.protected) throw protectedRef(request.refName);
  requireInUse(stored.ref);
  const actual = stored.ref.head_changeset_id;
  if (request.expectedHead !== actual) throw refMoved(request.refName, request.expectedHead, actual);
  const sight = openSight(db);
  if (parents.some((parent) => sees(sight, parent.seq, stored.headSeq))) return stored;
  throw new Fault(
    'NOT_A_DESCENDANT',
    'parent_ids: not a descendant of the head of the ref. Name the head among the parents.',
    {
      ref: request.refName,
      head: actual,
    },
  );
}

function seqsOf(rows: readonly ChangesetRow[]): readonly number[] {
  return rows.map((row) => row.seq);
}

function moveRef(
  db: WritableDb,
  emit: Emit,
  context: VerbContext,
  request: CommitRequest,
  from: StoredRef,
  to: ChangesetRow,
): void {
  const { project_id: projectId, ref_name: refName } = from.ref;
  const movedMs = context.clock.nowMs();
  const movedAt = toTimestamp(movedMs);
  if (!updateRefHead(db, { projectId, refName, fromSeq: from.headSeq, toSeq: to.seq, movedAt })) {
    throw refMoved(refName, from.ref.head_changeset_id, getRef(db, projectId, refName).ref.head_changeset_id);
  }
  const move = { projectId, refName, fromHead: from.ref.head_changeset_id, to, movedMs };
  writeMove(db, context.headSigner, { ...move, principal: request.authorPrincipal, cause: moveCauses.commit });
  emit({
    kind: 'ref_moved',
    project_id: projectId,
    ref_name: refName,
    head_changeset_id: to.changeset_id as ChangesetId,
  });
}
