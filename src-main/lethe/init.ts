import type { Changeset, Ref } from '../../src-preload/contract/changeset.ts';
import { mainRefName, type ProjectId, projectIdSchema } from '../../src-preload/contract/ids.ts';
import { assert } from '../base/assert.ts';
import { toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import { encodePlain } from '../canonical/json.ts';
import type { WritableDb } from '../sqlite/driver.ts';
import { type ChangesetDraft, insertChangeset } from './changeset-insert.ts';
import { readChangeset } from './changeset-rows.ts';
import { walkProjectEvents } from './events.ts';
import { toBaselineEvent } from './projection/baseline.ts';
import { moveCauses } from './ref-move.ts';
import { getRef, writeNewRef } from './refs.ts';
import { legacyRootAuthor, legacyRootEvidence, legacyRootKey, legacyRootMessage } from './rules/legacy-root.ts';
import { insertBaseline } from './tables/baselines.ts';
import { findRootRow } from './tables/changesets.ts';
import { findProject, insertProject } from './tables/projects.ts';
import type { Emit, VerbContext } from './verb-context.ts';

/**
 * Starts the memory of a project in the caller's transaction: project, synthetic root (`lethe.md` §3.5), the events that it
 * has by then as its frozen baseline, and the protected `refs/shared/main`. Again: the root and the ref as they are now, `created` false (`lethe.md` D14).
 */
export function initProject(
  db: WritableDb,
  emit: Emit,
  context: VerbContext,
  input: { readonly projectId: ProjectId; readonly principal: string },
): { readonly changeset: Changeset; readonly ref: Ref; readonly created: boolean } {
  const created = findProject(db, input.projectId) === undefined;
  if (created) createProject(db, emit, context, input);
  const root = findRootRow(db, input.projectId);
  assert(root !== undefined, 'every project has its root');
  return { changeset: readChangeset(db, root), ref: getRef(db, input.projectId, mainRefName).ref, created };
}

function createProject(
  db: WritableDb,
  emit: Emit,
  context: VerbContext,
  input: { readonly projectId: ProjectId; readonly principal: string },
): void {
  if (!projectIdSchema.safeParse(input.projectId).success) {
    throw new Fault(
      'INPUT_INVALID',
      'project: a project id has 1 to 128 printable characters, no `*`, no space at its ends.',
      { field: 'project' },
    );
  }
  const createdMs = context.clock.nowMs();
  const createdAt = toTimestamp(createdMs);
  insertProject(db, input.projectId, createdAt);
  const baseline = [...walkProjectEvents(db, input.projectId, createdAt)].map(toBaselineEvent);
  const { row: root } = insertChangeset(db, legacyRootDraft(input.projectId), {
    changesetId: context.ids.uuidv7(),
    createdMs,
    isRoot: true,
    baseline,
    expectedSeq: null,
    requestDigest: '',
  });
  insertBaseline(db, {
    project_id: input.projectId,
    root_seq: root.seq,
    event_ids: encodePlain(baseline.map(({ eventId }) => eventId)),
    captured_through: createdAt,
    created_at: createdAt,
  });
  emit({ kind: 'project_created', project_id: input.projectId });
  const main = { projectId: input.projectId, refName: mainRefName, head: root, isProtected: true };
  writeNewRef(db, emit, context, { ...main, principal: input.principal, cause: moveCauses.init });
}

function legacyRootDraft(projectId: ProjectId): ChangesetDraft {
  return {
    projectId,
    refName: mainRefName,
    parents: [],
    authorPrincipal: legacyRootAuthor,
    personaId: '',
    actorId: legacyRootAuthor,
    surface: '',
    model: '',
    environment: '',
    sessionId: '',
    topicId: '',
    contextManifestId: '',
    message: legacyRootMessage,
    idempotencyKey: legacyRootKey,
    ops: [],
    evidence: [legacyRootEvidence],
    verification: [],
  };
}
