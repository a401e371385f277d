import { mainRefName } from '../../../src-preload/contract/ids.ts';
import { toTimestamp } from '../../base/clock.ts';
import { encodePlain } from '../../canonical/json.ts';
import { compareUtf8 } from '../../canonical/text.ts';
import type { WritableDb } from '../../sqlite/driver.ts';
import { byTime, listFrozenEvents } from '../frozen-events.ts';
import { initProject } from '../init.ts';
import { toBaselineEvent } from '../projection/baseline.ts';
import { moveCauses } from '../ref-move.ts';
import { writeNewRef } from '../refs.ts';
import { rowDigest } from '../row-digest.ts';
import { toOrder } from '../rules/event-fields.ts';
import type { ForeignChangeset } from '../rules/foreign-changeset.ts';
import { insertBaseline } from '../tables/baselines.ts';
import { findChangesetRow } from '../tables/changesets.ts';
import { type EventRow, findEvent } from '../tables/events.ts';
import { insertImport, insertImportedProject, insertImportedRef } from '../tables/imports.ts';
import { insertForeignProject } from '../tables/projects.ts';
import type { Emit, VerbContext } from '../verb-context.ts';
import type { ForeignFile } from './foreign-file.ts';
import type { ImportPlan, PlannedProject, PlannedRef } from './plan.ts';
import { projectDigest } from './project-digest.ts';
import { writeRecords } from './records.ts';
import type { ForeignSurvey, OnProgress } from './survey.ts';
import { readForeignChangeset } from './survey-git.ts';
import { getWrittenParent, type WrittenParent, writeForeignChangeset } from './write-history.ts';
import { writeSessions } from './write-sessions.ts';

/** What an import is written with. */
export interface ImportWriting {
  readonly file: ForeignFile;
  readonly survey: ForeignSurvey;
  readonly plan: ImportPlan;
  /** Who imports: the moves of refs are signed in this name, and no author of the file owns anything by them. */
  readonly principal: string;
  readonly onProgress: OnProgress;
}

/**
 * Writes an import in the caller's transaction: sessions and events, projects that were unknown with their history, changesets
 * of the others, refs with signed moves of the cause `import`, and the records that are history. All of it or nothing.
 */
export function writeImport(db: WritableDb, emit: Emit, context: VerbContext, writing: ImportWriting): void {
  const { file, survey, plan, principal } = writing;
  const importedAt = toTimestamp(context.clock.nowMs());
  const importId = context.ids.uuidv7();
  const said = { import_id: importId, content_digest: plan.contentDigest, imported_at: importedAt, principal };
  insertImport(db, { ...said, row_digest: rowDigest('import', said) });
  writeSessions(db, file, survey, importedAt);
  const whole = new Map(plan.projects.filter(isWhole).map((project) => [project.foreign.projectId as string, project]));
  for (const { foreign } of whole.values()) {
    const createdAt = foreign.createdAt ?? importedAt;
    const { projectId: project_id, name } = foreign;
    insertForeignProject(db, { project_id, name, created_at: createdAt, updated_at: foreign.updatedAt ?? createdAt });
    emit({ kind: 'project_created', project_id });
  }
  writeRecords(db, file, importId);
  writeHistory(db, writing, importId, whole);
  for (const project of plan.projects) writeProject(db, emit, context, project, { writing, importId });
}

function isWhole(project: PlannedProject): boolean {
  return project.mode === 'whole';
}

/** Writes the changesets that are not here yet, parents before children. */
function writeHistory(
  db: WritableDb,
  { file, survey, onProgress }: ImportWriting,
  importId: string,
  whole: ReadonlyMap<string, PlannedProject>,
): void {
  const written = new Map<string, WrittenParent>();
  for (const [index, changesetId] of survey.git.order.entries()) {
    if (findChangesetRow(db, changesetId) !== undefined) continue;
    const changeset = readForeignChangeset(file, file.changeset(changesetId));
    const parents = changeset.parentIds.map((parent) => written.get(parent) ?? getWrittenParent(db, parent));
    const isBeside = !whole.has(changeset.words.projectId);
    const events = changeset.isRoot ? frozenBy(db, survey, changeset, isBeside).map(toBaselineEvent) : [];
    const row = writeForeignChangeset(db, changeset, parents, { importId, isBeside, baseline: events });
    written.set(changesetId, row);
    if (changeset.isRoot && !isBeside) {
      const { projectId } = changeset.words;
      insertBaseline(db, {
        project_id: projectId,
        root_seq: row.seq,
        event_ids: encodePlain(events.map(({ eventId }) => eventId)),
        captured_through: changeset.createdAt,
        created_at: changeset.createdAt,
      });
    }
    if (index % 500 === 0) onProgress(index, survey.git.order.length);
  }
  onProgress(survey.git.order.length, survey.git.order.length);
}

/** The events that a root froze: those that its file lists, else those of the file up to it (`lethe.md` §5.5). */
function frozenBy(
  db: WritableDb,
  survey: ForeignSurvey,
  { changesetId, words: { projectId }, createdAt }: ForeignChangeset,
  isBeside: boolean,
): readonly EventRow[] {
  if (isBeside) return listFrozenEvents(db, { is_root: 0, changeset_id: changesetId, project_id: projectId });
  const frozen = survey.baselines.get(projectId)?.eventIds;
  const upTo = toOrder(createdAt);
  return (frozen ?? survey.sessions.eventsOf.get(projectId) ?? [])
    .flatMap((eventId) => findEvent(db, eventId) ?? [])
    .filter(({ created_order: order }) => frozen !== undefined || compareUtf8(order, upTo) <= 0)
    .sort(byTime);
}

interface ProjectStamp {
  readonly writing: ImportWriting;
  readonly importId: string;
}

/** Writes the refs of a project; one that has sessions and events only starts its memory here. */
function writeProject(
  db: WritableDb,
  emit: Emit,
  context: VerbContext,
  project: PlannedProject,
  { writing, importId }: ProjectStamp,
): void {
  const { projectId } = project.foreign;
  const { principal, survey } = writing;
  if (project.mode === 'start') initProject(db, emit, context, { projectId, principal });
  for (const planned of project.refs) writeRef(db, emit, context, planned, project, importId, principal);
  if (project.mode !== 'whole') return;
  const hasMain = project.refs.some(({ landsAs }) => landsAs === mainRefName);
  const root = survey.git.roots.get(projectId);
  if (!hasMain && root !== undefined) {
    const main = { projectId, refName: mainRefName, head: getWrittenParent(db, root), isProtected: true, principal };
    writeNewRef(db, emit, context, { ...main, cause: moveCauses.import });
  }
  insertImportedProject(db, {
    project_id: projectId,
    import_id: importId,
    row_digest: projectDigest(db, projectId, importId),
  });
}

function writeRef(
  db: WritableDb,
  emit: Emit,
  context: VerbContext,
  { ref, landsAs, isProtected }: PlannedRef,
  { foreign: { projectId } }: PlannedProject,
  importId: string,
  principal: string,
): void {
  const head = getWrittenParent(db, ref.head);
  writeNewRef(db, emit, context, {
    projectId,
    refName: landsAs,
    head,
    isProtected,
    principal,
    cause: moveCauses.import,
  });
  const said = {
    project_id: projectId,
    ref_name: landsAs,
    import_id: importId,
    original_name: ref.refName,
    original_created_at: ref.createdAt,
    original_updated_at: ref.updatedAt,
    original_creator: ref.creator,
  };
  insertImportedRef(db, { ...said, row_digest: rowDigest('imported-ref', said) });
}
