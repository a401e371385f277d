import { z } from 'zod';
import { type ThreadOwner, threadStatuses } from '../../lethe/tables/threads.ts';
import { type Answer, json, refusal } from './answer.ts';
import { readBody, textField } from './body.ts';
import { type Asked, queryLimit, queryText, type Route, type RouteDeps } from './route.ts';
import { plainParam, queryPage, queryWord } from './session-fields.ts';
import { encodeEvent, encodeThread } from './session-wire.ts';

const threadBody = z.object({ session_id: textField, project_id: textField, title: textField });
const changeBody = z.object({ status: textField, title: textField });
const threadNotFound = refusal(404, 'thread not found');

/** Threads (`lethe.md` §1.4). */
export function sessionThreadRoutes(deps: RouteDeps): readonly Route[] {
  const { lethe } = deps;
  const threadOf = (asked: Asked): string => plainParam(asked, 'id');
  return [
    {
      method: 'GET',
      pattern: '/sessions/{id}/threads',
      answer: (asked) => list(deps, asked, { kind: 'session', id: plainParam(asked, 'id') }),
    },
    { method: 'GET', pattern: '/threads', answer: (asked) => list(deps, asked, ownerOf(asked)) },
    {
      method: 'POST',
      pattern: '/threads',
      answer: async (asked) => {
        const { session_id: session, project_id: projectId, title } = readBody(asked.body, threadBody);
        return json(encodeThread(await lethe.openThread({ session, projectId, title })), 201);
      },
    },
    {
      method: 'GET',
      pattern: '/threads/{id}',
      answer: (asked) => {
        const thread = lethe.findThread(threadOf(asked));
        return thread === undefined ? threadNotFound : json(encodeThread(thread));
      },
    },
    {
      method: 'PATCH',
      pattern: '/threads/{id}',
      answer: async (asked) => {
        const thread = await lethe.changeThread(threadOf(asked), readBody(asked.body, changeBody));
        return thread === undefined ? threadNotFound : json(encodeThread(thread));
      },
    },
    {
      method: 'GET',
      pattern: '/threads/{id}/events',
      answer: (asked) => {
        if (lethe.findThread(threadOf(asked)) === undefined) return threadNotFound;
        const events = lethe.listThreadEvents(threadOf(asked), queryPage(asked));
        return json({ events: events.map(encodeEvent), count: events.length });
      },
    },
  ];
}

function ownerOf(asked: Asked): ThreadOwner {
  const id = queryText(asked, 'projectId');
  return id === '' ? { kind: 'all' } : { kind: 'project', id };
}

function list({ lethe }: RouteDeps, asked: Asked, owner: ThreadOwner): Answer {
  const status = queryWord(asked, 'status', threadStatuses);
  const threads = lethe.listThreads(owner, status, queryLimit(asked, 50, 200, 200));
  return json({ threads: threads.map(encodeThread), count: threads.length });
}
