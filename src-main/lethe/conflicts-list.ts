import { z } from 'zod';
import type { Conflict, ConflictStatus } from '../../src-preload/contract/conflict.ts';
import { digestSchema, type ProjectId, type ProposalId } from '../../src-preload/contract/ids.ts';
import { listLimitMax } from '../../src-preload/contract/limits.ts';
import { assert } from '../base/assert.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import { openConflictReader } from './conflict-rows.ts';
import { requireProject } from './projects.ts';
import { decodeCursor, encodeCursor } from './rules/cursor.ts';
import { listConflictRows } from './tables/conflicts.ts';

export interface ListConflictsInput {
  readonly projectId: ProjectId;
  readonly status?: ConflictStatus | undefined;
  readonly proposalId?: ProposalId | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** Kept conflicts, newest first, then by id, in pages. Throws PROJECT_NOT_FOUND, CURSOR_INVALID. */
export function listConflicts(
  db: ReadableDb,
  input: ListConflictsInput,
): { readonly conflicts: readonly Conflict[]; readonly nextCursor?: string | undefined } {
  assert(input.limit >= 1 && input.limit <= listLimitMax, 'the limit of a list is checked at the door');
  const { projectId, status, limit } = input;
  const proposalId = input.proposalId?.toWellFormed();
  requireProject(db, projectId);
  const question = { of: 'conflicts', project: projectId, status: status ?? '', proposal: proposalId ?? '' };
  const after = input.cursor === undefined ? undefined : readCursor(question, input.cursor);
  const rows = listConflictRows(db, { projectId, status, proposalId }, after, limit + 1);
  const page = rows.slice(0, limit);
  const reader = openConflictReader(db);
  const conflicts = page.map((row) => reader.read(row, proposalId));
  const last = page.at(-1);
  if (rows.length === page.length || last === undefined) return { conflicts };
  return { conflicts, nextCursor: encodeCursor({ ...question, ms: last.created_ms, id: last.conflict_id }) };
}

function readCursor(
  question: Readonly<Record<'of' | 'project' | 'status' | 'proposal', string>>,
  cursor: string,
): { readonly createdMs: number; readonly conflictId: string } {
  const schema = z.strictObject({
    of: z.literal(question.of),
    project: z.literal(question.project),
    status: z.literal(question.status),
    proposal: z.literal(question.proposal),
    ms: z.int(),
    id: digestSchema,
  });
  const { ms, id } = decodeCursor(cursor, schema);
  return { createdMs: ms, conflictId: id };
}
