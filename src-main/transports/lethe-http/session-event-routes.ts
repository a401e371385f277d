import { z } from 'zod';
import { Fault } from '../../base/fault.ts';
import { eventTypes } from '../../lethe/rules/event-fields.ts';
import { type Answer, json, refusal } from './answer.ts';
import { readBody, textField } from './body.ts';
import { type Asked, queryLimit, queryText, type Route, type RouteDeps } from './route.ts';
import { maybeNumber, plainParam, queryPage, queryWord, tagsField } from './session-fields.ts';
import { encodeEvent } from './session-wire.ts';

const eventBody = z.object({
  project_id: textField,
  event_type: textField,
  content: textField,
  confidence: maybeNumber,
  tags: tagsField,
  parent_event_id: textField,
  task_title: textField,
  task_status: textField,
  thread_id: textField,
});
const reviewBody = z.object({ reviewer_id: textField });

/** Events, their search, flags, and the live stream (`lethe.md` §1.4). */
export function sessionEventRoutes(deps: RouteDeps): readonly Route[] {
  const { lethe, live } = deps;
  return [
    { method: 'GET', pattern: '/live', answer: () => live.subscribe() },
    { method: 'GET', pattern: '/live', atRoot: true, answer: () => live.subscribe() },
    { method: 'GET', pattern: '/events/search', answer: (asked) => search(deps, asked) },
    { method: 'POST', pattern: '/events', answer: (asked) => record(deps, asked, '') },
    {
      method: 'POST',
      pattern: '/sessions/{id}/events',
      answer: (asked) => record(deps, asked, plainParam(asked, 'id')),
    },
    {
      method: 'GET',
      pattern: '/flags',
      answer: (asked) => {
        const state = queryWord(asked, 'status', ['open', 'reviewed']);
        const flags = lethe.listFlags({ projectId: queryText(asked, 'projectId'), state }, queryPage(asked));
        return json({ flags: flags.map(encodeEvent), count: flags.length });
      },
    },
    {
      method: 'PUT',
      pattern: '/flags/{eventID}/review',
      answer: async (asked) => {
        const { reviewer_id: reviewer } = readBody(asked.body, reviewBody);
        const flag = await lethe.reviewFlag(plainParam(asked, 'eventID'), reviewer);
        return flag === undefined ? refusal(404, 'flag not found') : json(encodeEvent(flag));
      },
    },
  ];
}

/** Blank content is taken and leaves nothing behind. */
async function record({ lethe, live }: RouteDeps, asked: Asked, session: string): Promise<Answer> {
  const body = readBody(asked.body, eventBody);
  const recorded = await lethe.recordEvent({
    session,
    projectId: body.project_id,
    eventType: body.event_type,
    content: body.content,
    confidence: body.confidence,
    tags: body.tags,
    parentEventId: body.parent_event_id,
    taskTitle: body.task_title,
    taskStatus: body.task_status,
    threadId: body.thread_id,
  });
  if (recorded === undefined) return json({ event_id: '', skipped: 'blank content' }, 201);
  const encoded = encodeEvent(recorded.event);
  live.publish('event', encoded);
  return json(encoded, 201);
}

function search({ lethe }: RouteDeps, asked: Asked): Answer {
  const sieve = {
    projectId: queryText(asked, 'projectId'),
    eventType: queryWord(asked, 'eventType', eventTypes),
    text: queryText(asked, 'q'),
    tag: queryText(asked, 'tag'),
  };
  if (sieve.projectId === '' && sieve.eventType === '' && sieve.text === '')
    throw new Fault('INPUT_INVALID', 'q, projectId or eventType required', { field: 'q' });
  const { events, complete } = lethe.searchEvents(sieve, queryLimit(asked, 20, 100, 100));
  return json({ events: events.map(encodeEvent), count: events.length, complete });
}
