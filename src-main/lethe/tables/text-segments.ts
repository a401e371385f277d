// The full-text index as FTS5 stores it: the record of its segments and their leaf pages.

import { assert } from '../../base/assert.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { readStructure, type TextSegment } from '../rules/text-leaf.ts';

const structureId = 10;
/** A leaf's id is its segment's number times this, plus its own. */
const leavesPerSegment = 2 ** 37;

/** The segments of the full-text index. Throws when their record is missing or of a form that is not known here. */
export function listTextSegments(db: ReadableDb): readonly TextSegment[] {
  const row = db
    .query<[number], { block: Uint8Array }>('SELECT block FROM text_index_data WHERE id = ?')
    .get(structureId);
  assert(row !== undefined, 'a full-text index has a record of its segments');
  return readStructure(row.block);
}

/** The leaves of a segment numbered `from` to `upTo`, in their order. Throws when one is missing. */
export function listTextLeaves(db: ReadableDb, segment: number, from: number, upTo: number): readonly Uint8Array[] {
  const first = segment * leavesPerSegment;
  const rows = db
    .query<[number, number], { block: Uint8Array }>(
      'SELECT block FROM text_index_data WHERE id BETWEEN +? AND +? ORDER BY id',
    )
    .all(first + from, first + upTo);
  assert(rows.length === upTo - from + 1, 'a segment of the full-text index has all of its leaves');
  return rows.map((row) => row.block);
}

/** Whether the full-text index is set as it was made: segments are merged when the store says so (`lethe-0002-text-index.ts`). */
export function isTextIndexSet(db: ReadableDb): boolean {
  const rows = db.query<[], { k: string; v: number }>('SELECT k, v FROM text_index_config').all();
  const settings = new Map(rows.map(({ k, v }) => [k, v]));
  return settings.get('automerge') === 0 && settings.get('crisismerge') === 500;
}
