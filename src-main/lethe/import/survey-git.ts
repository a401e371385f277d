import type { ChangesetId, Timestamp } from '../../../src-preload/contract/ids.ts';
import { decodeForeignChangeset, type ForeignChangeset } from '../rules/foreign-changeset.ts';
import { gitTables } from '../rules/foreign-git-tables.ts';
import { type ForeignNode, orderForeign } from '../rules/foreign-order.ts';
import { isProtectedHere } from '../rules/foreign-ref.ts';
import { type ForeignRow, nameForeignRow, textOf } from '../rules/foreign-row.ts';
import { foreignBounds } from '../rules/foreign-schema.ts';
import { parseForeignTime } from '../rules/foreign-time.ts';
import type { ForeignFile } from './foreign-file.ts';
import { importRefused, refusingRows } from './refusal.ts';
import type { ForeignProject, ReadTable } from './survey.ts';
import { refuser } from './survey-sessions.ts';

/** What is kept of a changeset while the file is looked over. */
export interface SurveyedChangeset extends ForeignNode {
  readonly projectId: string;
  readonly createdAt: Timestamp;
  readonly integrityDigest: string;
  readonly digestVersion: 1 | 2;
  readonly isRoot: boolean;
}

/** A ref of a file. */
export interface ForeignRef {
  readonly projectId: string;
  readonly refName: string;
  readonly head: ChangesetId;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  /** Empty where the file names nobody. */
  readonly creator: string;
}

/** The history of a file: none for one of sessions alone. */
export interface GitSurvey {
  readonly changesets: ReadonlyMap<string, SurveyedChangeset>;
  /** All changeset ids, parents before children. */
  readonly order: readonly string[];
  readonly refs: readonly ForeignRef[];
  /** Project id to the id of its synthetic root. */
  readonly roots: ReadonlyMap<string, string>;
}

/** A changeset of a file as it is written: its row and ops, decoded and verified. Throws IMPORT_REFUSED. */
export function readForeignChangeset(file: ForeignFile, row: ForeignRow): ForeignChangeset {
  return refusingRows(() => {
    const ops = file.ops(textOf(row, 'changeset_id'), foreignBounds.opsMax);
    if (ops.length > foreignBounds.opsMax)
      throw importRefused(
        `${nameForeignRow(gitTables.memory_changesets, row)}: it has more than ${foreignBounds.opsMax} ops`,
      );
    return decodeForeignChangeset(row, ops, file.mayHoldFirstDigests);
  });
}

/** Reads changesets and refs: digests, parents, projects, order, heads. Throws IMPORT_REFUSED. */
export async function surveyGit(
  file: ForeignFile,
  read: ReadTable,
  projects: ReadonlyMap<string, ForeignProject>,
): Promise<GitSurvey> {
  const changesets = new Map<string, SurveyedChangeset>();
  const roots = new Map<string, string>();
  let ops = 0;
  if (file.count(gitTables.memory_changesets) > foreignBounds.changesetsMax)
    throw importRefused(`it has more than ${foreignBounds.changesetsMax} changesets`);
  if (file.count(gitTables.memory_refs) > foreignBounds.refsMax)
    throw importRefused(`it has more than ${foreignBounds.refsMax} refs`);
  await read(gitTables.memory_changesets, (row) => {
    const refuse = refuser(gitTables.memory_changesets, row);
    const changeset = readForeignChangeset(file, row);
    const { changesetId, words, isRoot } = changeset;
    if (!projects.has(words.projectId)) refuse('its project is not in the file');
    if (isRoot && roots.has(words.projectId)) refuse('its project has another root already');
    if (isRoot) roots.set(words.projectId, changesetId);
    ops += words.ops.length;
    changesets.set(changesetId, surveyed(changeset));
  });
  if (ops !== file.count(gitTables.memory_changeset_ops))
    throw importRefused('its table memory_changeset_ops has ops of no changeset of the file');
  const order = orderChangesets(changesets);
  const refs = await surveyRefs(read, projects, changesets);
  return { changesets, order, refs, roots };
}

function surveyed({ changesetId, parentIds, words, createdAt, ...rest }: ForeignChangeset): SurveyedChangeset {
  const { integrityDigest, digestVersion, isRoot } = rest;
  const order = parseForeignTime(createdAt)?.order ?? '';
  return {
    changesetId,
    parentIds,
    order,
    projectId: words.projectId,
    createdAt,
    integrityDigest,
    digestVersion,
    isRoot,
  };
}

function orderChangesets(changesets: ReadonlyMap<string, SurveyedChangeset>): readonly string[] {
  const where = (changesetId: string): string =>
    nameForeignRow(gitTables.memory_changesets, { changeset_id: changesetId });
  const ordered = orderForeign(changesets);
  if (ordered.kind !== 'ordered') {
    const problem = ordered.kind === 'cycle' ? 'it is its own ancestor' : 'a parent of it is not in the file';
    throw importRefused(`${where(ordered.changesetId)}: ${problem}`);
  }
  for (const { changesetId, parentIds, projectId } of changesets.values()) {
    if (parentIds.some((parent) => changesets.get(parent)?.projectId !== projectId))
      throw importRefused(`${where(changesetId)}: a parent of it is of another project`);
  }
  return ordered.changesetIds;
}

async function surveyRefs(
  read: ReadTable,
  projects: ReadonlyMap<string, ForeignProject>,
  changesets: ReadonlyMap<string, SurveyedChangeset>,
): Promise<readonly ForeignRef[]> {
  const refs: ForeignRef[] = [];
  await read(gitTables.memory_refs, (row) => {
    const refuse = refuser(gitTables.memory_refs, row);
    const [projectId, refName] = [textOf(row, 'project_id'), textOf(row, 'ref_name')];
    const head = textOf(row, 'head_changeset_id') as ChangesetId;
    if (!projects.has(projectId)) refuse('its project is not in the file');
    if (changesets.get(head)?.projectId !== projectId) refuse('its head is no changeset of its project');
    if (row.protected !== 0 && row.protected !== 1) refuse('protected is neither 0 nor 1');
    if (row.protected === 1 && !isProtectedHere(refName))
      refuse('it is protected, and here only refs under refs/shared/ are');
    const [createdAt, updatedAt] = [textOf(row, 'created_at') as Timestamp, textOf(row, 'updated_at') as Timestamp];
    refs.push({ projectId, refName, head, createdAt, updatedAt, creator: textOf(row, 'created_by_principal') });
  });
  return refs;
}
