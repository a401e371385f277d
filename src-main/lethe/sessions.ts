import { summaryBytesMax } from '../../src-preload/contract/limits.ts';
import { toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import { encodePlain } from '../canonical/json.ts';
import { isBlank } from '../canonical/text.ts';
import type { ReadableDb, WritableDb } from '../sqlite/driver.ts';
import { toOrder } from './rules/event-fields.ts';
import { digestSession } from './rules/session-digest.ts';
import {
  boundedCount,
  boundedSnapshot,
  boundedText,
  requiredProject,
  requiredText,
  type Snapshot,
} from './rules/session-input.ts';
import type { SessionInput, SessionOutcome, SessionSummary } from './session-api.ts';
import { type CheckpointRow, insertCheckpoint, listCheckpoints } from './tables/checkpoints.ts';
import { countEventsOfSession, listEventsOfSession } from './tables/events.ts';
import {
  findSession,
  insertSession,
  listActiveSessions,
  listSessionLinks,
  type SessionRow,
  updateSession,
  upsertAgent,
  upsertSessionProject,
} from './tables/sessions.ts';
import type { VerbContext } from './verb-context.ts';

type Stamps = Pick<VerbContext, 'clock' | 'ids'>;

const linksMax = 100;
const recentEventsMax = 20;
const compactedCheckpoints = 5;
const compactedEvents = 10;
/** Sessions that one write of stopping interrupts. */
const interruptedPerWrite = 500;

/** A session by its key, else by its id. Throws SESSION_NOT_FOUND. */
export function getSession(db: ReadableDb, keyOrId: string): SessionRow {
  const session = findSession(db, keyOrId);
  if (session !== undefined) return session;
  throw new Fault('SESSION_NOT_FOUND', 'session not found', { field: 'session_id' });
}

/** The id of a session of a project, as manifests and assemblies keep it. Throws SESSION_NOT_FOUND, INPUT_INVALID. */
export function resolveSession(db: ReadableDb, projectId: string, keyOrId: string): string {
  const session = getSession(db, keyOrId);
  if (session.project_id === projectId) return session.session_id;
  throw new Fault('INPUT_INVALID', 'session project mismatch', { field: 'session_id' });
}

/** Starts a session (`L245`), with its agent and project where they are new; a key that is known goes on with its session. */
export function startSession(
  db: WritableDb,
  { clock, ids }: Stamps,
  input: SessionInput,
): { readonly kind: 'started' | 'taken'; readonly session: SessionRow } {
  const agentId = requiredText('agent_id', input.agentId);
  const projectId = requiredProject(input.projectId);
  const key = boundedText('session_key', input.sessionKey);
  const names = {
    agent: boundedText('agent_name', input.agentName),
    project: boundedText('project_name', input.projectName),
  };
  const token_budget = boundedCount('token_budget', input.tokenBudget);
  const known = key === '' ? undefined : findSession(db, key);
  if (known !== undefined) {
    const isOwn = known.agent_id === agentId && known.project_id === projectId && known.status !== 'completed';
    if (!isOwn) return { kind: 'taken', session: known };
  }
  const now = toTimestamp(clock.nowMs());
  const stamps = { created_at: now, updated_at: now };
  upsertAgent(db, { id: agentId, name: names.agent, ...stamps });
  upsertSessionProject(db, { id: projectId, name: names.project, ...stamps });
  if (known !== undefined) return { kind: 'started', session: write(db, activated(known, now)) };
  const row = {
    session_id: ids.uuidv7(),
    session_key: key === '' ? null : key,
    agent_id: agentId,
    project_id: projectId,
    status: 'active',
    summary: '',
    token_budget,
    total_tokens_consumed: 0,
    started_at: now,
    started_order: toOrder(now),
    heartbeat_at: now,
    ended_at: null,
  } as const;
  return { kind: 'started', session: { ...row, session: insertSession(db, row) } };
}

/** Says that a session is alive, and what it used since. One that was interrupted stays so until it is resumed. */
export function beatSession(db: WritableDb, { clock }: Stamps, keyOrId: string, tokens: number | null): SessionOutcome {
  const used = boundedCount('tokens', tokens) ?? 0;
  return unlessCompleted(db, keyOrId, (session) => ({
    ...session,
    heartbeat_at: toTimestamp(clock.nowMs()),
    total_tokens_consumed: Math.min(Number.MAX_SAFE_INTEGER, session.total_tokens_consumed + used),
  }));
}

/** Ends a session for the time being, with where it stood if that is said. */
export function interruptSession(
  db: WritableDb,
  context: Stamps,
  keyOrId: string,
  snapshot: Snapshot | undefined,
): SessionOutcome {
  const outcome = unlessCompleted(db, keyOrId, (session) => interrupted(session, toTimestamp(context.clock.nowMs())));
  if (outcome.kind === 'completed' || snapshot === undefined) return outcome;
  return { ...outcome, checkpoint: writeCheckpoint(db, context, outcome.session, snapshot) };
}

/** Goes on with a session that was interrupted. */
export function resumeSession(db: WritableDb, { clock }: Stamps, keyOrId: string): SessionOutcome {
  return unlessCompleted(db, keyOrId, (session) => activated(session, toTimestamp(clock.nowMs())));
}

/** Ends a session for good; again it only takes another summary. */
export function completeSession(db: WritableDb, { clock }: Stamps, keyOrId: string, summary: string): SessionOutcome {
  const said = boundedText('summary', summary, summaryBytesMax);
  const session = getSession(db, keyOrId);
  const now = toTimestamp(clock.nowMs());
  const ended = session.status === 'completed' ? session : { ...session, heartbeat_at: now, ended_at: now };
  return {
    kind: 'changed',
    session: write(db, { ...ended, status: 'completed', summary: isBlank(said) ? session.summary : said }),
  };
}

/** Interrupts the next active sessions; how many there were. */
export function interruptActive(db: WritableDb, { clock }: Stamps): number {
  const sessions = listActiveSessions(db, interruptedPerWrite);
  const now = toTimestamp(clock.nowMs());
  for (const session of sessions) write(db, interrupted(session, now));
  return sessions.length;
}

/** A session with its latest checkpoint, its newest events and how many there are of both. */
export function summarizeSession(db: ReadableDb, keyOrId: string): SessionSummary {
  const session = getSession(db, keyOrId);
  const [latestCheckpoint] = listCheckpoints(db, session.session_id, 1);
  return {
    session,
    links: listSessionLinks(db, session.session_id, linksMax),
    latestCheckpoint,
    recentEvents: listEventsOfSession(db, session.session_id, { limit: recentEventsMax, offset: 0 }),
    // They are counted from 1 on, and none is ever taken away.
    checkpointCount: latestCheckpoint?.seq ?? 0,
    eventCount: countEventsOfSession(db, session.session_id),
  };
}

/** Replaces the summary of a session by one that its newest checkpoints and events make. */
export function compactSession(db: WritableDb, keyOrId: string): SessionSummary {
  const session = getSession(db, keyOrId);
  const checkpoints = listCheckpoints(db, session.session_id, compactedCheckpoints).map(toDigested);
  const events = listEventsOfSession(db, session.session_id, { limit: compactedEvents, offset: 0 });
  const summary = digestSession(
    checkpoints,
    events.map(({ event_type, task_title, content }) => ({ eventType: event_type, taskTitle: task_title, content })),
  );
  write(db, { ...session, summary });
  return summarizeSession(db, keyOrId);
}

/** Writes where a session stands, under the next number of its own. */
export function addCheckpoint(db: WritableDb, context: Stamps, keyOrId: string, snapshot: Snapshot): CheckpointRow {
  return writeCheckpoint(db, context, getSession(db, keyOrId), snapshot);
}

function writeCheckpoint(
  db: WritableDb,
  { clock, ids }: Stamps,
  session: SessionRow,
  snapshot: Snapshot,
): CheckpointRow {
  const row: CheckpointRow = {
    checkpoint_id: ids.uuidv7(),
    session_id: session.session_id,
    seq: (listCheckpoints(db, session.session_id, 1)[0]?.seq ?? 0) + 1,
    snapshot: encodePlain(boundedSnapshot(snapshot)),
    created_at: toTimestamp(clock.nowMs()),
  };
  insertCheckpoint(db, row);
  return row;
}

function toDigested({ seq, snapshot }: CheckpointRow) {
  const { current_task: task, open_threads: threads } = JSON.parse(snapshot) as Record<string, unknown>;
  return {
    seq,
    currentTask: typeof task === 'string' ? task : '',
    openThreads: Array.isArray(threads) ? threads.length : 0,
  };
}

function unlessCompleted(db: WritableDb, keyOrId: string, change: (session: SessionRow) => SessionRow): SessionOutcome {
  const session = getSession(db, keyOrId);
  if (session.status === 'completed') return { kind: 'completed', session };
  return { kind: 'changed', session: write(db, change(session)) };
}

function interrupted(session: SessionRow, now: string): SessionRow {
  return session.status === 'interrupted' ? session : { ...session, status: 'interrupted', ended_at: now };
}

function activated(session: SessionRow, now: string): SessionRow {
  return { ...session, status: 'active', heartbeat_at: now, ended_at: null };
}

function write(db: WritableDb, session: SessionRow): SessionRow {
  updateSession(db, session);
  return session;
}
