import type { ProjectId } from '../../src-preload/contract/ids.ts';
import { listLimitMax } from '../../src-preload/contract/limits.ts';
import type { Advance } from '../../src-preload/contract/proposal.ts';
import { assert } from '../base/assert.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import { requireProject } from './projects.ts';
import { cursorInvalid } from './rules/cursor.ts';
import { findAdvanceById, listAdvancesBefore } from './tables/advances.ts';

/**
 * Advance records of a project, newest first; `cursor` is the advance id that ended the page before.
 * Throws PROJECT_NOT_FOUND, CURSOR_INVALID.
 */
export function listProjectAdvances(
  db: ReadableDb,
  projectId: ProjectId,
  page: { readonly limit: number; readonly cursor?: string | undefined },
): readonly Advance[] {
  assert(page.limit >= 1 && page.limit <= listLimitMax, 'the limit of a list is checked at the door');
  requireProject(db, projectId);
  return listAdvancesBefore(db, projectId, startOf(db, projectId, page.cursor), page.limit).map(
    (stored) => stored.advance,
  );
}

function startOf(db: ReadableDb, projectId: ProjectId, cursor: string | undefined): number {
  if (cursor === undefined) return Number.MAX_SAFE_INTEGER;
  const stored = findAdvanceById(db, cursor);
  if (stored === undefined || stored.advance.project_id !== projectId) throw cursorInvalid();
  return stored.moveSeq;
}
