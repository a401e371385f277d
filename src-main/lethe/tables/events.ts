import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';
import type { EventFields } from '../rules/event-fields.ts';

/** An event as it is stored; it never changes. `event` ascends as events are written, whatever their times. */
export interface EventRow {
  readonly event: number;
  readonly event_id: string;
  readonly project_id: string;
  readonly session_id: string | null;
  readonly event_type: string;
  readonly content: string;
  readonly confidence: number | null;
  /** A JSON array, or the text of an older store. */
  readonly tags: string;
  readonly parent_event_id: string | null;
  readonly task_title: string;
  readonly task_status: string;
  readonly thread_id: string | null;
  readonly created_at: string;
  readonly created_order: string;
  /** The newest changeset number when it was written. */
  readonly recorded_after: number;
  readonly row_digest: string;
}

const columns = `event, event_id, project_id, session_id, event_type, content, confidence, tags, parent_event_id,
  task_title, task_status, thread_id, created_at, created_order, recorded_after, row_digest`;

const reviewed = `${columns
  .split(/,\s*/)
  .map((name) => `e.${name}`)
  .join(', ')}, r.reviewer_id, r.reviewed_at`;
const review = `LEFT JOIN lethe_flag_reviews r
  ON r.review = (SELECT max(review) FROM lethe_flag_reviews WHERE event_id = e.event_id)`;
const newestFirst = 'ORDER BY e.created_order DESC, e.event DESC LIMIT +? OFFSET +?';
const sieve = `(+? = '' OR e.event_type = +?) AND (+? = '' OR e.content LIKE +? ESCAPE '\\')
    AND (+? = '' OR EXISTS (SELECT 1 FROM json_each(CASE WHEN json_valid(e.tags) THEN e.tags ELSE json_array(e.tags) END) tag
      WHERE tag.value = +?) OR (NOT json_valid(e.tags) AND ',' || replace(e.tags, ' ', ',') || ',' LIKE +? ESCAPE '\\'))`;

export const eventQueries = {
  ofSession: `SELECT ${reviewed} FROM lethe_events e INDEXED BY lethe_events_by_session ${review}
    WHERE e.session_id = +? ${newestFirst}`,
  ofThread: `SELECT ${reviewed} FROM lethe_events e INDEXED BY lethe_events_by_thread ${review}
    WHERE e.thread_id = +? ${newestFirst}`,
  flags: `SELECT ${reviewed} FROM lethe_events e INDEXED BY lethe_events_flags ${review}
    WHERE e.event_type = 'flag' AND (+? = '' OR e.project_id = +?) AND (+? = '' OR (r.review IS NOT NULL) = (+? = 'reviewed'))
    ${newestFirst}`,
  searchAll: `SELECT ${reviewed} FROM
    (SELECT * FROM lethe_events INDEXED BY lethe_events_by_time ORDER BY created_order DESC, event DESC LIMIT +?) e ${review}
    WHERE ${sieve} LIMIT +?`,
  searchProject: `SELECT ${reviewed} FROM
    (SELECT * FROM lethe_events INDEXED BY lethe_events_by_project WHERE project_id = +?
      ORDER BY created_order DESC, event_id DESC LIMIT +?) e ${review}
    WHERE ${sieve} LIMIT +?`,
  ofProject: `SELECT ${columns} FROM lethe_events INDEXED BY lethe_events_by_project
    WHERE project_id = +? AND (created_order, event_id) > (+?, +?) AND created_order <= +? ORDER BY created_order, event_id LIMIT +?`,
  wanted: `SELECT i.number, ${columns
    .split(/,\s*/)
    .map((name) => `e.${name}`)
    .join(', ')} FROM json_each(?) wanted
    CROSS JOIN memory_ids i ON i.number = wanted.value CROSS JOIN lethe_events e ON e.event = i.event`,
} as const;

/** An event by its public id, whatever its project. */
export function findEvent(db: ReadableDb, eventId: string): EventRow | undefined {
  return db.query<[string], EventRow>(`SELECT ${columns} FROM lethe_events WHERE event_id = ?`).get(eventId);
}

/** An event with what was said of it last, if it is a flag. */
export interface ReviewedEventRow extends EventRow {
  readonly reviewer_id: string | null;
  readonly reviewed_at: string | null;
}

/** A page of a list that is asked for by how many come before it. */
export interface OffsetPage {
  readonly limit: number;
  readonly offset: number;
}

/** An event with its review, by its public id. */
export function findReviewedEvent(db: ReadableDb, eventId: string): ReviewedEventRow | undefined {
  return db
    .query<[string], ReviewedEventRow>(`SELECT ${reviewed} FROM lethe_events e ${review} WHERE e.event_id = ?`)
    .get(eventId);
}

/** Events of a session, newest first. */
export function listEventsOfSession(db: ReadableDb, sessionId: string, page: OffsetPage): readonly ReviewedEventRow[] {
  return db
    .query<[string, number, number], ReviewedEventRow>(eventQueries.ofSession)
    .all(sessionId, page.limit, page.offset);
}

/** Events of a thread, newest first. */
export function listEventsOfThread(db: ReadableDb, threadId: string, page: OffsetPage): readonly ReviewedEventRow[] {
  return db
    .query<[string, number, number], ReviewedEventRow>(eventQueries.ofThread)
    .all(threadId, page.limit, page.offset);
}

/** Flags, newest first; of one project, and reviewed or not, where that is asked. */
export function listFlags(
  db: ReadableDb,
  { projectId, state }: { readonly projectId: string; readonly state: '' | 'reviewed' | 'open' },
  page: OffsetPage,
): readonly ReviewedEventRow[] {
  return db
    .query<[string, string, string, string, number, number], ReviewedEventRow>(eventQueries.flags)
    .all(projectId, projectId, state, state, page.limit, page.offset);
}

/** How many events a session has. */
export function countEventsOfSession(db: ReadableDb, sessionId: string): number {
  return (
    db
      .query<[string], { count: number }>(
        'SELECT count(*) AS count FROM lethe_events INDEXED BY lethe_events_by_session WHERE session_id = +?',
      )
      .get(sessionId)?.count ?? 0
  );
}

/** What events are searched for; empty texts ask nothing. */
export interface EventSieve {
  readonly projectId: string;
  readonly eventType: string;
  readonly text: string;
  readonly tag: string;
}

/** Of the newest `scanMax` events those that pass, newest first. */
export function searchEvents(
  db: ReadableDb,
  { projectId, eventType, text, tag }: EventSieve,
  scanMax: number,
  limit: number,
): readonly ReviewedEventRow[] {
  const like = `%${escapeLike(text)}%`;
  const asked = [eventType, eventType, text, like, tag, tag, `%,${escapeLike(tag)},%`, limit];
  const query = projectId === '' ? eventQueries.searchAll : eventQueries.searchProject;
  const owner = projectId === '' ? [] : [projectId];
  return db.query<(string | number)[], ReviewedEventRow>(query).all(...owner, scanMax, ...asked);
}

/** Whether there are more events than a search looks at. */
export function hasEventsBeyond(db: ReadableDb, projectId: string, scanMax: number): boolean {
  const all =
    'SELECT 1 AS found FROM lethe_events INDEXED BY lethe_events_by_time ORDER BY created_order LIMIT 1 OFFSET +?';
  if (projectId === '') return db.query<[number], { found: number }>(all).get(scanMax) !== undefined;
  const own =
    'SELECT 1 AS found FROM lethe_events INDEXED BY lethe_events_by_project WHERE project_id = +? LIMIT 1 OFFSET +?';
  return db.query<[string, number], { found: number }>(own).get(projectId, scanMax) !== undefined;
}

function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, (mark) => `\\${mark}`);
}

/** Writes the review of a flag. */
export function insertFlagReview(db: WritableDb, eventId: string, reviewerId: string, reviewedAt: string): void {
  db.command<[string, string, string]>(
    'INSERT INTO lethe_flag_reviews (event_id, reviewer_id, reviewed_at) VALUES (?, ?, ?)',
  ).run(eventId, reviewerId, reviewedAt);
}

/** Where a page of a project's events goes on: after this one. */
export type EventPosition = Pick<EventRow, 'created_order' | 'event_id'>;

/** Events of a project after a position and not later than a moment (`toOrder`), by time and id (`lethe.md` §2.10). */
export function listProjectEvents(
  db: ReadableDb,
  projectId: string,
  after: EventPosition,
  upToOrder: string,
  limit: number,
): readonly EventRow[] {
  return db
    .query<[string, string, string, string, number], EventRow>(eventQueries.ofProject)
    .all(projectId, after.created_order, after.event_id, upToOrder, limit);
}

/** The events of those memories that were named after one, by memory number, in one statement. */
export function listEventsOfMemories(
  db: ReadableDb,
  numbers: readonly number[],
): readonly (EventRow & { readonly number: number })[] {
  return db.query<[string], EventRow & { readonly number: number }>(eventQueries.wanted).all(JSON.stringify(numbers));
}

/** What an event says, as rules read it. */
export function toFields({ project_id, event_type, content, tags, confidence }: EventRow): EventFields {
  return { projectId: project_id, eventType: event_type, content, tags, confidence };
}

/** The newest changeset number of the store; 0 before the first. */
export function findNewestSeq(db: ReadableDb): number {
  return db.query<[], { seq: number | null }>('SELECT max(seq) AS seq FROM memory_changesets').get()?.seq ?? 0;
}

/** Writes an event; answers its number. */
export function insertEventRow(db: WritableDb, row: Omit<EventRow, 'event'>): number {
  return db
    .command<(string | number | null)[]>(
      `INSERT INTO lethe_events (${columns}) VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      row.event_id,
      row.project_id,
      row.session_id,
      row.event_type,
      row.content,
      row.confidence,
      row.tags,
      row.parent_event_id,
      row.task_title,
      row.task_status,
      row.thread_id,
      row.created_at,
      row.created_order,
      row.recorded_after,
      row.row_digest,
    ).lastInsertRowid;
}
