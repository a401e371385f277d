import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Fault } from '../../src-main/base/fault.ts';
import { silentLog } from '../../src-main/base/log.ts';
import type { MemoryStore } from '../../src-main/commands/memory-store.ts';
import type { UpstreamAddress } from '../../src-main/home/upstream.ts';
import { openLetheClient } from '../../src-main/transports/lethe-client/store.ts';
import { bindDefault } from '../../src-main/transports/lethe-http/access.ts';
import { openLetheHttp } from '../../src-main/transports/lethe-http/server.ts';
import type { EngineEvent } from '../../src-preload/contract/events.ts';
import { manifestIdSchema, memoryIdSchema, proposalIdSchema } from '../../src-preload/contract/ids.ts';
import { storeOverHttp } from '../charon/store-under-test.ts';
import { requestToMove } from '../support/advance-requests.ts';
import {
  addAs,
  attachEvidence,
  changesetId,
  correct,
  historyBuilder,
  openTempLethe,
  projectId,
  refName,
  relate,
  restore,
  supersede,
  testMergeKey,
} from '../support/history-builder.ts';
import { testProposal } from '../support/merge-envelope.ts';
import { tempFolder } from '../support/temp-home.ts';

const demo = projectId('demo');
const main = refName('refs/shared/main');
const topic = 'refs/topics/t';
const other = 'refs/topics/other';
const unknown = changesetId('00000000-0000-7000-8000-00000000ffff');
const key = 'the-key-of-the-store';

/** A store with two branches that disagree, reached both ways. */
async function openBoth() {
  const temp = openTempLethe();
  const history = historyBuilder(temp);
  const root = await history.init();
  await history.branch(topic);
  await history.branch(other);
  const first = await history.commit(topic, [
    addAs('a', 'the door is <green> & “old”', { kind: 'fact', tags: ['x'], confidence: 0, visibility: 'shared' }),
    addAs('b/ü %2F', 'the wall is white', { kind: 'decision', scope: 'house' }),
  ]);
  await history.commit(topic, [correct('a', { content: 'the door is red' }), relate('a', 'beside', 'b/ü %2F')]);
  await history.commit(topic, [attachEvidence('a', { summary: 'seen' }), supersede('b/ü %2F', {})]);
  const left = await history.commit(other, [addAs('a', 'the door is blue', { kind: 'fact' })]);
  const reached = await storeOverHttp(temp);
  onTestFinished(async () => {
    await reached.close();
    temp.remove();
  });
  return { temp, history, root, first, left, near: temp.lethe satisfies MemoryStore, far: reached.store };
}

/** What a verb answers, or how it refuses: without what is undefined, which no wire carries. */
async function seen(ask: () => unknown): Promise<unknown> {
  try {
    const answer: unknown = await ask();
    return answer === undefined ? 'undefined' : JSON.parse(JSON.stringify(answer));
  } catch (thrown) {
    if (thrown instanceof Fault) return { code: thrown.code, data: JSON.parse(JSON.stringify(thrown.data)) };
    throw thrown;
  }
}

test('T153 every read answers and refuses over HTTP as it does here', async () => {
  const { history, root, first, left, near, far } = await openBoth();
  const head = history.head(topic);
  const at = { projectId: demo, refName: refName(topic) };
  const none = projectId('none');
  const sides = {
    projectId: demo,
    baseChangesetId: root.changeset_id,
    leftChangesetId: left.changeset_id,
    rightChangesetId: head,
  };
  const manifest = (await near.pinContext({ ...at, limit: 5, actorId: 'alice' })).manifest_id;
  const pinned = manifestIdSchema.parse(manifest);
  const asked: readonly ((store: MemoryStore) => unknown)[] = [
    (store) => store.listProjects(),
    (store) => store.getProject(demo),
    (store) => store.getProject(none),
    (store) => store.listRefs(demo, { limit: 2 }),
    (store) => store.listRefs(demo, { limit: 2, after: main }),
    (store) => store.listRefs(none, { limit: 2 }),
    (store) => store.findRef(demo, refName(topic)),
    (store) => store.findRef(demo, refName('refs/topics/none')),
    (store) => store.findRef(none, main),
    (store) => store.countAheadBehind({ projectId: demo, base: root.changeset_id, heads: [head, left.changeset_id] }),
    (store) => store.findChangeset(head),
    (store) => store.findChangeset(unknown),
    (store) => store.findChangesetByKey(demo, first.author_principal, first.idempotency_key),
    (store) => store.findChangesetByKey(demo, first.author_principal, 'none'),
    (store) => store.log({ ...at, limit: 2, allParents: false }),
    (store) => store.log({ ...at, limit: 50, allParents: true }),
    (store) => store.graph({ projectId: demo, limit: 2 }),
    (store) => store.graph({ projectId: none, limit: 2 }),
    (store) => store.isAncestor(root.changeset_id, head),
    (store) => store.isAncestor(head, root.changeset_id),
    (store) => store.isAncestor(unknown, root.changeset_id),
    (store) => store.context({ ...at, limit: 5 }),
    (store) => store.context({ ...at, limit: 5, query: 'door', kinds: ['fact'], tags: ['x'] }),
    (store) => store.context({ ...at, limit: 5, excluded: true }),
    (store) => store.context({ ...at, limit: 5, headChangesetId: left.changeset_id }),
    (store) => store.context({ ...at, limit: 5, headChangesetId: unknown }),
    (store) => store.context({ ...at, limit: 5, cursor: 'none' }),
    (store) => store.context({ ...at, limit: 5, refName: refName('refs/topics/none') }),
    (store) => store.totalActive(head),
    (store) => store.manifestContext(demo, pinned),
    (store) => store.manifestContext(demo, manifestIdSchema.parse(unknown)),
    (store) => store.search({ ...at, query: 'door', limit: 5 }),
    (store) => store.search({ ...at, query: 'door', limit: 5, headChangesetId: unknown }),
    (store) =>
      store.getMemory({ projectId: demo, memoryId: memoryIdSchema.parse('a'), headChangesetId: head, limit: 2 }),
    (store) => store.getMemory({ ...at, memoryId: memoryIdSchema.parse('b/ü %2F'), limit: 50 }),
    (store) => store.getMemory({ ...at, memoryId: memoryIdSchema.parse('none'), limit: 50 }),
    (store) => store.diff({ baseChangesetId: root.changeset_id, targetChangesetId: head, side: 'both', limit: 50 }),
    (store) => store.diff({ baseChangesetId: left.changeset_id, targetChangesetId: head, side: 'both', limit: 50 }),
    (store) => store.diff({ baseChangesetId: left.changeset_id, targetChangesetId: head, side: 'target', limit: 1 }),
    (store) => store.diff({ baseChangesetId: unknown, targetChangesetId: head, side: 'both', limit: 1 }),
    (store) => store.mergePreview({ projectId: demo, targetHead: left.changeset_id, head }),
    (store) => store.mergePreview({ projectId: demo, targetHead: unknown, head }),
    (store) => store.originators(root.changeset_id, head),
    (store) => store.detectConflicts(sides),
    (store) => store.detectConflicts({ ...sides, leftChangesetId: unknown }),
    (store) => store.listConflicts({ projectId: demo, limit: 5 }),
    (store) => store.listConflicts({ projectId: none, limit: 5 }),
    (store) => store.findAdvance({ projectId: demo, proposalId: testProposal }),
    (store) => store.verifyChain(demo),
    (store) => store.verifyChain(none),
  ];
  for (const ask of asked)
    expect([String(ask), await seen(() => ask(far))]).toEqual([String(ask), await seen(() => ask(near))]);
});

test('T153 every write is carried out and refused over HTTP as it is here, and the desk hears of it', async () => {
  const { temp, history, root, first, left, near, far } = await openBoth();
  const head = history.head(topic);
  const started = await far.initProject({ projectId: projectId('second'), principal: 'alice' });
  expect(started).toEqual({
    ...(await near.initProject({ projectId: projectId('second'), principal: 'x' })),
    created: true,
  });
  const made = { projectId: demo, refName: refName('refs/topics/new'), headChangesetId: head, principal: 'alice' };
  expect(await far.createRef(made)).toEqual(near.findRef(demo, made.refName));
  expect(await seen(() => far.createRef(made))).toMatchObject({ code: 'REF_EXISTS' });
  const end = { projectId: demo, refName: made.refName, expectedHead: head, principal: 'alice' };
  expect(await far.archiveRef(end)).toMatchObject({ archived: true, created_by_principal: 'alice' });
  expect(await seen(() => far.archiveRef({ ...end, expectedHead: unknown }))).toEqual(
    await seen(() => near.archiveRef({ ...end, expectedHead: unknown })),
  );

  const asked = history.request(topic, [correct('a', { content: 'the door is grey' })], { actorId: 'alice' });
  const committed = await far.commit(asked);
  expect(committed).toEqual(near.findChangeset(committed.changeset_id));
  expect(await far.commit(asked)).toEqual(committed);
  for (const wrong of [
    { ...asked, message: 'another' },
    { ...asked, idempotencyKey: 'fresh' },
    history.request(topic, [correct('none', { content: 'x' })]),
    history.request(topic, [{ op_type: 'add_memory', payload: { content: '' } }]),
    history.request(topic, [restore('a', first.changeset_id)]),
  ])
    expect(await seen(() => far.commit(wrong))).toEqual(await seen(() => near.commit(wrong)));
  const back = await far.commit({ ...history.request(topic, [restore('a', first.changeset_id)]), mayRestore: true });
  expect(near.findChangeset(back.changeset_id)).toEqual(back);

  const sides = {
    projectId: demo,
    baseChangesetId: root.changeset_id,
    leftChangesetId: left.changeset_id,
    rightChangesetId: head,
  };
  const found = near.detectConflicts(sides).map((one) => one.conflict_id);
  const [conflictId = ''] = found;
  expect(found.length).toBeGreaterThan(0);
  const bound = { sides, proposalId: proposalIdSchema.parse(testProposal), conflictIds: found, principal: 'alice' };
  const kept = await far.persistConflicts(bound);
  expect(kept).toEqual(await near.persistConflicts(bound));
  const [resolvable] = kept;
  if (resolvable === undefined) throw new Error(`nothing was kept of ${conflictId}`);
  const settle = { projectId: demo, conflictId: resolvable.conflict_id, note: 'as it is', principal: 'alice' };
  expect(await far.resolveConflict(settle)).toMatchObject({ status: 'resolved', resolution_note: 'as it is' });
  expect(await seen(() => far.resolveConflict(settle))).toEqual(await seen(() => near.resolveConflict(settle)));
  const retired = { projectId: demo, proposalId: bound.proposalId, status: 'canceled' as const };
  expect(await far.retireConflicts(retired)).toBe(found.length - 1);
  expect(await far.retireConflicts(retired)).toBe(0);

  const output = {
    ...{ projectId: demo, refName: topic, headChangesetId: head, baseChangesetId: root.changeset_id },
    ...{ proposedTargetRef: main, mergeProposalId: testProposal, unresolvedConflicts: found },
  };
  const recorded = await far.recordOutputManifest(output);
  expect(await far.recordOutputManifest(output)).toEqual(recorded);
  const pin = { projectId: demo, refName: refName(topic), limit: 5, actorId: 'alice' };
  expect(await far.pinContext(pin)).toEqual(await near.pinContext(pin));
  await expect(temp.lethe.verifyChain(demo)).resolves.toMatchObject({ ok: true });
});

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
