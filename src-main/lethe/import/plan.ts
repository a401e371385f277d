import type { ChangesetId, Digest, ProjectId, RefName, Timestamp } from '../../../src-preload/contract/ids.ts';
import { mainRefName } from '../../../src-preload/contract/ids.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { openSight, type Sight, sees } from '../projection/sight.ts';
import { gitTables } from '../rules/foreign-git-tables.ts';
import { isProtectedHere, landingBeside, landingWhole } from '../rules/foreign-ref.ts';
import { nameForeignRow } from '../rules/foreign-row.ts';
import { sessionTables } from '../rules/foreign-session-tables.ts';
import { findChangesetRow } from '../tables/changesets.ts';
import { findEvent } from '../tables/events.ts';
import { findImportOf, type ImportedRefRow, listImportedRefs } from '../tables/imports.ts';
import { findChosenNumber } from '../tables/memory-ids.ts';
import { findProject } from '../tables/projects.ts';
import { findRef } from '../tables/refs.ts';
import type { ForeignFile } from './foreign-file.ts';
import { countNewRecords } from './records.ts';
import { importRefused } from './refusal.ts';
import type { ForeignProject, ForeignSurvey } from './survey.ts';
import type { ForeignRef, SurveyedChangeset } from './survey-git.ts';
import { countNewSessionRows } from './write-sessions.ts';

/** A ref of the file and the name under which it is created here. */
export interface PlannedRef {
  readonly ref: ForeignRef;
  readonly landsAs: RefName;
  readonly isProtected: boolean;
}

/** What becomes of one project of the file. */
export interface PlannedProject {
  readonly foreign: ForeignProject;
  /**
   * `whole`: unknown here, comes with its history. `start`: unknown here, has sessions and events only and gets its root now.
   * `beside`: known here, its history lands under refs of its own. `events`: known here, sessions and events only.
   */
  readonly mode: 'whole' | 'start' | 'beside' | 'events';
  readonly newChangesets: number;
  readonly knownChangesets: number;
  readonly refs: readonly PlannedRef[];
  /** Refs that a ref of the same name or main here contains already. */
  readonly knownRefs: number;
  readonly newEvents: number;
}

/** What an import of the file would write, as the store stands now. */
export interface ImportPlan {
  readonly contentDigest: Digest;
  readonly projects: readonly PlannedProject[];
  /** Agents, sessions, checkpoints, threads and links. */
  readonly newSessionRows: number;
  readonly newRecords: number;
  /** Nothing would be written. */
  readonly isEmpty: boolean;
  /** The moment of the import that brought in this content before. */
  readonly importedAt: Timestamp | undefined;
}

/**
 * Compares a file that was verified with the store: what is new, and under which names refs land. Throws IMPORT_REFUSED when a row of
 * the file is here under its id and says something else.
 */
export function planImport(db: ReadableDb, file: ForeignFile, survey: ForeignSurvey): ImportPlan {
  const sight = openSight(db);
  const parts = groupSurvey(survey);
  const projects = survey.projects.map((project) => planProject(db, sight, survey, parts, project));
  const newSessionRows = countNewSessionRows(db, file);
  const newRecords = countNewRecords(db, file);
  const changes = projects.map(({ mode, newChangesets, refs, newEvents }) =>
    mode === 'start' || mode === 'whole' ? 1 : newChangesets + refs.length + newEvents,
  );
  const importedAt = findImportOf(db, survey.contentDigest)?.imported_at;
  return {
    contentDigest: survey.contentDigest,
    projects,
    newSessionRows,
    newRecords,
    isEmpty: importedAt !== undefined || (changes.every((count) => count === 0) && newSessionRows + newRecords === 0),
    importedAt,
  };
}

/** The history of a file by project. */
interface SurveyParts {
  readonly changesets: ReadonlyMap<string, readonly SurveyedChangeset[]>;
  readonly refs: ReadonlyMap<string, readonly ForeignRef[]>;
}

function groupSurvey({ git }: ForeignSurvey): SurveyParts {
  return {
    changesets: Map.groupBy(git.changesets.values(), ({ projectId }) => projectId),
    refs: Map.groupBy(git.refs, ({ projectId }) => projectId),
  };
}

function planProject(
  db: ReadableDb,
  sight: Sight,
  survey: ForeignSurvey,
  parts: SurveyParts,
  foreign: ForeignProject,
): PlannedProject {
  const { projectId } = foreign;
  const isKnown = findProject(db, projectId) !== undefined;
  const root = survey.git.roots.get(projectId);
  const { known, fresh } = countChangesets(db, parts.changesets.get(projectId) ?? []);
  const newEvents = countNewEvents(db, projectId, survey.sessions.eventsOf.get(projectId) ?? []);
  const hasHistory = known + fresh > 0;
  const all = parts.refs.get(projectId) ?? [];
  if (!hasHistory) {
    if (all.length > 0) throw importRefused(`project ${projectId} has refs and no changesets`);
    return {
      foreign,
      mode: isKnown ? 'events' : 'start',
      newChangesets: 0,
      knownChangesets: 0,
      refs: [],
      knownRefs: 0,
      newEvents,
    };
  }
  if (root === undefined) {
    throw importRefused(
      `project ${projectId} has changesets and no root: read the context of its main ref once with the reference server, which makes it`,
    );
  }
  if (isKnown && !isHere(db, root)) requireOwnBaseline(db, survey, projectId);
  const earlier = Map.groupBy(listImportedRefs(db, projectId), (row) => row.original_name);
  const refs = isKnown
    ? all.filter((ref) => !isContained(db, sight, projectId, ref, earlier.get(ref.refName) ?? []))
    : all;
  return {
    foreign,
    mode: isKnown ? 'beside' : 'whole',
    newChangesets: fresh,
    knownChangesets: known,
    refs: landings(db, survey.contentDigest, projectId, isKnown, refs),
    knownRefs: all.length - refs.length,
    newEvents,
  };
}

/**
 * A root that comes beside another one brings the events that it froze as memories of its own: all of them are in the file, and
 * none is a memory of the project already.
 */
function requireOwnBaseline(db: ReadableDb, survey: ForeignSurvey, projectId: ProjectId): void {
  const frozen = survey.baselines.get(projectId);
  const isListed = frozen === undefined ? !survey.sessions.eventsOf.has(projectId) : frozen.missing === 0;
  const isFree = (eventId: string): boolean => findChosenNumber(db, projectId, eventId) === undefined;
  if (isListed && (frozen?.eventIds ?? []).every(isFree)) return;
  throw importRefused(
    `project ${projectId} is here already under another root, and the events that the root of the file froze ${
      isListed ? 'are memories here' : 'are not all in it'
    }: import it into a home of its own`,
  );
}

function countChangesets(
  db: ReadableDb,
  changesets: readonly SurveyedChangeset[],
): { readonly known: number; readonly fresh: number } {
  let [known, fresh] = [0, 0];
  for (const changeset of changesets) {
    const row = findChangesetRow(db, changeset.changesetId);
    if (row === undefined) {
      fresh += 1;
      continue;
    }
    const isSame =
      row.project_id === changeset.projectId &&
      row.integrity_digest === changeset.integrityDigest &&
      row.created_at === changeset.createdAt;
    if (!isSame) throw differs(gitTables.memory_changesets, { changeset_id: changeset.changesetId });
    known += 1;
  }
  return { known, fresh };
}

function countNewEvents(db: ReadableDb, projectId: string, eventIds: readonly string[]): number {
  let fresh = 0;
  for (const eventId of eventIds) {
    const known = findEvent(db, eventId);
    if (known === undefined) fresh += 1;
    else if (known.project_id !== projectId) throw differs(sessionTables.events, { event_id: eventId });
  }
  return fresh;
}

function isHere(db: ReadableDb, changesetId: string): boolean {
  return findChangesetRow(db, changesetId) !== undefined;
}

/** Whether a ref brings nothing: its head is within main, the ref of its name, or a ref that an earlier import made of it. */
function isContained(
  db: ReadableDb,
  sight: Sight,
  projectId: ProjectId,
  ref: ForeignRef,
  earlier: readonly ImportedRefRow[],
): boolean {
  const head = findChangesetRow(db, ref.head);
  if (head === undefined) return false;
  return [mainRefName, ref.refName, ...earlier.map((row) => row.ref_name)].some((name) => {
    const here = findRef(db, projectId, name);
    return here !== undefined && sees(sight, here.headSeq, head.seq);
  });
}

function landings(
  db: ReadableDb,
  contentDigest: string,
  projectId: ProjectId,
  isKnown: boolean,
  refs: readonly ForeignRef[],
): readonly PlannedRef[] {
  const taken = new Set<string>();
  return refs.map((ref) => {
    const landsAs = isKnown ? landingBeside(ref.refName, contentDigest) : landingWhole(ref.refName, contentDigest);
    if (taken.has(landsAs) || findRef(db, projectId, landsAs) !== undefined)
      throw importRefused(
        `${nameForeignRow(gitTables.memory_refs, { ...row(ref) })}: its name here, ${landsAs}, is taken`,
      );
    taken.add(landsAs);
    return { ref, landsAs, isProtected: isProtectedHere(landsAs) };
  });
}

function row({ projectId, refName }: ForeignRef): Record<string, string> {
  return { project_id: projectId, ref_name: refName };
}

function differs(table: Parameters<typeof nameForeignRow>[0], key: Record<string, string>): Error {
  return importRefused(`${nameForeignRow(table, key)}: it is here already and says something else`);
}

/** The landed main ref of a project that was here before: what is proposed to the owner. */
export function findProposable(
  project: PlannedProject,
): { readonly refName: RefName; readonly head: ChangesetId } | undefined {
  if (project.mode !== 'beside') return undefined;
  const main = project.refs.find(({ ref }) => ref.refName === mainRefName);
  return main === undefined ? undefined : { refName: main.landsAs, head: main.ref.head };
}
