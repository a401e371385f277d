import { z } from 'zod';
import type { GraphNode } from '../../src-preload/contract/changeset.ts';
import type { ChangesetId, ProjectId, Timestamp } from '../../src-preload/contract/ids.ts';
import { listLimitMax } from '../../src-preload/contract/limits.ts';
import { assert } from '../base/assert.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import { requireProject } from './projects.ts';
import { decodeCursor, encodeCursor } from './rules/cursor.ts';
import { type ChangesetRow, listChangesetRowsBefore, listParents } from './tables/changesets.ts';

/**
 * Every changeset of a project without its ops, newest first, detached ones among them. Ops are not read, so digests are
 * not verified here; `findChangeset` and `log` do. Throws PROJECT_NOT_FOUND, CURSOR_INVALID.
 */
export function readGraph(
  db: ReadableDb,
  input: { readonly projectId: ProjectId; readonly limit: number; readonly cursor?: string | undefined },
): { readonly nodes: readonly GraphNode[]; readonly nextCursor?: string | undefined } {
  assert(input.limit >= 1 && input.limit <= listLimitMax, 'the limit of a list is checked at the door');
  requireProject(db, input.projectId);
  const schema = z.strictObject({
    of: z.literal('graph'),
    project: z.literal<string>(input.projectId),
    before: z.int().min(1),
  });
  const before = input.cursor === undefined ? Number.MAX_SAFE_INTEGER : decodeCursor(input.cursor, schema).before;
  const rows = listChangesetRowsBefore(db, input.projectId, before, input.limit + 1);
  const page = rows.slice(0, input.limit);
  const nodes = page.map((row) => toNode(db, row));
  const last = page.at(-1);
  if (rows.length === page.length || last === undefined) return { nodes };
  return { nodes, nextCursor: encodeCursor({ of: 'graph', project: input.projectId, before: last.seq }) };
}

function toNode(db: ReadableDb, row: ChangesetRow): GraphNode {
  return {
    changeset_id: row.changeset_id as ChangesetId,
    parent_ids: listParents(db, row.seq).map((parent) => parent.changeset_id as ChangesetId),
    ref_name: row.ref_name,
    author_principal: row.author_principal,
    ...(row.actor_id === '' ? {} : { actor_id: row.actor_id }),
    ...(row.model === '' ? {} : { model: row.model }),
    message: row.message,
    created_at: row.created_at as Timestamp,
    op_count: row.op_count,
  };
}
