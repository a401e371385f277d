import type { JsonObject } from '../../../src-preload/contract/json.ts';
import type { Ordered } from '../../canonical/json.ts';
import { readTags } from '../../lethe/rules/event-fields.ts';
import type { Assembly, SessionSummary } from '../../lethe/session-api.ts';
import type { AssemblyRow, FeedbackRow } from '../../lethe/tables/assemblies.ts';
import type { CheckpointRow } from '../../lethe/tables/checkpoints.ts';
import type { EventRow, ReviewedEventRow } from '../../lethe/tables/events.ts';
import type { SessionLinkRow, SessionRow } from '../../lethe/tables/sessions.ts';
import type { ThreadRow } from '../../lethe/tables/threads.ts';
import { struct } from './wire.ts';

/** Left out when it is empty or null. */
function unlessEmpty<Value extends string | number>(value: Value | null): Value | undefined {
  return value === '' || value === null ? undefined : value;
}

/** A session (`lethe.md` §1.4). */
export function encodeSession(session: SessionRow): Ordered {
  return struct({
    session_id: session.session_id,
    session_key: unlessEmpty(session.session_key),
    agent_id: session.agent_id,
    project_id: session.project_id,
    status: session.status,
    summary: unlessEmpty(session.summary),
    token_budget: unlessEmpty(session.token_budget),
    total_tokens_consumed: session.total_tokens_consumed,
    started_at: session.started_at,
    last_heartbeat_at: session.heartbeat_at,
    ended_at: unlessEmpty(session.ended_at),
  });
}

/** A session with where it stands. */
export function encodeSummary(summary: SessionSummary): Ordered {
  const { session, latestCheckpoint, recentEvents, checkpointCount, eventCount, links } = summary;
  return struct({
    session: encodeSession(session),
    summary: session.summary,
    latest_checkpoint: latestCheckpoint === undefined ? null : encodeCheckpoint(latestCheckpoint),
    recent_events: recentEvents.map(encodeEvent),
    checkpoint_count: checkpointCount,
    event_count: eventCount,
    links: links.length === 0 ? undefined : links.map(encodeLink),
  });
}

function encodeLink({ from_session_id, to_session_id, link_type, created_at }: SessionLinkRow): Ordered {
  return struct({ from_session_id, to_session_id, link_type, created_at });
}

export function encodeCheckpoint({ checkpoint_id, session_id, seq, snapshot, created_at }: CheckpointRow): Ordered {
  return struct({ checkpoint_id, session_id, seq, snapshot: JSON.parse(snapshot) as JsonObject, created_at });
}

/** An event; of a flag whether it was reviewed, and by whom. */
export function encodeEvent(event: EventRow | ReviewedEventRow): Ordered {
  const tags = readTags(event.tags);
  const { reviewer_id: reviewer, reviewed_at: reviewedAt } = { reviewer_id: null, reviewed_at: null, ...event };
  return struct({
    event_id: event.event_id,
    session_id: unlessEmpty(event.session_id),
    project_id: event.project_id,
    event_type: event.event_type,
    content: event.content,
    confidence: unlessEmpty(event.confidence),
    tags: tags.length === 0 ? undefined : tags,
    parent_event_id: unlessEmpty(event.parent_event_id),
    task_title: unlessEmpty(event.task_title),
    task_status: unlessEmpty(event.task_status),
    thread_id: unlessEmpty(event.thread_id),
    created_at: event.created_at,
    reviewed: event.event_type === 'flag' ? reviewer !== null : undefined,
    reviewer_id: unlessEmpty(reviewer),
    reviewed_at: unlessEmpty(reviewedAt),
  });
}

export function encodeThread(thread: ThreadRow): Ordered {
  const { thread_id, project_id, session_id, title, status, created_at, updated_at } = thread;
  return struct({ thread_id, project_id, session_id: unlessEmpty(session_id), title, status, created_at, updated_at });
}

/** An assembly; with its items and what was said of it where both are at hand. */
export function encodeAssembly(row: AssemblyRow, more?: Pick<Assembly, 'items' | 'feedback'>): Ordered {
  return struct({
    assembly_id: row.assembly_id,
    session_id: row.session_id,
    query: unlessEmpty(row.query),
    token_budget: unlessEmpty(row.token_budget),
    estimated_tokens: unlessEmpty(row.estimated_tokens),
    accepted_estimated_tokens: unlessEmpty(row.accepted_estimated_tokens),
    memory_manifest_id: unlessEmpty(row.memory_manifest_id),
    memory_head_changeset_id: unlessEmpty(row.memory_head_changeset_id),
    created_at: row.created_at,
    items: more?.items,
    feedback: more?.feedback.map(encodeFeedback),
  });
}

export function encodeFeedback({ feedback_id, verdict, note, created_at }: FeedbackRow): Ordered {
  return struct({ feedback_id, verdict, note: unlessEmpty(note), created_at });
}
