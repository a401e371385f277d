import type { ProjectId } from '../../../src-preload/contract/ids.ts';
import { assert } from '../../base/assert.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { rowDigest } from '../row-digest.ts';
import { findProject } from '../tables/projects.ts';

/** The digest of a project that came whole: over its row, which says what its file said. */
export function projectDigest(db: ReadableDb, projectId: ProjectId, importId: string): string {
  const project = findProject(db, projectId);
  assert(project !== undefined, 'a project that was imported is there');
  const { name, created_at, updated_at } = project;
  return rowDigest('imported-project', { project_id: projectId, import_id: importId, name, created_at, updated_at });
}
