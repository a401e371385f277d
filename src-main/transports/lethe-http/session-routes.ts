import { z } from 'zod';
import type { Lethe } from '../../lethe/api.ts';
import { type Answer, json, refusal } from './answer.ts';
import { readBody, textField } from './body.ts';
import { type Asked, queryLimit, type Route, type RouteDeps } from './route.ts';
import {
  answerOutcome,
  emptySnapshot,
  maybeNumber,
  plainParam,
  queryPage,
  readAction,
  snapshotField,
} from './session-fields.ts';
import { encodeCheckpoint, encodeEvent, encodeSession, encodeSummary } from './session-wire.ts';

const sessionBody = z.object({
  agent_id: textField,
  project_id: textField,
  session_key: textField,
  agent_name: textField,
  project_name: textField,
  token_budget: maybeNumber,
});
const heartbeatBody = z.object({ tokens: maybeNumber });
const snapshotBody = z.object({ snapshot: snapshotField });
const completeBody = z.object({ summary: textField });
const emptyBody = z.object({});

const sessionOf = (asked: Asked): string => plainParam(asked, 'id');

/** Sessions and their checkpoints (`lethe.md` §1.4). */
export function sessionRoutes(deps: RouteDeps): readonly Route[] {
  const { lethe } = deps;
  return [
    { method: 'POST', pattern: '/sessions', answer: (asked) => start(lethe, asked) },
    {
      method: 'GET',
      pattern: '/sessions',
      answer: (asked) => {
        const sessions = lethe.listSessions(queryLimit(asked, 20, 200, 200));
        return json({ sessions: sessions.map(encodeSession), count: sessions.length });
      },
    },
    {
      method: 'GET',
      pattern: '/sessions/{id}',
      answer: (asked) => json(encodeSession(lethe.getSession(sessionOf(asked)))),
    },
    {
      method: 'GET',
      pattern: '/sessions/{id}/summary',
      answer: (asked) => json(encodeSummary(lethe.summarizeSession(sessionOf(asked)))),
    },
    ...actionRoutes(deps),
    ...checkpointRoutes(deps),
    {
      method: 'GET',
      pattern: '/sessions/{id}/events',
      answer: (asked) => {
        const events = lethe.listEvents(sessionOf(asked), queryPage(asked));
        return json({ events: events.map(encodeEvent), count: events.length });
      },
    },
  ];
}

async function start(lethe: Lethe, asked: Asked): Promise<Answer> {
  const body = readBody(asked.body, sessionBody);
  const { kind, session } = await lethe.startSession({
    agentId: body.agent_id,
    projectId: body.project_id,
    sessionKey: body.session_key,
    agentName: body.agent_name,
    projectName: body.project_name,
    tokenBudget: body.token_budget,
  });
  if (kind === 'started') return json(encodeSession(session), 201);
  return refusal(409, 'session_key: it belongs to a session that is completed, or of another agent or project');
}

/** What is done to a session as a whole; the body of each may be left out. */
function actionRoutes({ lethe, live }: RouteDeps): readonly Route[] {
  return [
    {
      method: 'POST',
      pattern: '/sessions/{id}/compact',
      answer: async (asked) => {
        readAction(asked, emptyBody);
        return json(encodeSummary(await lethe.compactSession(sessionOf(asked))));
      },
    },
    {
      method: 'POST',
      pattern: '/sessions/{id}/heartbeat',
      answer: async (asked) =>
        answerOutcome(await lethe.beatSession(sessionOf(asked), readAction(asked, heartbeatBody).tokens)),
    },
    {
      method: 'POST',
      pattern: '/sessions/{id}/interrupt',
      answer: async (asked) => {
        const { snapshot } = readAction(asked, snapshotBody);
        const outcome = await lethe.interruptSession(sessionOf(asked), snapshot);
        if (outcome.kind === 'changed' && outcome.checkpoint !== undefined)
          live.publish('checkpoint', encodeCheckpoint(outcome.checkpoint));
        return answerOutcome(outcome);
      },
    },
    {
      method: 'POST',
      pattern: '/sessions/{id}/resume',
      answer: async (asked) => {
        readAction(asked, emptyBody);
        return answerOutcome(await lethe.resumeSession(sessionOf(asked)));
      },
    },
    {
      method: 'POST',
      pattern: '/sessions/{id}/complete',
      answer: async (asked) =>
        answerOutcome(await lethe.completeSession(sessionOf(asked), readAction(asked, completeBody).summary)),
    },
  ];
}

function checkpointRoutes({ lethe, live }: RouteDeps): readonly Route[] {
  return [
    {
      method: 'POST',
      pattern: '/sessions/{id}/checkpoints',
      answer: async (asked) => {
        const { snapshot = emptySnapshot } = readBody(asked.body, snapshotBody);
        const encoded = encodeCheckpoint(await lethe.addCheckpoint(sessionOf(asked), snapshot));
        live.publish('checkpoint', encoded);
        return json(encoded, 201);
      },
    },
    {
      method: 'GET',
      pattern: '/sessions/{id}/checkpoints',
      answer: (asked) => {
        const checkpoints = lethe.listCheckpoints(sessionOf(asked), queryLimit(asked, 50, 200, 200));
        return json({ checkpoints: checkpoints.map(encodeCheckpoint), count: checkpoints.length });
      },
    },
  ];
}
