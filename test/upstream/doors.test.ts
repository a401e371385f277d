import { expect, test } from 'vitest';
import { restoreProof } from '../../src-main/canonical/restore-proof.ts';
import { branch, client, commitBody, openDoor, startDemo, unknownId } from '../conformance/door.ts';
import { testMergeKey } from '../support/history-builder.ts';

const keys = new Map([['k1', testMergeKey]]);
const signer = { id: 'k1', key: testMergeKey };

/** A branch on which `m` was changed, and a commit that gives it back what it was. */
async function openRestoring() {
  const door = await openDoor({ mergeKeys: keys });
  const root = await startDemo(door);
  const memory = { op_type: 'add_memory', payload: { memory_id: 'm', content: 'before' } };
  const first = await door.post('/memory/changesets', commitBody(branch, root, { ops: [memory] }));
  const before = first.value.changeset_id;
  const edit = { op_type: 'correct_memory', target_event_id: 'm', payload: { content: 'after' } };
  const second = await door.post('/memory/changesets', commitBody(branch, before, { ops: [edit] }));
  const restore = { op_type: 'correct_memory', target_event_id: 'm', payload: { restores: before } };
  const body = JSON.stringify(commitBody(branch, second.value.changeset_id, { ops: [restore] }));
  const contents = async () =>
    (await door.get(`/memory/demo/context?ref=${branch}`)).value.memories.map(
      (one: { readonly content: string }) => one.content,
    );
  return { door, body, contents };
}

test('T150 a former state is given back only on the word of the policy engine', async () => {
  const { door, body, contents } = await openRestoring();
  const send = (headers: Record<string, string>) => door.ask('POST', '/memory/changesets', body, headers);
  expect(await send({})).toMatchObject({ status: 400, value: { error: expect.stringContaining('restores') } });
  const proof = restoreProof(signer, Buffer.from(body));
  for (const wrong of [
    restoreProof(signer, Buffer.from(`${body} `)),
    restoreProof({ ...signer, id: 'k2' }, Buffer.from(body)),
    restoreProof({ id: 'k1', key: Buffer.alloc(32) }, Buffer.from(body)),
    'k1',
    'nothing',
  ]) {
    expect(await send({ 'memory-git-restore': wrong })).toMatchObject({
      status: 403,
      value: { error: 'invalid merge authorization' },
    });
  }
  expect(await contents()).toEqual(['after']);
  const done = await send({ 'memory-git-restore': proof });
  expect(done.status).toBe(201);
  expect(await contents()).toEqual(['before']);
  // Captured and sent again, it is the same request under the same key.
  expect(await send({ 'memory-git-restore': proof })).toMatchObject({
    status: 201,
    value: { changeset_id: done.value.changeset_id },
  });
  expect(await contents()).toEqual(['before']);
});

test('T150 a store that has no merge key takes no proof', async () => {
  const door = await openDoor();
  const root = await startDemo(door);
  const body = JSON.stringify(commitBody(branch, root));
  const headers = { 'memory-git-restore': restoreProof(signer, Buffer.from(body)) };
  expect(await door.ask('POST', '/memory/changesets', body, headers)).toMatchObject({ status: 403 });
  expect((await door.ask('POST', '/memory/changesets', body)).status).toBe(201);
});

test('T151 code and data of a refusal for who asks, and not a word more for who does not', async () => {
  const door = await openDoor();
  const root = await startDemo(door);
  const stale = commitBody(branch, unknownId, { parent_ids: [root] });
  const plain = await door.post('/memory/changesets', stale);
  const typed = await door.post('/memory/changesets', stale, { 'memory-git-faults': '1' });
  expect([plain.status, plain.keys]).toEqual([409, ['error']]);
  expect([typed.status, typed.value.error]).toEqual([plain.status, plain.value.error]);
  expect(typed.value).toMatchObject({
    code: 'REF_MOVED',
    kind: 'conflict',
    data: { ref: branch, expected: unknownId, actual: root },
  });
  const branchless = { ref_name: branch, head_changeset_id: root };
  expect((await door.post('/memory/demo/branches', branchless, { 'memory-git-faults': '1' })).value).toMatchObject({
    error: expect.stringContaining('already exists'),
    code: 'REF_EXISTS',
  });
});

test('T152 what a policy engine asks beside the protocol', async () => {
  const door = await openDoor();
  const started = await door.post('/memory/demo/start', { principal: 'alice' });
  expect(started).toMatchObject({ status: 200, keys: ['changeset', 'created', 'ref'], value: { created: true } });
  const root = started.value.changeset.changeset_id;
  expect((await door.post('/memory/demo/start', {})).value).toEqual({ error: 'principal required' });
  await door.post('/memory/demo/branches', { ref_name: branch, head_changeset_id: root, principal: 'alice' });
  const { changeset_id: head, idempotency_key: key } = (await door.post('/memory/changesets', commitBody(branch, root)))
    .value;
  expect((await door.post('/memory/demo/start', { principal: 'bob' })).value).toMatchObject({
    created: false,
    changeset: { changeset_id: root },
  });
  expect((await door.get('/memory/demo/project')).value).toMatchObject({ project_id: 'demo' });
  expect(await door.get('/memory/none/project')).toMatchObject({ status: 404, value: { error: 'project not found' } });
  expect((await door.get(`/memory/demo/changeset?author=alice&key=${key}`)).value.changeset_id).toBe(head);
  expect((await door.get('/memory/demo/changeset?author=bob&key=none')).status).toBe(404);
  expect((await door.get(`/memory/changesets/${head}/contains?ancestor=${root}`)).value).toEqual({ contains: true });
  expect((await door.get(`/memory/changesets/${root}/contains?ancestor=${head}`)).value).toEqual({ contains: false });
  expect((await door.get(`/memory/changesets/${unknownId}/contains?ancestor=${head}`)).status).toBe(404);
  expect((await door.get(`/memory/changesets/${head}/originators?from=${root}`)).value).toEqual({
    originators: ['alice'],
  });
  expect((await door.get(`/memory/changesets/${head}/total-active`)).value).toEqual({ total_active: 1 });
  expect((await door.get(`/memory/demo/merge-preview?target_head=${root}&head=${head}`)).value).toMatchObject({
    strategy: 'fast_forward',
    target_ahead: 0,
    proposal_ahead: 1,
  });
  const apart = await door.post('/memory/demo/ahead-behind', { base: root, heads: [head, root] });
  expect(apart.value).toEqual({
    apart: [
      { ahead: 1, behind: 0 },
      { ahead: 0, behind: 0 },
    ],
  });
  const first = (await door.get('/memory/demo/graph?limit=1')).value;
  expect(first.nodes).toMatchObject([{ changeset_id: head, op_count: 1 }]);
  const second = (await door.get(`/memory/demo/graph?limit=1&cursor=${first.next_cursor}`)).value;
  expect(second.nodes).toMatchObject([{ changeset_id: root }]);
  const names = async (query: string): Promise<readonly string[]> =>
    (await door.get(`/memory/demo/refs?${query}`)).value.map((ref: { readonly ref_name: string }) => ref.ref_name);
  expect(await names('limit=1')).toEqual([branch]);
  expect(await names(`limit=1&after=${branch}`)).toEqual(['refs/shared/main']);
  expect((await door.get('/memory/none/refs?limit=1')).status).toBe(404);
});

test('T152 none of it without the key of the store, or from a web page', async () => {
  const door = await openDoor({ key: 'secret' });
  const ask = client(door.http.port);
  for (const path of ['/memory/demo/project', '/memory/demo/graph', `/memory/changesets/${unknownId}/total-active`]) {
    expect((await ask.get(path)).status).toBe(401);
    expect((await ask.get(path, { authorization: 'Bearer secret', origin: 'https://page.example' })).status).toBe(403);
  }
  expect((await ask.post('/memory/demo/start', { principal: 'alice' })).status).toBe(401);
  expect(door.temp.lethe.listProjects()).toEqual([]);
});
