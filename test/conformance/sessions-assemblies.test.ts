import { expect, test } from 'vitest';
import { branch, type Json, openDoor, startDemo, unknownId } from './door.ts';
import { openHybrid, refused, startSession } from './session-door.ts';

test('T97 an assembly names a manifest of its session and the head of it, and takes feedback', async () => {
  const door = await openHybrid();
  const root = await startDemo(door);
  const { session_id: id } = await startSession(door, { session_key: 'k' });
  const other = await startSession(door);
  const pinned = await door.post('/memory/demo/context', { create_manifest: true, session_id: 'k' });
  const manifest = pinned.value.manifest_id;
  expect((await door.get(`/memory/manifests/${manifest}`)).value.session_id).toBe(id);
  const made = await door.post('/sessions/k/assemblies', {
    ...{
      query: 'cache',
      token_budget: 100,
      estimated_tokens: 90,
      accepted_estimated_tokens: 80,
      memory_manifest_id: manifest,
    },
    items: [{ kind: 'memory', memory_id: 'm' }, {}],
  });
  expect([made.status, made.keys]).toEqual([
    201,
    [
      ...['assembly_id', 'session_id', 'query', 'token_budget', 'estimated_tokens', 'accepted_estimated_tokens'],
      ...['memory_manifest_id', 'memory_head_changeset_id', 'created_at', 'items', 'feedback'],
    ],
  ]);
  expect(made.value).toMatchObject({
    ...{ session_id: id, memory_manifest_id: manifest, memory_head_changeset_id: root },
    items: [{ kind: 'memory', memory_id: 'm' }, {}],
    feedback: [],
  });
  const { assembly_id: assembly } = made.value;
  const said = await door.post(`/assemblies/${assembly}/feedback`, { verdict: 'too_large', note: 'half of it' });
  expect([said.status, said.keys]).toEqual([201, ['feedback_id', 'verdict', 'note', 'created_at']]);
  expect((await door.get(`/assemblies/${assembly}`)).value).toEqual({ ...made.value, feedback: [said.value] });
  const { items: _items, feedback: _feedback, ...listed } = made.value;
  expect((await door.get('/sessions/k/assemblies')).value).toEqual({ assemblies: [listed], count: 1 });
  expect((await door.post('/sessions/k/assemblies', { memory_head_changeset_id: root })).status).toBe(201);
  const foreign = (await door.post('/memory/other/legacy-root', undefined)).value.changeset.changeset_id;
  for (const [asked, status, text] of [
    [door.post('/sessions/k/assemblies', { memory_manifest_id: unknownId }), 404, /manifest not found/],
    [
      door.post('/sessions/k/assemblies', { memory_manifest_id: manifest, memory_head_changeset_id: foreign }),
      400,
      /^memory_head_changeset_id: /,
    ],
    [door.post('/sessions/k/assemblies', { memory_head_changeset_id: unknownId }), 400, /^memory_head_changeset_id: /],
    [
      door.post(`/sessions/${other.session_id}/assemblies`, { memory_manifest_id: manifest }),
      400,
      /^memory_manifest_id: /,
    ],
    [door.post('/sessions/k/assemblies', { token_budget: -1 }), 400, /^token_budget: /],
    [door.post('/sessions/k/assemblies', { items: Array.from({ length: 1_001 }, () => ({})) }), 400, /^items: /],
    [door.post('/sessions/k/assemblies', { items: [{ text: 'a'.repeat(65_537) }] }), 400, /^items: /],
    [door.post('/sessions/k/assemblies', { items: ['text'] }), 400, /^invalid request body/],
    [door.post(`/assemblies/${assembly}/feedback`, { verdict: 'fine' }), 400, /^verdict: /],
    [door.post('/assemblies/nowhere/feedback', { verdict: 'good' }), 404, /^assembly not found/],
    [door.get('/assemblies/nowhere'), 404, /^assembly not found/],
  ] as const)
    expect(await refused(asked)).toEqual([status, expect.stringMatching(text)]);
});

test('T97 a session keeps as many assemblies as it may, and none that is older than it may be', async () => {
  const door = await openDoor({ mode: 'legacy', retention: { daysMax: 2, perSessionMax: 3 } });
  await startSession(door, { session_key: 'k' });
  for (let index = 0; index < 5; index += 1) {
    door.temp.clock.advance(86_400_000);
    await door.post('/sessions/k/assemblies', { query: `q${index}`, items: [{ index }] });
  }
  const queries = async (): Promise<readonly string[]> =>
    (await door.get('/sessions/k/assemblies')).value.assemblies.map((one: Json) => one.query);
  expect(await queries()).toEqual(['q4', 'q3', 'q2']);
  door.temp.clock.advance(1);
  expect(await door.temp.lethe.pruneAssemblies({ daysMax: 2, perSessionMax: 3 })).toBe(false);
  expect(await queries()).toEqual(['q4', 'q3']);
  expect(await door.temp.lethe.pruneAssemblies({ daysMax: undefined, perSessionMax: undefined })).toBe(false);
});

test('T99 a manifest names its session by id where sessions are served, and as it was told elsewhere', async () => {
  const door = await openHybrid();
  const root = await startDemo(door);
  const { session_id: id } = await startSession(door, { session_key: 'key' });
  await startSession(door, { session_key: 'elsewhere', project_id: 'other' });
  const pin = (session: string) => door.post('/memory/demo/context', { create_manifest: true, session_id: session });
  const record = (session: string) =>
    door.post('/memory/manifests', {
      ...{ direction: 'input', project_id: 'demo', ref_name: branch, head_changeset_id: root, session_id: session },
    });
  for (const session of ['key', id]) {
    const { manifest_id } = (await pin(session)).value;
    expect((await door.get(`/memory/manifests/${manifest_id}`)).value.session_id).toBe(id);
    expect((await record(session)).value.session_id).toBe(id);
  }
  for (const ask of [pin, record]) {
    expect(await refused(ask('nowhere'))).toEqual([404, 'session not found']);
    expect(await refused(ask('elsewhere'))).toEqual([400, 'session project mismatch']);
  }
  expect((await door.post('/memory/demo/context', { session_id: 'nowhere' })).status).toBe(200);
  const git = await openDoor({ mode: 'git' });
  await startDemo(git);
  const { manifest_id } = (await git.post('/memory/demo/context', { create_manifest: true, session_id: 'nowhere' }))
    .value;
  expect((await git.get(`/memory/manifests/${manifest_id}`)).value.session_id).toBe('nowhere');
});
