import {
  type Digest,
  digestSchema,
  type ProjectId,
  projectIdSchema,
  type Timestamp,
} from '../../../src-preload/contract/ids.ts';
import { compareUtf8 } from '../../canonical/text.ts';
import type { ForeignTable } from '../rules/foreign-columns.ts';
import { gitTables } from '../rules/foreign-git-tables.ts';
import type { ForeignRow } from '../rules/foreign-row.ts';
import { nameForeignRow, textOf } from '../rules/foreign-row.ts';
import { foreignBounds } from '../rules/foreign-schema.ts';
import { sessionTables } from '../rules/foreign-session-tables.ts';
import { type ForeignFile, openContentDigest } from './foreign-file.ts';
import { importRefused } from './refusal.ts';
import { type GitSurvey, surveyGit } from './survey-git.ts';
import { type Baselines, surveyRecords } from './survey-records.ts';
import { type SessionSurvey, surveySessions } from './survey-sessions.ts';

/** A project of a file, from its row or, where the file has none, from the first event that names it. */
export interface ForeignProject {
  readonly projectId: ProjectId;
  readonly name: string;
  readonly createdAt: Timestamp | undefined;
  readonly updatedAt: Timestamp | undefined;
}

/** Everything that a file holds, verified; contents stay in the file. */
export interface ForeignSurvey {
  readonly kind: ForeignFile['kind'];
  /** SHA-256 of the content, whatever the file's pages look like. */
  readonly contentDigest: Digest;
  /** In the byte order of their ids. */
  readonly projects: readonly ForeignProject[];
  readonly sessions: SessionSurvey;
  readonly git: GitSurvey;
  readonly baselines: Baselines;
}

/** Reads rows of a table one by one and lets them into the content digest. */
export type ReadTable = (table: ForeignTable, see: (row: ForeignRow) => void) => Promise<void>;

/** How far a reading has come: rows read, and of how many. */
export type OnProgress = (done: number, total: number) => void;

/**
 * Reads the whole file once and verifies it: every value by its column, every relation between rows, every digest. One page at
 * a time, others work in between. Throws IMPORT_REFUSED naming the first row that does not hold, and why.
 */
export async function surveyFile(file: ForeignFile, onProgress: OnProgress = () => {}): Promise<ForeignSurvey> {
  const digest = openContentDigest();
  let done = 0;
  const total = countRows(file);
  const read: ReadTable = async (table, see) => {
    for await (const page of file.pages(table)) {
      for (const row of page) {
        digest.add(table, row);
        see(row);
      }
      done += page.length;
      onProgress(done, total);
    }
  };
  const projects = new Map<string, ForeignProject>();
  await read(sessionTables.projects, (row) => addProject(projects, row));
  const sessions = await surveySessions(read, projects);
  if (projects.size > foreignBounds.projectsMax)
    throw importRefused(`it speaks of more than ${foreignBounds.projectsMax} projects`);
  const git = await surveyGit(file, read, projects);
  const baselines = await surveyRecords(read, { projects, sessions, git });
  return {
    kind: file.kind,
    contentDigest: digestSchema.parse(digest.end()),
    projects: [...projects.values()].sort((left, right) => compareUtf8(left.projectId, right.projectId)),
    sessions,
    git,
    baselines,
  };
}

function countRows(file: ForeignFile): number {
  let total = 0;
  // Ops are read with their changesets.
  for (const table of file.tables) if (table !== gitTables.memory_changeset_ops) total += file.count(table);
  return total;
}

function addProject(projects: Map<string, ForeignProject>, row: ForeignRow): void {
  const projectId = projectIdSchema.safeParse(row.project_id);
  if (!projectId.success)
    throw importRefused(
      `${nameForeignRow(sessionTables.projects, row)}: project_id cannot be the id of a project here`,
    );
  projects.set(projectId.data, {
    projectId: projectId.data,
    name: textOf(row, 'name'),
    createdAt: (textOf(row, 'created_at') || undefined) as Timestamp | undefined,
    updatedAt: (textOf(row, 'updated_at') || undefined) as Timestamp | undefined,
  });
}
