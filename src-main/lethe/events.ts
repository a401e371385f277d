import type { ReadableDb } from '../sqlite/driver.ts';
import { toOrder } from './rules/event-fields.ts';
import { type EventPosition, type EventRow, listProjectEvents } from './tables/events.ts';

const eventsPerRead = 500;

/** The events of a project up to a moment, by time and id (`lethe.md` §2.10); a bounded number of them at once. */
export function* walkProjectEvents(db: ReadableDb, projectId: string, upTo: string): IterableIterator<EventRow> {
  const upToOrder = toOrder(upTo);
  let after: EventPosition | undefined = { created_order: '', event_id: '' };
  while (after !== undefined) {
    const page: readonly EventRow[] = listProjectEvents(db, projectId, after, upToOrder, eventsPerRead);
    yield* page;
    after = page.length < eventsPerRead ? undefined : page.at(-1);
  }
}
