import type { Project } from '../../src-preload/contract/changeset.ts';
import type { ProjectId } from '../../src-preload/contract/ids.ts';
import { Fault } from '../base/fault.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import { findProject } from './tables/projects.ts';

/** The project, or PROJECT_NOT_FOUND: reads never create one (`lethe.md` D14). */
export function requireProject(db: ReadableDb, projectId: ProjectId): Project {
  const project = findProject(db, projectId);
  if (project !== undefined) return project;
  throw new Fault(
    'PROJECT_NOT_FOUND',
    'project: there is no memory of that project. Start it with memory_repo_init, or check its name.',
    { project: projectId },
  );
}
