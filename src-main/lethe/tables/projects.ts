import type { Project } from '../../../src-preload/contract/changeset.ts';
import type { ProjectId, Timestamp } from '../../../src-preload/contract/ids.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

interface ProjectRow {
  readonly project_id: string;
  readonly name: string;
  readonly created_at: string;
  readonly updated_at: string;
}

/** The project of exactly that id. */
export function findProject(db: ReadableDb, projectId: ProjectId): Project | undefined {
  const row = db
    .query<[string], ProjectRow>(
      'SELECT project_id, name, created_at, updated_at FROM memory_projects WHERE project_id = ?',
    )
    .get(projectId);
  return row === undefined ? undefined : decodeProject(row);
}

/** Whether there is a project of exactly that id. */
export function isProject(db: ReadableDb, projectId: string): boolean {
  return (
    db
      .query<[string], { found: number }>('SELECT 1 AS found FROM memory_projects WHERE project_id = ?')
      .get(projectId) !== undefined
  );
}

/** Every project, in the byte order of their ids. */
export function listProjects(db: ReadableDb): readonly Project[] {
  return db
    .query<[], ProjectRow>('SELECT project_id, name, created_at, updated_at FROM memory_projects ORDER BY project_id')
    .all()
    .map(decodeProject);
}

/** Writes a new project; its name is its id. */
export function insertProject(db: WritableDb, projectId: ProjectId, createdAt: Timestamp): void {
  db.command<[string, string, string, string]>(
    'INSERT INTO memory_projects (project_id, name, created_at, updated_at) VALUES (?, ?, ?, ?)',
  ).run(projectId, projectId, createdAt, createdAt);
}

/** Writes a project as another store had it: under its own name, with its own times. */
export function insertForeignProject(db: WritableDb, project: Project): void {
  db.command<[string, string, string, string]>(
    'INSERT INTO memory_projects (project_id, name, created_at, updated_at) VALUES (?, ?, ?, ?)',
  ).run(project.project_id, project.name, project.created_at, project.updated_at);
}

function decodeProject(row: ProjectRow): Project {
  return {
    project_id: row.project_id as ProjectId,
    name: row.name,
    created_at: row.created_at as Timestamp,
    updated_at: row.updated_at as Timestamp,
  };
}
