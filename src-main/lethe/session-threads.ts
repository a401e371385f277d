import { toTimestamp } from '../base/clock.ts';
import type { ReadableDb, WritableDb } from '../sqlite/driver.ts';
import { toOrder } from './rules/event-fields.ts';
import { boundedText, oneOf, requiredProject, requiredText } from './rules/session-input.ts';
import { getSession } from './sessions.ts';
import {
  findThread,
  insertThread,
  listThreads,
  type ThreadOwner,
  type ThreadRow,
  type ThreadStatus,
  threadStatuses,
  updateThread,
} from './tables/threads.ts';
import type { VerbContext } from './verb-context.ts';

/** Longest title of a thread, in bytes. */
export const titleBytesMax = 1_024;

/** Threads of whom is asked for, newest first. Throws SESSION_NOT_FOUND. */
export function listThreadsOf(
  db: ReadableDb,
  owner: ThreadOwner,
  status: ThreadStatus | '',
  limit: number,
): readonly ThreadRow[] {
  const named = owner.kind === 'session' ? { ...owner, id: getSession(db, owner.id).session_id } : owner;
  return listThreads(db, named, status, limit);
}

/** Opens a thread of a session, or of a project alone. Throws INPUT_INVALID, SESSION_NOT_FOUND. */
export function openThread(
  db: WritableDb,
  context: Pick<VerbContext, 'clock' | 'ids'>,
  input: { readonly session: string; readonly projectId: string; readonly title: string },
): ThreadRow {
  const session = input.session === '' ? undefined : getSession(db, input.session);
  return writeThread(db, context, {
    project_id: session?.project_id ?? requiredProject(input.projectId),
    session_id: session?.session_id ?? null,
    title: requiredText('title', input.title, titleBytesMax),
  });
}

/** Writes an open thread. */
export function writeThread(
  db: WritableDb,
  { clock, ids }: Pick<VerbContext, 'clock' | 'ids'>,
  of: Pick<ThreadRow, 'project_id' | 'session_id' | 'title'>,
): ThreadRow {
  const now = toTimestamp(clock.nowMs());
  const row = {
    ...of,
    thread_id: ids.uuidv7(),
    status: 'open',
    created_at: now,
    created_order: toOrder(now),
    updated_at: now,
  } as const;
  return { ...row, thread: insertThread(db, row) };
}

/** Gives a thread another status or title; undefined when there is none. Throws INPUT_INVALID. */
export function changeThread(
  db: WritableDb,
  { clock }: Pick<VerbContext, 'clock'>,
  threadId: string,
  change: { readonly status: string; readonly title: string },
): ThreadRow | undefined {
  const thread = findThread(db, threadId);
  if (thread === undefined) return undefined;
  const changed: ThreadRow = {
    ...thread,
    status: change.status === '' ? thread.status : oneOf('status', change.status, threadStatuses),
    title: change.title === '' ? thread.title : boundedText('title', change.title, titleBytesMax),
    updated_at: toTimestamp(clock.nowMs()),
  };
  updateThread(db, changed);
  return changed;
}
