import { expect, test } from 'vitest';
import type { LetheMode } from '../../src-main/home/environment.ts';
import { type Json, openDoor, unknownId } from './door.ts';
import { openHybrid, refused, sessionOwner, startSession } from './session-door.ts';

const sessionFields = [
  ...['session_id', 'agent_id', 'project_id', 'status', 'total_tokens_consumed', 'started_at'],
  'last_heartbeat_at',
];

test('T88 legacy serves sessions, git memory, hybrid both, and the health names the mode', async () => {
  const paths = {
    sessions: ['/sessions', '/events/search?q=x', '/threads', '/flags', '/sessions/x/events', '/assemblies/x', '/live'],
    memory: ['/memory/projects', '/memory/demo/refs', `/memory/changesets/${unknownId}`],
  };
  const served: Record<LetheMode, readonly (keyof typeof paths)[]> = {
    legacy: ['sessions'],
    git: ['memory'],
    hybrid: ['sessions', 'memory'],
  };
  for (const mode of ['legacy', 'git', 'hybrid'] as const) {
    const door = await openDoor({ mode, liveBounds: { listenersMax: 0, waitingBytesMax: 1, pingMs: 1_000 } });
    expect((await door.get('/health')).value).toEqual({ mode, status: 'ok' });
    expect((await door.get('/readyz')).value).toEqual({ mode, status: 'ready' });
    for (const [family, list] of Object.entries(paths)) {
      for (const path of list) {
        const { body } = await door.get(path);
        const isThere = body !== '404 page not found\n';
        expect([mode, path, isThere]).toEqual([mode, path, served[mode].some((one) => one === family)]);
      }
    }
  }
});

test('T90 a session is 201 with its fields, is found by key and by id, and its key goes on with it', async () => {
  const door = await openHybrid();
  const made = await door.post('/sessions', {
    ...sessionOwner,
    session_key: 'key/1 %',
    agent_name: 'Coder',
    project_name: 'Demo',
    token_budget: 9,
  });
  expect(made.status).toBe(201);
  expect(made.keys).toEqual([
    ...['session_id', 'session_key', 'agent_id', 'project_id', 'status', 'token_budget', 'total_tokens_consumed'],
    ...['started_at', 'last_heartbeat_at'],
  ]);
  expect(made.value).toMatchObject({ ...sessionOwner, session_key: 'key/1 %', status: 'active', token_budget: 9 });
  const id = made.value.session_id;
  for (const path of [id, encodeURIComponent('key/1 %')]) {
    expect((await door.get(`/sessions/${path}`)).value).toEqual(made.value);
  }
  const other = await door.post('/sessions', sessionOwner);
  expect(other.keys).toEqual(sessionFields);
  const list = await door.get('/sessions');
  expect(list.keys).toEqual(['sessions', 'count'].toSorted());
  expect(list.value.sessions.map((one: Json) => one.session_id)).toEqual([other.value.session_id, id]);
  expect((await door.get('/sessions?limit=1')).value.count).toBe(1);
  await door.post(`/sessions/${id}/interrupt`, '');
  const again = await door.post('/sessions', { ...sessionOwner, session_key: 'key/1 %' });
  expect([again.status, again.value.session_id, again.value.status]).toEqual([201, id, 'active']);
  expect(await refused(door.post('/sessions', { ...sessionOwner, agent_id: 'else', session_key: 'key/1 %' }))).toEqual([
    409,
    expect.stringContaining('session_key'),
  ]);
  await door.post(`/sessions/${id}/complete`, '');
  expect((await door.post('/sessions', { ...sessionOwner, session_key: 'key/1 %' })).status).toBe(409);
});

test('T90 what a session lacks is 400 by name, an unknown one is 404 everywhere', async () => {
  const door = await openHybrid();
  for (const [body, text] of [
    [{ project_id: 'demo' }, /^agent_id required/],
    [{ agent_id: 'a' }, /^project_id required/],
    [{ agent_id: ' ', project_id: 'demo' }, /^agent_id required/],
    [{ agent_id: 'a', project_id: '*' }, /^project_id: /],
    [{ ...sessionOwner, agent_id: 'a'.repeat(1_025) }, /^agent_id: /],
    [{ ...sessionOwner, session_key: 'a'.repeat(1_025) }, /^session_key: /],
    [{ ...sessionOwner, token_budget: -1 }, /^token_budget: /],
    [{ ...sessionOwner, agent_id: 7 }, /^invalid request body/],
    ['', /^invalid request body/],
  ] as const)
    expect(await refused(door.post('/sessions', body))).toEqual([400, expect.stringMatching(text)]);
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/summary'],
    ['GET', '/events'],
    ['GET', '/checkpoints'],
    ['GET', '/threads'],
    ['GET', '/assemblies'],
    ['POST', '/compact'],
    ['POST', '/heartbeat'],
    ['POST', '/interrupt'],
    ['POST', '/resume'],
    ['POST', '/complete'],
    ['POST', '/events'],
    ['POST', '/checkpoints'],
    ['POST', '/assemblies'],
  ] as const) {
    const body = method === 'POST' ? { content: 'x' } : undefined;
    expect([path, ...(await refused(door.ask(method, `/sessions/nowhere${path}`, body)))]).toEqual([
      path,
      404,
      'session not found',
    ]);
  }
  expect((await door.get('/sessions')).body).toBe('{"count":0,"sessions":[]}\n');
});

test('T91 a summary tells where a session stands, and compacting writes one out of what it left', async () => {
  const door = await openHybrid();
  const { session_id: id } = await startSession(door);
  const empty = await door.get(`/sessions/${id}/summary`);
  expect(empty.keys).toEqual([
    'session',
    'summary',
    'latest_checkpoint',
    'recent_events',
    'checkpoint_count',
    'event_count',
  ]);
  expect(empty.value).toMatchObject({
    summary: '',
    latest_checkpoint: null,
    recent_events: [],
    checkpoint_count: 0,
    event_count: 0,
  });
  for (let index = 0; index < 25; index += 1) {
    door.temp.clock.advance(1);
    await door.post(`/sessions/${id}/events`, { content: `event\n${index}` });
  }
  for (let index = 0; index < 7; index += 1)
    await door.post(`/sessions/${id}/checkpoints`, {
      snapshot: { current_task: `task ${index}`, open_threads: ['t'] },
    });
  const { value } = await door.get(`/sessions/${id}/summary`);
  expect(value).toMatchObject({ checkpoint_count: 7, event_count: 25, latest_checkpoint: { seq: 7 } });
  expect(value.recent_events).toHaveLength(20);
  expect(value.recent_events[0].content).toBe('event\n24');
  const compacted = await door.post(`/sessions/${id}/compact`, '');
  expect([compacted.status, compacted.keys]).toEqual([200, empty.keys]);
  const lines = compacted.value.summary.split('\n');
  expect(lines).toHaveLength(15);
  expect([lines[0], lines[4], lines[5], lines[14]]).toEqual([
    'checkpoint 3: task 2, 1 open threads',
    'checkpoint 7: task 6, 1 open threads',
    'log: event 15',
    'log: event 24',
  ]);
  expect((await door.get(`/sessions/${id}`)).value.summary).toBe(compacted.value.summary);
});

test('T92 a session beats, is interrupted, resumed and completed, and a completed one stays so', async () => {
  const door = await openHybrid();
  const { session_id: id } = await startSession(door);
  const act = async (action: string, body: unknown = '') => {
    door.temp.clock.advance(1_000);
    return door.post(`/sessions/${id}/${action}`, body);
  };
  const beat = await act('heartbeat', { tokens: 5 });
  expect([beat.status, beat.keys]).toEqual([200, sessionFields]);
  expect(beat.value).toMatchObject({
    status: 'active',
    total_tokens_consumed: 5,
    last_heartbeat_at: '2026-11-30T12:00:01Z',
  });
  expect((await act('heartbeat')).value.total_tokens_consumed).toBe(5);
  expect(await refused(act('heartbeat', { tokens: 0.5 }))).toEqual([400, expect.stringMatching(/^tokens: /)]);
  const interrupted = await act('interrupt', { snapshot: { current_task: 'half done' } });
  expect(interrupted.value).toMatchObject({ status: 'interrupted', ended_at: '2026-11-30T12:00:04Z' });
  expect((await door.get(`/sessions/${id}/checkpoints`)).value.checkpoints).toMatchObject([
    { seq: 1, snapshot: { current_task: 'half done', last_tool: '', open_threads: [], recent_event_ids: [] } },
  ]);
  expect((await act('heartbeat')).value.status).toBe('interrupted');
  const resumed = await act('resume');
  expect(resumed.value.status).toBe('active');
  expect(resumed.value).not.toHaveProperty('ended_at');
  const completed = await act('complete', { summary: 'all done' });
  expect(completed.value).toMatchObject({ status: 'completed', summary: 'all done' });
  expect((await act('complete', {})).value).toEqual(completed.value);
  for (const action of ['heartbeat', 'interrupt', 'resume'])
    expect(await refused(act(action))).toEqual([409, 'session is completed']);
  expect((await act('events', { content: 'afterwards' })).status).toBe(201);
  expect(await refused(act('complete', { summary: 'a'.repeat(4_097) }))).toEqual([
    400,
    expect.stringMatching(/^summary: /),
  ]);
});

test('T92 a door that closes interrupts the sessions that are active, but not in recovery', async () => {
  const door = await openHybrid();
  const { session_id: id } = await startSession(door);
  const done = await startSession(door);
  await door.post(`/sessions/${done.session_id}/complete`, '');
  await door.http.close();
  expect(door.temp.lethe.listSessions(10).map(({ session_id, status }) => [session_id, status])).toEqual(
    expect.arrayContaining([
      [id, 'interrupted'],
      [done.session_id, 'completed'],
    ]),
  );
});

test('T94 checkpoints count up within their session, and keep what they were given', async () => {
  const door = await openHybrid();
  const [one, other] = [await startSession(door), await startSession(door)];
  const snapshot = { open_threads: ['t'], recent_event_ids: ['e'], current_task: 'now', last_tool: 'grep' };
  const made = await door.post(`/sessions/${one.session_id}/checkpoints`, { snapshot });
  expect([made.status, made.keys]).toEqual([201, ['checkpoint_id', 'session_id', 'seq', 'snapshot', 'created_at']]);
  expect(made.value).toMatchObject({ session_id: one.session_id, seq: 1, snapshot });
  expect((await door.post(`/sessions/${one.session_id}/checkpoints`, {})).value.seq).toBe(2);
  expect((await door.post(`/sessions/${other.session_id}/checkpoints`, { snapshot: {} })).value.seq).toBe(1);
  const list = await door.get(`/sessions/${one.session_id}/checkpoints`);
  expect(list.value.checkpoints.map((point: Json) => point.seq)).toEqual([2, 1]);
  for (const [body, text] of [
    [{ snapshot: { current_task: 'a'.repeat(16_385) } }, /^snapshot\.current_task: /],
    [{ snapshot: { open_threads: Array.from({ length: 1_001 }, () => 't') } }, /^snapshot\.open_threads: /],
    [{ snapshot: 'x' }, /^invalid request body/],
  ] as const)
    expect(await refused(door.post(`/sessions/${one.session_id}/checkpoints`, body))).toEqual([
      400,
      expect.stringMatching(text),
    ]);
});

test('T82 in recovery sessions are read and nothing of them is written', async () => {
  const door = await openDoor({ mode: 'hybrid', recovery: true });
  for (const [method, path] of [
    ['POST', '/sessions'],
    ['POST', '/events'],
    ['POST', '/threads'],
    ['PATCH', '/threads/x'],
    ['PUT', '/flags/x/review'],
    ['POST', '/sessions/x/heartbeat'],
    ['POST', '/assemblies/x/feedback'],
  ] as const)
    expect([path, (await door.ask(method, path, {})).status]).toEqual([path, 503]);
  expect((await door.get('/sessions')).status).toBe(200);
});
