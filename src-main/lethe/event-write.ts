import type { JsonObject } from '../../src-preload/contract/json.ts';
import type { WritableDb } from '../sqlite/driver.ts';
import { rowDigest } from './row-digest.ts';
import { toOrder } from './rules/event-fields.ts';
import { type EventRow, findNewestSeq, insertEventRow } from './tables/events.ts';

/** An event before the store has added what it adds. `created_at` is RFC 3339 in UTC. */
export type EventDraft = Omit<EventRow, 'event' | 'created_order' | 'recorded_after' | 'row_digest'>;

/** The digest of an event's row: everything but its number and the digest. */
export function eventDigest({ event: _event, row_digest: _digest, ...columns }: EventRow): string {
  const said: JsonObject = columns;
  return rowDigest('event', said);
}

/** Writes an event that was found good, in the caller's transaction; answers it as it is stored. */
export function writeEvent(db: WritableDb, draft: EventDraft): EventRow {
  const row = {
    ...draft,
    event: 0,
    created_order: toOrder(draft.created_at),
    recorded_after: findNewestSeq(db),
    row_digest: '',
  };
  const stored = { ...row, row_digest: eventDigest(row) };
  return { ...stored, event: insertEventRow(db, stored) };
}
