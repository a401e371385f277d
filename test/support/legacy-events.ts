import { writeEvent } from '../../src-main/lethe/event-write.ts';
import type { EventRow } from '../../src-main/lethe/tables/events.ts';
import type { Connection } from '../../src-main/sqlite/driver.ts';

/** What of an event a test cares about; the rest is that of a log of project `demo`. */
export type LegacyEvent = Partial<Pick<EventRow, 'project_id' | 'event_type' | 'content' | 'confidence' | 'tags'>> & {
  readonly event_id: string;
  readonly created_at: string;
};

/** Writes events with ids and times of the test's own, as an older store had them, in one transaction. */
export function writeLegacyEvents(db: Connection, events: Iterable<LegacyEvent>): void {
  if (db.inTransaction) {
    writeAll(db, events);
    return;
  }
  db.exec('BEGIN');
  writeAll(db, events);
  db.exec('COMMIT');
}

function writeAll(db: Connection, events: Iterable<LegacyEvent>): void {
  for (const event of events) {
    writeEvent(db, {
      project_id: 'demo',
      session_id: null,
      event_type: 'log',
      content: `content of ${event.event_id}`,
      confidence: null,
      tags: '[]',
      parent_event_id: null,
      task_title: '',
      task_status: '',
      thread_id: null,
      ...event,
    });
  }
}
