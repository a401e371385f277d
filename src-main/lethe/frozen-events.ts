import { z } from 'zod';
import { projectIdSchema } from '../../src-preload/contract/ids.ts';
import { compareUtf8 } from '../canonical/text.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import { findBaseline } from './tables/baselines.ts';
import type { ChangesetRow } from './tables/changesets.ts';
import { type EventRow, findEvent } from './tables/events.ts';
import { findImportedRecord } from './tables/imports.ts';

const eventIdsSchema = z.array(z.string());
const recordSchema = z.object({ event_ids_json: z.string() });

/**
 * The events that a root froze, by time and id: those of its project's baseline, which lists them so, or, of a root that came beside
 * a project which was here before, those that its file listed. What is listed and not there is passed over (`lethe.md` §5.5).
 */
export function listFrozenEvents(
  db: ReadableDb,
  root: Pick<ChangesetRow, 'is_root' | 'changeset_id' | 'project_id'>,
): readonly EventRow[] {
  if (root.is_root === 1) return findEvents(db, listOwn(db, root.project_id));
  return findEvents(db, listForeign(db, root.changeset_id)).toSorted(byTime);
}

/** Orders events by time, then by id, as baselines do (`lethe.md` §2.10). */
export function byTime(left: EventRow, right: EventRow): number {
  return compareUtf8(left.created_order, right.created_order) || compareUtf8(left.event_id, right.event_id);
}

function findEvents(db: ReadableDb, listed: string): readonly EventRow[] {
  return eventIdsSchema.parse(JSON.parse(listed)).flatMap((eventId) => findEvent(db, eventId) ?? []);
}

function listOwn(db: ReadableDb, projectId: string): string {
  return findBaseline(db, projectIdSchema.parse(projectId))?.event_ids ?? '[]';
}

function listForeign(db: ReadableDb, changesetId: string): string {
  const record = findImportedRecord(db, 'baseline', changesetId);
  return record === undefined ? '[]' : recordSchema.parse(JSON.parse(record.body)).event_ids_json;
}
