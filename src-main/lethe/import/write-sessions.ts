import type { Timestamp } from '../../../src-preload/contract/ids.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';
import { writeEvent } from '../event-write.ts';
import { toOrder } from '../rules/event-fields.ts';
import type { ForeignTable } from '../rules/foreign-columns.ts';
import { type ForeignRow, nameForeignRow, textOf } from '../rules/foreign-row.ts';
import { sessionTables } from '../rules/foreign-session-tables.ts';
import { insertCheckpoint } from '../tables/checkpoints.ts';
import { findEvent, insertFlagReview } from '../tables/events.ts';
import {
  isAgent,
  isCheckpoint,
  isSessionKey,
  isSessionLink,
  isSessionProject,
  keepAgent,
  keepSessionProject,
} from '../tables/import-sessions.ts';
import { findSessionById, insertSession, insertSessionLink, type SessionStatus } from '../tables/sessions.ts';
import { findThread, insertThread, type ThreadStatus } from '../tables/threads.ts';
import type { ForeignFile } from './foreign-file.ts';
import { importRefused } from './refusal.ts';
import type { ForeignSurvey } from './survey.ts';

/**
 * Writes the sessions of a file and what hangs on them, in the caller's transaction, under their own ids; what is here already
 * stays as it is. A time that the file does not have is that of the import, or of the session's beginning. A session that has
 * ended without saying when ended at its last heartbeat; a session key that another session bears here is left out.
 */
export function writeSessions(db: WritableDb, file: ForeignFile, survey: ForeignSurvey, now: Timestamp): void {
  for (const row of file.rows(sessionTables.agents)) {
    const created = textOf(row, 'created_at') || now;
    const updated = textOf(row, 'last_seen_at') || created;
    keepAgent(db, { id: textOf(row, 'agent_id'), name: textOf(row, 'name'), created_at: created, updated_at: updated });
  }
  for (const row of file.rows(sessionTables.projects)) {
    const created = textOf(row, 'created_at') || now;
    const updated = textOf(row, 'updated_at') || created;
    keepSessionProject(db, {
      ...{ id: textOf(row, 'project_id'), name: textOf(row, 'name') },
      ...{ created_at: created, updated_at: updated },
    });
  }
  for (const row of file.rows(sessionTables.sessions)) writeSession(db, row, now);
  for (const row of file.rows(sessionTables.threads)) writeThread(db, survey, row);
  for (const eventId of survey.sessions.events) writeForeignEvent(db, file.event(eventId));
  for (const row of file.rows(sessionTables.checkpoints)) writeCheckpoint(db, row);
  for (const row of file.rows(sessionTables.session_links)) writeLink(db, row, now);
}

/**
 * How many rows of sessions, events aside, are not here yet. Throws IMPORT_REFUSED for a session or a thread that is here under its id
 * and belongs elsewhere.
 */
export function countNewSessionRows(db: ReadableDb, file: ForeignFile): number {
  let fresh = 0;
  for (const { table, isKnown } of sessionRows) for (const row of file.rows(table)) fresh += isKnown(db, row) ? 0 : 1;
  return fresh;
}

const sessionRows: readonly {
  readonly table: ForeignTable;
  readonly isKnown: (db: ReadableDb, row: ForeignRow) => boolean;
}[] = [
  { table: sessionTables.agents, isKnown: (db, row) => isAgent(db, textOf(row, 'agent_id')) },
  { table: sessionTables.projects, isKnown: (db, row) => isSessionProject(db, textOf(row, 'project_id')) },
  {
    table: sessionTables.sessions,
    isKnown: (db, row) => {
      const known = findSessionById(db, textOf(row, 'session_id'));
      if (known !== undefined && known.project_id !== row.project_id)
        throw importRefused(
          `${nameForeignRow(sessionTables.sessions, row)}: it is here already and says something else`,
        );
      return known !== undefined;
    },
  },
  { table: sessionTables.threads, isKnown: (db, row) => findThread(db, textOf(row, 'thread_id')) !== undefined },
  { table: sessionTables.checkpoints, isKnown: (db, row) => isCheckpoint(db, textOf(row, 'checkpoint_id')) },
  { table: sessionTables.session_links, isKnown: (db, row) => isSessionLink(db, ...linkOf(row)) },
];

/** A link leads from the session that was before to the one that went on from it. */
function linkOf(row: ForeignRow): readonly [from: string, to: string, linkType: string] {
  return [textOf(row, 'prior_session_id'), textOf(row, 'session_id'), textOf(row, 'link_type') || 'resume'];
}

function writeSession(db: WritableDb, row: ForeignRow, now: Timestamp): void {
  const sessionId = textOf(row, 'session_id');
  if (findSessionById(db, sessionId) !== undefined) return;
  const status = textOf(row, 'state') as SessionStatus;
  const startedAt = textOf(row, 'started_at') || now;
  const heartbeatAt = textOf(row, 'last_heartbeat_at') || startedAt;
  const key = textOf(row, 'session_key');
  insertSession(db, {
    session_id: sessionId,
    session_key: key === '' || isSessionKey(db, key) ? null : key,
    agent_id: textOf(row, 'agent_id'),
    project_id: textOf(row, 'project_id'),
    status,
    summary: textOf(row, 'summary'),
    token_budget: row.token_budget === null ? null : Number(row.token_budget),
    total_tokens_consumed: Number(row.total_tokens_consumed),
    started_at: startedAt,
    started_order: toOrder(startedAt),
    heartbeat_at: heartbeatAt,
    ended_at: status === 'active' ? null : textOf(row, 'ended_at') || heartbeatAt,
  });
}

function writeThread(db: WritableDb, survey: ForeignSurvey, row: ForeignRow): void {
  const threadId = textOf(row, 'thread_id');
  if (findThread(db, threadId) !== undefined) return;
  const createdAt = textOf(row, 'created_at');
  insertThread(db, {
    thread_id: threadId,
    project_id: survey.sessions.threads.get(threadId) ?? '',
    session_id: textOf(row, 'session_id'),
    title: textOf(row, 'title'),
    status: textOf(row, 'status') as ThreadStatus,
    created_at: createdAt,
    created_order: toOrder(createdAt),
    updated_at: textOf(row, 'updated_at'),
  });
}

function writeForeignEvent(db: WritableDb, row: ForeignRow): void {
  const eventId = textOf(row, 'event_id');
  if (findEvent(db, eventId) !== undefined) return;
  writeEvent(db, {
    event_id: eventId,
    project_id: textOf(row, 'project_id'),
    session_id: nullOr(row, 'session_id'),
    event_type: textOf(row, 'event_type'),
    content: textOf(row, 'content'),
    confidence: row.confidence === null ? null : Number(row.confidence),
    tags: textOf(row, 'tags'),
    parent_event_id: nullOr(row, 'parent_event_id'),
    task_title: textOf(row, 'task_title'),
    task_status: textOf(row, 'task_status'),
    thread_id: nullOr(row, 'thread_id'),
    created_at: textOf(row, 'created_at'),
  });
  const reviewedAt = textOf(row, 'human_reviewed_at');
  if (reviewedAt !== '') insertFlagReview(db, eventId, textOf(row, 'reviewer_id') || 'unknown', reviewedAt);
}

function writeCheckpoint(db: WritableDb, row: ForeignRow): void {
  const checkpointId = textOf(row, 'checkpoint_id');
  if (isCheckpoint(db, checkpointId)) return;
  const sessionId = textOf(row, 'session_id');
  insertCheckpoint(db, {
    checkpoint_id: checkpointId,
    session_id: sessionId,
    seq: Number(row.seq),
    snapshot: textOf(row, 'snapshot'),
    created_at: textOf(row, 'created_at') || (findSessionById(db, sessionId)?.started_at ?? ''),
  });
}

function writeLink(db: WritableDb, row: ForeignRow, now: Timestamp): void {
  const [from, to, linkType] = linkOf(row);
  if (isSessionLink(db, from, to, linkType)) return;
  const createdAt = findSessionById(db, to)?.started_at ?? now;
  insertSessionLink(db, { from_session_id: from, to_session_id: to, link_type: linkType, created_at: createdAt });
}

function nullOr(row: ForeignRow, name: string): string | null {
  const text = textOf(row, name);
  return text === '' ? null : text;
}
