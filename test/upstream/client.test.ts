import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../src-main/base/log.ts';
import type { UpstreamAddress } from '../../src-main/home/upstream.ts';
import { openLetheClient } from '../../src-main/transports/lethe-client/store.ts';
import { bindDefault } from '../../src-main/transports/lethe-http/access.ts';
import { openLetheHttp } from '../../src-main/transports/lethe-http/server.ts';
import type { EngineEvent } from '../../src-preload/contract/events.ts';
import { requestToMove } from '../support/advance-requests.ts';
import { addAs, historyBuilder, openTempLethe, projectId, refName, testMergeKey } from '../support/history-builder.ts';
import { tempFolder } from '../support/temp-home.ts';
import { seen } from './seen.ts';

const demo = projectId('demo');
const main = refName('refs/shared/main');
const topic = 'refs/topics/t';
const key = 'the-key-of-the-store';

async function refusalOf(ask: () => Promise<unknown>): Promise<unknown> {
  return ask().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
}

/** Something between client and store, which a test decides about request by request. */
type Between = (request: IncomingMessage, response: ServerResponse, pass: () => void) => void;

/** A client that reaches a store through something between, with what it heard. */
async function openThrough(between: Between, place: 'port' | 'socket' = 'port', more: { readonly key?: string } = {}) {
  const temp = openTempLethe();
  const history = historyBuilder(temp);
  await history.init();
  const door = await openLetheHttp({
    ...{ lethe: temp.lethe, bind: { ...bindDefault, port: 0 }, key, trust: 'loopback', hostNames: [] },
    ...{ insecureBind: false, recovery: false, mergeKeys: new Map([['k1', testMergeKey]]), log: silentLog },
  });
  const paths: string[] = [];
  const hosts = new Set<string | undefined>();
  const proxy = createServer((incoming, response) => {
    paths.push(`${incoming.method} ${incoming.url}`);
    hosts.add(incoming.headers.host);
    between(incoming, response, () => {
      const headers = { ...incoming.headers, host: `127.0.0.1:${door.port}` };
      const passed = request(
        { host: '127.0.0.1', port: door.port, method: incoming.method, path: incoming.url, headers },
        (answer) => {
          response.writeHead(answer.statusCode ?? 0, answer.headers);
          answer.pipe(response);
        },
      );
      passed.on('error', () => incoming.socket.destroy());
      incoming.pipe(passed);
    });
  });
  const address = await listen(proxy, place);
  const events: EngineEvent[] = [];
  const { clock } = temp;
  const client = openLetheClient({
    upstream: { address, key: more.key ?? key },
    mergeKey: { id: 'k1', key: testMergeKey },
    onEvents: (told) => events.push(...told),
    monotonicMs: () => clock.nowMs(),
    times: { answerMs: 1_000, againMs: [1, 1] },
  });
  onTestFinished(async () => {
    client.close();
    proxy.closeAllConnections();
    proxy.close();
    await door.close();
    temp.remove();
  });
  return { temp, history, door, store: client.store, paths, hosts, events };
}

async function listen(server: Server, place: 'port' | 'socket'): Promise<UpstreamAddress> {
  const path = join(tempFolder(), 's.sock');
  await new Promise<void>(
    (resolve) => void (place === 'socket' ? server.listen(path, resolve) : server.listen(0, '127.0.0.1', resolve)),
  );
  const bound = server.address();
  if (typeof bound === 'string') return { kind: 'socket', path };
  return { kind: 'url', origin: `http://127.0.0.1:${bound?.port ?? 0}`, basePath: '' };
}

test('T154 a read is asked again when no answer came, a write is not', async () => {
  let cut = 2;
  const { store, history, paths, temp } = await openThrough((incoming, _response, pass) => {
    cut -= 1;
    if (cut >= 0) incoming.socket.destroy();
    else pass();
  });
  expect(await store.findRef(demo, main)).toEqual(temp.lethe.findRef(demo, main));
  expect(paths).toHaveLength(3);
  cut = 3;
  await expect(seen(() => store.listProjects())).resolves.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  expect(paths).toHaveLength(6);
  await history.branch(topic);
  cut = 1;
  const asked = history.request(topic, [addAs('a', 'x')]);
  await expect(seen(() => store.commit(asked))).resolves.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  expect(paths).toHaveLength(7);
  expect(temp.lethe.findChangesetByKey(demo, asked.authorPrincipal, asked.idempotencyKey)).toBeUndefined();
  // Under its key it is the same request, whether or not the first one arrived.
  const done = await store.commit(asked);
  expect(await store.commit(asked)).toEqual(done);
});

test('T154 an answer that does not come in time is said so, and is not waited for again', async () => {
  const { store, paths } = await openThrough(() => undefined);
  await expect(seen(() => store.listProjects())).resolves.toEqual({
    code: 'STORE_UNAVAILABLE',
    data: { timed_out: true },
  });
  expect(paths).toHaveLength(1);
});

test.each(['before the store had it', 'after the store had moved'])(
  'T154 a merge whose answer was lost %s lands once',
  async (moment) => {
    let cut = 1;
    const { store, history, temp, events } = await openThrough((incoming, response, pass) => {
      if (!incoming.url?.endsWith('/refs/merge') || cut === 0) return pass();
      cut -= 1;
      if (moment.startsWith('before')) return void incoming.socket.destroy();
      response.writeHead = () => incoming.socket.destroy() as never;
      pass();
    });
    await history.branch(topic);
    const asked = requestToMove(temp, history, await history.commit(topic, [addAs('a', 'x')]));
    const { ref, advance } = await store.advance(asked);
    expect(ref).toEqual(temp.lethe.findRef(demo, main));
    expect(advance).toEqual(temp.lethe.findAdvance({ projectId: demo, proposalId: asked.mergeProposalId }));
    expect(temp.lethe.listAdvances(demo, { limit: 10 })).toHaveLength(1);
    expect(events.filter(({ kind }) => kind === 'ref_moved')).toHaveLength(1);
    // The authorization is spent.
    await expect(seen(() => store.advance(asked))).resolves.toMatchObject({ code: 'NONCE_CONSUMED' });
  },
);

test('T154 of a merge that nobody answered, no record says nothing until its authorization is over', async () => {
  let isAway = true;
  const { store, history, temp } = await openThrough((incoming, _response, pass) => {
    if (isAway && incoming.url?.endsWith('/refs/merge')) incoming.socket.destroy();
    else pass();
  });
  await history.branch(topic);
  const asked = requestToMove(temp, history, await history.commit(topic, [addAs('a', 'x')]));
  const by = { projectId: demo, proposalId: asked.mergeProposalId };
  expect(await store.findAdvance(by)).toBeUndefined();
  await expect(seen(() => store.advance(asked))).resolves.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  await expect(seen(() => store.findAdvance(by))).resolves.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  isAway = false;
  temp.clock.advance(199_999);
  await expect(seen(() => store.findAdvance(by))).resolves.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  temp.clock.advance(1);
  expect(await store.findAdvance(by)).toBeUndefined();
  // A record is believed at any time.
  const again = requestToMove(temp, history, await history.commit(topic, [addAs('b', 'y')]));
  isAway = true;
  await seen(() => store.advance(again));
  const { advance } = await temp.lethe.advance(again);
  expect(await store.findAdvance(by)).toEqual(advance);
});

test('T155 over a socket as over a port', async () => {
  const { store, hosts } = await openThrough((_incoming, _response, pass) => pass(), 'socket');
  expect(await store.getProject(demo)).toMatchObject({ project_id: 'demo' });
  expect([...hosts]).toEqual([`localhost:${bindDefault.port}`]);
});

test('T155 over HTTPS, with a certificate that is trusted and with no other', async () => {
  const read = (name: string): string => readFileSync(new URL(`../fixtures/tls/${name}.pem`, import.meta.url), 'utf8');
  const heard: (string | undefined)[] = [];
  const server = createTlsServer({ key: read('key'), cert: read('cert') }, (incoming, response) => {
    heard.push(`${incoming.url} ${incoming.headers.authorization}`);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"projects":[]}');
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  const origin = `https://localhost:${typeof bound === 'string' ? '' : bound?.port}`;
  const ask = async (): Promise<unknown> => {
    const client = openLetheClient({
      upstream: { address: { kind: 'url', origin, basePath: '/lethe' }, key },
      mergeKey: { id: 'k1', key: testMergeKey },
      onEvents: () => undefined,
      monotonicMs: () => 0,
      times: { answerMs: 5_000, againMs: [] },
    });
    const answer = await seen(() => client.store.listProjects());
    client.close();
    return answer;
  };
  const trusted = getCACertificates('default');
  onTestFinished(() => {
    setDefaultCACertificates(trusted);
    server.close();
  });
  expect(await ask()).toMatchObject({ code: 'STORE_UNAVAILABLE' });
  expect(heard).toEqual([]);
  setDefaultCACertificates([...trusted, read('cert')]);
  expect(await ask()).toEqual([]);
  expect(heard).toEqual([`/lethe/api/memory/projects Bearer ${key}`]);
});

test('T155 a wrong key, a wrong place and what is no store are told apart, and say no secret', async () => {
  const wrong = await openThrough((_incoming, _response, pass) => pass(), 'port', { key: 'a-secret-of-another' });
  const fault = await refusalOf(async () => wrong.store.getProject(demo));
  expect(fault).toMatchObject({ code: 'STORE_UNAVAILABLE', message: expect.stringContaining('LETHE_API_KEY') });
  for (const answer of ['<html>', '{"projects":[{}]}', '{"error":"a teapot"}', '[]']) {
    const strange = await openThrough((_incoming, response) => {
      response.writeHead(answer.startsWith('{"e') ? 418 : 200).end(answer);
    });
    await expect(seen(() => strange.store.listProjects())).resolves.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  }
  const away = await openThrough((_incoming, _response, pass) => pass());
  await away.door.close();
  const gone = await refusalOf(async () => away.store.getProject(demo));
  for (const told of [fault, gone]) expect(String(told)).not.toMatch(/secret|127\.0\.0\.1/);
});
