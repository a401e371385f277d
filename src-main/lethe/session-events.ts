import { contentBytesMax, queryBytesMax } from '../../src-preload/contract/limits.ts';
import { toTimestamp } from '../base/clock.ts';
import { encodePlain } from '../canonical/json.ts';
import { isBlank, utf8Length } from '../canonical/text.ts';
import type { ReadableDb, WritableDb } from '../sqlite/driver.ts';
import { writeEvent } from './event-write.ts';
import {
  boundedConfidence,
  boundedTags,
  boundedText,
  fieldFault,
  oneOf,
  requiredProject,
  requiredText,
} from './rules/session-input.ts';
import type { EventInput } from './session-api.ts';
import { titleBytesMax, writeThread } from './session-threads.ts';
import { getSession } from './sessions.ts';
import {
  type EventRow,
  type EventSieve,
  findEvent,
  findReviewedEvent,
  hasEventsBeyond,
  insertFlagReview,
  type ReviewedEventRow,
  searchEvents,
} from './tables/events.ts';
import { findThread, type ThreadRow } from './tables/threads.ts';
import type { VerbContext } from './verb-context.ts';

type Stamps = Pick<VerbContext, 'clock' | 'ids'>;

/** Types that a client records; the others are of older stores. */
const recordedTypes = ['record', 'log', 'flag', 'task'] as const;
const taskStatuses = ['todo', 'in_progress', 'done', 'blocked'] as const;

/** Events that one search looks through. */
const searchScanMax = 50_000;

/**
 * Records an event, of a session or of a project alone (`L246`); a flag that belongs to no thread opens one. Undefined for
 * blank content. Throws INPUT_INVALID with the field, SESSION_NOT_FOUND.
 */
export function recordEvent(
  db: WritableDb,
  context: Stamps,
  input: EventInput,
): { readonly event: EventRow; readonly thread: ThreadRow | undefined } | undefined {
  const session = input.session === '' ? undefined : getSession(db, input.session);
  const project_id = session?.project_id ?? requiredProject(input.projectId);
  const event_type = input.eventType === '' ? 'log' : oneOf('event_type', input.eventType, recordedTypes);
  if (isBlank(input.content)) return undefined;
  const content = boundedText('content', input.content, contentBytesMax);
  const said = {
    event_type,
    content,
    confidence: boundedConfidence(input.confidence),
    tags: encodePlain(boundedTags(input.tags)),
    ...taskOf(event_type, input),
  };
  const parent_event_id = parentOf(db, project_id, input.parentEventId);
  const known = threadOf(db, project_id, input.threadId);
  const session_id = session?.session_id ?? null;
  const opened =
    event_type === 'flag' && known === undefined
      ? writeThread(db, context, { project_id, session_id, title: titleOf(content) })
      : undefined;
  const event = writeEvent(db, {
    ...{ event_id: context.ids.uuidv7(), project_id, session_id, ...said, parent_event_id },
    thread_id: (opened ?? known)?.thread_id ?? null,
    created_at: toTimestamp(context.clock.nowMs()),
  });
  return { event, thread: opened };
}

function taskOf(eventType: string, input: EventInput): Pick<EventRow, 'task_title' | 'task_status'> {
  if (eventType !== 'task') {
    if (input.taskTitle !== '') throw fieldFault('task_title', 'only a task has one.');
    if (input.taskStatus !== '') throw fieldFault('task_status', 'only a task has one.');
    return { task_title: '', task_status: '' };
  }
  return {
    task_title: requiredText('task_title', input.taskTitle, titleBytesMax),
    task_status: input.taskStatus === '' ? 'todo' : oneOf('task_status', input.taskStatus, taskStatuses),
  };
}

function parentOf(db: ReadableDb, projectId: string, eventId: string): string | null {
  if (eventId === '') return null;
  if (findEvent(db, eventId)?.project_id === projectId) return eventId;
  throw fieldFault('parent_event_id', 'there is no such event in this project.');
}

function threadOf(db: ReadableDb, projectId: string, threadId: string): ThreadRow | undefined {
  if (threadId === '') return undefined;
  const thread = findThread(db, threadId);
  if (thread?.project_id === projectId) return thread;
  throw fieldFault('thread_id', 'there is no such thread in this project.');
}

/** The first line of a flag, cut between characters. */
function titleOf(content: string): string {
  let title = '';
  for (const character of content.split('\n').find((line) => !isBlank(line)) ?? content) {
    if (utf8Length(title) + utf8Length(character) > 120) break;
    title += character;
  }
  return title;
}

/**
 * The newest events that pass, and whether all were looked at. Throws INPUT_INVALID.
 * @param scanMax how many events are looked through, the newest first
 */
export function findEvents(
  db: ReadableDb,
  sieve: EventSieve,
  limit: number,
  scanMax: number = searchScanMax,
): { readonly events: readonly ReviewedEventRow[]; readonly complete: boolean } {
  const bounded = {
    ...sieve,
    text: boundedText('q', sieve.text, queryBytesMax),
    tag: boundedText('tag', sieve.tag),
  };
  const events = searchEvents(db, bounded, scanMax, limit);
  return { events, complete: events.length >= limit || !hasEventsBeyond(db, sieve.projectId, scanMax) };
}

/** Says that a flag was looked at, and by whom; undefined when there is no such flag. Throws INPUT_INVALID. */
export function reviewFlag(
  db: WritableDb,
  { clock }: Pick<VerbContext, 'clock'>,
  eventId: string,
  reviewerId: string,
): ReviewedEventRow | undefined {
  const reviewer = requiredText('reviewer_id', reviewerId);
  const flag = findEvent(db, eventId);
  if (flag?.event_type !== 'flag') return undefined;
  insertFlagReview(db, eventId, reviewer, toTimestamp(clock.nowMs()));
  return findReviewedEvent(db, eventId);
}
