import { z } from 'zod';
import type { ProjectId } from '../../../src-preload/contract/ids.ts';
import { checking, type Findings } from '../../base/findings.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { eventDigest } from '../event-write.ts';
import { toOrder } from '../rules/event-fields.ts';
import { type EventPosition, listProjectEvents } from '../tables/events.ts';

const eventsPerChunk = 250;

/** Verifies the next events of a project: each is what its digest says. Answers where the next page starts. */
export function verifyEvents(
  db: ReadableDb,
  projectId: ProjectId,
  after: EventPosition,
  findings: Findings,
): EventPosition | undefined {
  const rows = listProjectEvents(db, projectId, after, '~', eventsPerChunk);
  for (const row of rows) {
    const where = `event ${row.event_id}`;
    checking(findings, where, () => {
      if (eventDigest(row) !== row.row_digest) findings.add(where, 'it is not what its digest says');
      if (toOrder(row.created_at) !== row.created_order)
        findings.add(where, 'its time is stored in two forms that differ');
    });
  }
  return rows.at(-1);
}

const eventIdsSchema = z.array(z.string().min(1));

/** Whether a list of frozen events is one: ids, each once. */
export function isBaselineList(eventIds: string): boolean {
  const parsed = eventIdsSchema.safeParse(JSON.parse(eventIds));
  return parsed.success && new Set(parsed.data).size === parsed.data.length;
}
