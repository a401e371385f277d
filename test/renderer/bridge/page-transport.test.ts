import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { createClient } from '../../../src-renderer/bridge/client.ts';
import { createPageSession, type SessionStore } from '../../../src-renderer/bridge/page-session.ts';
import { createPageTransport } from '../../../src-renderer/bridge/page-transport.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A door of the owner page at a free port, as far as the handlers go. */
async function openDoor(handlers: Readonly<Record<string, Handler>>): Promise<string> {
  const server = createServer((request, response) => {
    const handler = handlers[request.url ?? ''];
    if (handler === undefined) response.writeHead(404).end();
    else handler(request, response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://127.0.0.1:${address.port}`;
}

function openPage(origin: string, code: string | undefined, token?: string) {
  const kept = new Map<string, string>(token === undefined ? [] : [['memory-git.owner-session', token]]);
  const store: SessionStore = {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  };
  const fetchFn: typeof fetch = (input, init) => fetch(new URL(String(input), origin), init);
  const wait = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 10));
  return { kept, transport: createPageTransport({ session: createPageSession(store, fetchFn), fetchFn, wait }, code) };
}

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; tries < 300 && !condition(); tries += 1) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(condition()).toBe(true);
}

const json = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};
const signIn: Handler = (_request, response) => json(response, 200, { token: 'session-1' });
const stream: Handler = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  response.write('\n');
};

test('a one-time code becomes a session, which every later request carries', async () => {
  const seen: string[] = [];
  const origin = await openDoor({
    '/owner/session': signIn,
    '/owner/events': stream,
    '/owner/commands/project.list': (request, response) => {
      seen.push(request.headers.authorization ?? '');
      json(response, 200, { projects: [] });
    },
  });
  const { transport } = openPage(origin, 'code-1');
  await until(() => transport.connection.get() === 'live');
  expect(await createClient(transport).request('project.list', {})).toEqual({ projects: [] });
  expect(seen).toEqual(['Bearer session-1']);
});

test('a code that is not good leaves the page signed out, and no command is sent', async () => {
  const origin = await openDoor({
    '/owner/session': (_request, response) => json(response, 401, { code: 'UNAUTHENTICATED', message: 'used' }),
  });
  const { transport } = openPage(origin, 'used-before');
  await until(() => transport.connection.get() === 'signed_out');
  await expect(transport.call('project.list', {})).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
});

test('a session that ended signs the page out and is forgotten', async () => {
  const origin = await openDoor({
    '/owner/events': stream,
    '/owner/commands/project.list': (_request, response) =>
      json(response, 401, { code: 'UNAUTHENTICATED', message: 'm' }),
  });
  const { transport, kept } = openPage(origin, undefined, 'old');
  await until(() => transport.connection.get() === 'live');
  await expect(transport.call('project.list', {})).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  expect(transport.connection.get()).toBe('signed_out');
  expect(kept.size).toBe(0);
});

test('a refusal keeps its code, message and data', async () => {
  const fault = { code: 'PROPOSAL_STALE', kind: 'conflict', message: 'main moved', data: { actual: 'x' } };
  const origin = await openDoor({
    '/owner/events': stream,
    '/owner/commands/memory.merge': (_request, response) => json(response, 409, fault),
  });
  const { transport } = openPage(origin, undefined, 't');
  await expect(transport.call('memory.merge', {})).rejects.toMatchObject({
    code: 'PROPOSAL_STALE',
    data: { actual: 'x' },
  });
});

test('events arrive in order; heartbeats and unknown ones are passed over', async () => {
  const origin = await openDoor({
    '/owner/events': (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      response.write('\n{"kind":"project_created","project_id":"a"}\n{"kind":"from_the_future"}\n');
      response.write('{"kind":"project_created","project_id":"b"}\n');
    },
  });
  const { transport } = openPage(origin, undefined, 't');
  const heard: unknown[] = [];
  createClient(transport).subscribe((event) => heard.push(event));
  await until(() => heard.length === 2);
  expect(heard).toEqual([
    { kind: 'project_created', project_id: 'a' },
    { kind: 'project_created', project_id: 'b' },
  ]);
});

test('a stream that breaks is opened again', async () => {
  let opened = 0;
  const origin = await openDoor({
    '/owner/events': (request, response) => {
      opened += 1;
      stream(request, response);
      if (opened === 1) setTimeout(() => response.destroy(), 20);
    },
  });
  const { transport } = openPage(origin, undefined, 't');
  const states: string[] = [];
  transport.connection.watch(() => states.push(transport.connection.get()));
  await until(() => opened === 2 && transport.connection.get() === 'live');
  expect(states).toEqual(['live', 'reconnecting', 'live']);
});

test('an engine that answers nobody counts as stopped after some tries', async () => {
  const { transport } = openPage('http://127.0.0.1:9', undefined, 't');
  await until(() => transport.connection.get() === 'stopped');
  await expect(transport.call('project.list', {})).rejects.toMatchObject({ code: 'CLOSED' });
});

test('an answer of another form than the contract says is our own fault, not shown as data', async () => {
  const origin = await openDoor({
    '/owner/events': stream,
    '/owner/commands/project.list': (_request, response) => json(response, 200, { projects: [{ surprise: true }] }),
  });
  const { transport } = openPage(origin, undefined, 't');
  await expect(createClient(transport).request('project.list', {})).rejects.toMatchObject({ code: 'INTERNAL' });
});
