import { request } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { type Door, type Json, openDoor } from './door.ts';
import { openHybrid, refused, startSession } from './session-door.ts';

const eventFields = ['event_id', 'session_id', 'project_id', 'event_type', 'content', 'created_at'];

test('T93 an event is 201 with its fields, of a session or of a project alone', async () => {
  const door = await openHybrid();
  const { session_id: id } = await startSession(door);
  const first = await door.post(`/sessions/${id}/events`, { content: 'plain' });
  expect([first.status, first.keys]).toEqual([201, eventFields]);
  expect(first.value).toMatchObject({ session_id: id, project_id: 'demo', event_type: 'log', content: 'plain' });
  const task = await door.post(`/sessions/${id}/events`, {
    ...{ event_type: 'task', content: 'do it', confidence: 0, tags: 'a, b', parent_event_id: first.value.event_id },
    ...{ task_title: 'It', task_status: 'blocked' },
  });
  expect(task.keys).toEqual([
    ...['event_id', 'session_id', 'project_id', 'event_type', 'content', 'confidence', 'tags', 'parent_event_id'],
    ...['task_title', 'task_status', 'created_at'],
  ]);
  expect(task.value).toMatchObject({ confidence: 0, tags: ['a', 'b'], task_status: 'blocked' });
  expect(
    (await door.post(`/sessions/${id}/events`, { event_type: 'task', content: 'x', task_title: 'y', tags: ['p', ''] }))
      .value,
  ).toMatchObject({
    task_status: 'todo',
    tags: ['p'],
  });
  const alone = await door.post('/events', { project_id: 'nobody', event_type: 'record', content: 'of a project' });
  expect(alone.status).toBe(201);
  expect(alone.value).not.toHaveProperty('session_id');
  for (const body of [{ content: ' \n' }, {}])
    expect((await door.post(`/sessions/${id}/events`, body)).body).toBe('{"event_id":"","skipped":"blank content"}\n');
  const list = await door.get(`/sessions/${id}/events?limit=2&offset=1`);
  expect(list.value.events.map((one: Json) => one.event_id)).toEqual([task.value.event_id, first.value.event_id]);
  expect((await door.get('/stats')).value).toEqual({ checkpoints: 0, events: 4, flags: 0, sessions: 1, threads: 0 });
});

test('T93 what an event may not say is 400 by name, and nothing of it is kept', async () => {
  const door = await openHybrid();
  const { session_id: id } = await startSession(door);
  const elsewhere = (await door.post('/events', { project_id: 'other', event_type: 'flag', content: 'x' })).value;
  for (const [body, text] of [
    [{ event_type: 'summary' }, /^event_type: /],
    [{ confidence: 1.01 }, /^confidence: /],
    [{ confidence: -0.01 }, /^confidence: /],
    [{ content: 'é'.repeat(8_193) }, /^content: /],
    [{ tags: Array.from({ length: 65 }, () => 't') }, /^tags: /],
    [{ tags: ['t'.repeat(129)] }, /^tags: /],
    [{ event_type: 'task' }, /^task_title required/],
    [{ event_type: 'task', task_title: 't', task_status: 'later' }, /^task_status: /],
    [{ task_title: 't' }, /^task_title: /],
    [{ task_status: 'done' }, /^task_status: /],
    [{ parent_event_id: 'nowhere' }, /^parent_event_id: /],
    [{ parent_event_id: elsewhere.event_id }, /^parent_event_id: /],
    [{ thread_id: 'nowhere' }, /^thread_id: /],
    [{ thread_id: elsewhere.thread_id }, /^thread_id: /],
    [{ confidence: 'high' }, /^invalid request body/],
    [{ tags: [1] }, /^invalid request body/],
  ] as const)
    expect([body, ...(await refused(door.post(`/sessions/${id}/events`, { content: 'x', ...body })))]).toEqual([
      body,
      400,
      expect.stringMatching(text),
    ]);
  expect(await refused(door.post('/events', { content: 'x' }))).toEqual([400, 'project_id required']);
  expect((await door.get('/stats')).value).toMatchObject({ events: 1, threads: 1 });
  expect(
    (await door.post(`/sessions/${id}/events`, { content: 'é'.repeat(8_192), tags: ['t'.repeat(128)] })).status,
  ).toBe(201);
});

test('T95 threads are opened, listed by status, changed, and hold their events', async () => {
  const door = await openHybrid();
  const { session_id: id } = await startSession(door);
  const made = await door.post('/threads', { session_id: id, title: 'Flaky test' });
  expect([made.status, made.keys]).toEqual([
    201,
    ['thread_id', 'project_id', 'session_id', 'title', 'status', 'created_at', 'updated_at'],
  ]);
  const thread = made.value.thread_id;
  door.temp.clock.advance(5);
  const alone = (await door.post('/threads', { project_id: 'other', title: 'Alone' })).value;
  const ids = async (path: string): Promise<readonly string[]> =>
    (await door.get(path)).value.threads.map((one: Json) => one.thread_id);
  expect(await ids('/threads')).toEqual([alone.thread_id, thread]);
  expect(await ids('/threads?projectId=other')).toEqual([alone.thread_id]);
  expect(await ids(`/sessions/${id}/threads`)).toEqual([thread]);
  const changed = await door.ask('PATCH', `/threads/${thread}`, { status: 'resolved' });
  expect([changed.status, changed.value.status, changed.value.title]).toEqual([200, 'resolved', 'Flaky test']);
  expect(await ids(`/sessions/${id}/threads?status=open`)).toEqual([]);
  expect(await ids(`/sessions/${id}/threads?status=resolved`)).toEqual([thread]);
  const event = (await door.post(`/sessions/${id}/events`, { content: 'in it', thread_id: thread })).value;
  expect((await door.get(`/threads/${thread}/events`)).value.events).toEqual([event]);
  expect((await door.get(`/threads/${thread}`)).value).toEqual(changed.value);
  for (const [asked, status, text] of [
    [door.post('/threads', { title: 't' }), 400, /^project_id required/],
    [door.post('/threads', { project_id: 'demo' }), 400, /^title required/],
    [door.post('/threads', { session_id: 'nowhere', title: 't' }), 404, /^session not found/],
    [door.ask('PATCH', `/threads/${thread}`, { status: 'gone' }), 400, /^status: /],
    [door.ask('PATCH', '/threads/nowhere', { status: 'open' }), 404, /^thread not found/],
    [door.get('/threads/nowhere'), 404, /^thread not found/],
    [door.get('/threads/nowhere/events'), 404, /^thread not found/],
    [door.get('/threads?status=gone'), 400, /^status: /],
  ] as const)
    expect(await refused(asked)).toEqual([status, expect.stringMatching(text)]);
});

test('T95 a flag without a thread opens one, and is reviewed by name', async () => {
  const door = await openHybrid();
  const { session_id: id } = await startSession(door);
  const flag = (await door.post(`/sessions/${id}/events`, { event_type: 'flag', content: '\nsecond line\nmore' }))
    .value;
  expect(flag.reviewed).toBe(false);
  expect((await door.get(`/threads/${flag.thread_id}`)).value).toMatchObject({
    title: 'second line',
    session_id: id,
    status: 'open',
  });
  const inThread = (
    await door.post(`/sessions/${id}/events`, { event_type: 'flag', content: 'again', thread_id: flag.thread_id })
  ).value;
  expect(inThread.thread_id).toBe(flag.thread_id);
  const flags = async (query = ''): Promise<readonly string[]> =>
    (await door.get(`/flags${query}`)).value.flags.map((one: Json) => one.event_id);
  expect(await flags()).toEqual([inThread.event_id, flag.event_id]);
  const reviewed = await door.ask('PUT', `/flags/${flag.event_id}/review`, { reviewer_id: 'owner' });
  expect([reviewed.status, reviewed.value.reviewed, reviewed.value.reviewer_id]).toEqual([200, true, 'owner']);
  expect((await door.ask('PUT', `/flags/${flag.event_id}/review`, { reviewer_id: 'other' })).value.reviewer_id).toBe(
    'other',
  );
  expect(await flags('?status=open')).toEqual([inThread.event_id]);
  expect(await flags('?status=reviewed&projectId=demo')).toEqual([flag.event_id]);
  expect(await flags('?projectId=none')).toEqual([]);
  expect((await door.get('/stats')).value).toMatchObject({ flags: 2, threads: 1 });
  const log = (await door.post(`/sessions/${id}/events`, { content: 'no flag' })).value;
  expect(await refused(door.ask('PUT', `/flags/${log.event_id}/review`, { reviewer_id: 'o' }))).toEqual([
    404,
    'flag not found',
  ]);
  expect(await refused(door.ask('PUT', `/flags/${flag.event_id}/review`, {}))).toEqual([400, 'reviewer_id required']);
  expect((await door.get('/flags/x/review')).status).toBe(405);
});

test('T96 events are searched by text, tag, project and type; every text is taken as it stands', async () => {
  const door = await openHybrid();
  for (const [project_id, event_type, content, tags] of [
    ['demo', 'log', 'The cache is Redis', ['infra', 'cache']],
    ['demo', 'record', '100% of it_is', ['infra']],
    ['other', 'log', 'A cache too', 'cache'],
  ] as const) {
    door.temp.clock.advance(1);
    await door.post('/events', { project_id, event_type, content, tags });
  }
  const found = async (query: string): Promise<readonly string[]> => {
    const { value } = await door.get(`/events/search?${query}`);
    expect([value.complete, value.count]).toEqual([true, value.events.length]);
    return value.events.map((one: Json) => one.content);
  };
  expect(await found('q=CACHE')).toEqual(['A cache too', 'The cache is Redis']);
  expect(await found('q=cache&projectId=demo')).toEqual(['The cache is Redis']);
  expect(await found('q=cache&limit=1')).toEqual(['A cache too']);
  expect(await found('projectId=demo&tag=infra')).toEqual(['100% of it_is', 'The cache is Redis']);
  expect(await found('projectId=demo&tag=inf')).toEqual([]);
  expect(await found('eventType=record')).toEqual(['100% of it_is']);
  expect(await found(`q=${encodeURIComponent('100%')}`)).toEqual(['100% of it_is']);
  expect(await found(`q=${encodeURIComponent('t_i')}`)).toEqual(['100% of it_is']);
  for (const text of ['1%0', "' OR 1=1 --", '\\', '"', '_'])
    expect(await found(`q=${encodeURIComponent(text)}`)).toEqual(text === '_' ? ['100% of it_is'] : []);
  expect(await refused(door.get('/events/search?tag=infra'))).toEqual([400, 'q, projectId or eventType required']);
  expect(await refused(door.get('/events/search?eventType=x'))).toEqual([400, expect.stringMatching(/^eventType: /)]);
  expect((await refused(door.get(`/events/search?q=${'a'.repeat(4_097)}`)))[0]).toBe(400);
});

/** Listens until the test is over; what came so far, by kind. */
async function listen(
  door: Door,
  path: string,
): Promise<{ readonly status: number; until(pattern: RegExp): Promise<string> }> {
  let text = '';
  let heard = (): void => {};
  const asked = request({ host: '127.0.0.1', port: door.http.port, path });
  asked.end();
  const status = await new Promise<number>((resolve) => {
    asked.once('response', (response) => {
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
        heard();
      });
      response.once('close', () => {
        text += '<closed>';
        heard();
      });
      resolve(response.statusCode ?? 0);
    });
  });
  asked.on('error', () => {});
  onTestFinished(() => void asked.destroy());
  return {
    status,
    until: (pattern) =>
      new Promise((resolve) => {
        heard = () => {
          if (pattern.test(text)) resolve(text);
        };
        heard();
      }),
  };
}

test('T98 the live stream pings at once and again, tells events and checkpoints, and ends with the door', async () => {
  const door = await openDoor({
    mode: 'hybrid',
    liveBounds: { listenersMax: 2, waitingBytesMax: 1_000_000, pingMs: 30 },
  });
  const { session_id: id } = await startSession(door);
  const [one, other] = [await listen(door, '/api/live'), await listen(door, '/live')];
  expect([one.status, other.status]).toEqual([200, 200]);
  expect(await one.until(/ping/)).toMatch(/^event: ping\ndata: \{\}\n\n/);
  await one.until(/(event: ping[\s\S]*){3}/);
  expect(await refused(door.get('/live'))).toEqual([503, 'too many live listeners']);
  const event = (await door.post(`/sessions/${id}/events`, { content: '<b>\nline' })).body.trim();
  const checkpoint = (await door.post(`/sessions/${id}/checkpoints`, {})).body.trim();
  for (const listener of [one, other]) {
    const text = await listener.until(/event: checkpoint\ndata: .*\n\n/);
    expect(text).toContain(`event: event\ndata: ${event}\n\n`);
    expect(text).toContain(`event: checkpoint\ndata: ${checkpoint}\n\n`);
  }
  const closing = door.http.close();
  await Promise.all([one.until(/<closed>/), other.until(/<closed>/)]);
  await closing;
});
