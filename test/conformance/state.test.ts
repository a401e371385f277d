import { expect, test } from 'vitest';
import { branch, commitBody, type Door, type Json, openDoor, startDemo, unknownId } from './door.ts';

/** `count` memories on the branch, each a commit a minute after the one before; answers the heads. */
async function fill(door: Door, count: number, from: string): Promise<readonly string[]> {
  const heads: string[] = [];
  for (let index = 0; index < count; index += 1) {
    door.temp.clock.advance(60_000);
    const payload = {
      ...{ content: `needle number ${index}`, kind: index % 2 === 0 ? 'fact' : 'decision' },
      tags: index % 3 === 0 ? ['third', 'a,b'] : ['other'],
    };
    const ops = [{ op_type: 'add_memory', resulting_event_id: `m${index}`, payload }];
    const made = await door.post('/memory/changesets', commitBody(branch, heads.at(-1) ?? from, { ops }));
    expect(made.status).toBe(201);
    heads.push(made.value.changeset_id);
  }
  return heads;
}

const idsOf = (memories: readonly Json[]): readonly string[] => memories.map(({ memory_id }) => memory_id);

test('T78 the limit of a context: 20 when it is left out or makes no sense, 100 at most', async () => {
  const door = await openDoor();
  const root = await startDemo(door);
  const ops = Array.from({ length: 130 }, (_, index) => ({
    op_type: 'add_memory',
    payload: { content: `memory ${index}` },
  }));
  await door.post('/memory/changesets', commitBody(branch, root, { ops }));
  for (const [limit, count] of [
    ['', 20],
    ['&limit=0', 20],
    ['&limit=-3', 20],
    ['&limit=x', 20],
    ['&limit=1.5', 20],
    ['&limit=7', 7],
    ['&limit=+7', 20],
    ['&limit=%2B7', 7],
    ['&limit=100', 100],
    ['&limit=1000', 100],
  ] as const) {
    const { value } = await door.get(`/memory/demo/context?ref=${branch}${limit}`);
    expect([limit, value.memories.length, value.total_active]).toEqual([limit, count, 130]);
  }
  for (const [limit, count] of [
    [undefined, 20],
    [0, 20],
    [-1, 20],
    [7, 7],
    [1000, 100],
    [null, 20],
  ] as const) {
    const { value } = await door.post('/memory/demo/context', { ref_name: branch, limit });
    expect([limit, value.memories.length]).toEqual([limit, count]);
  }
  expect((await door.post('/memory/demo/context', { limit: 1.5 })).status).toBe(400);
  expect((await door.post('/memory/demo/context', { limit: '7' })).status).toBe(400);
  for (const [limit, count] of [
    ['', 2],
    ['&limit=1', 1],
    ['&limit=200', 2],
    ['&limit=201', 2],
    ['&limit=0', 2],
  ] as const)
    expect((await door.get(`/memory/demo/changesets?ref=${branch}${limit}`)).value.changesets).toHaveLength(count);
});

test('T78 a context at a head, a moment, a query, kinds and tags, in pages; what the ref does not reach is 400', async () => {
  const door = await openDoor();
  const root = await startDemo(door);
  const startMs = door.temp.clock.nowMs();
  const heads = await fill(door, 7, root);
  const read = async (more: string) => (await door.get(`/memory/demo/context?ref=${branch}${more}`)).value;
  expect(idsOf((await read('')).memories)).toEqual(['m6', 'm5', 'm4', 'm3', 'm2', 'm1', 'm0']);
  expect(idsOf((await read(`&head=${heads[1]}`)).memories)).toEqual(['m1', 'm0']);
  const at = new Date(startMs + 150_000).toISOString();
  expect((await read(`&at=${at}`)).head_changeset_id).toBe(heads[1]);
  expect((await read('&query=decision&limit=1')).memories[0].content).toBe('needle number 5');
  expect(idsOf((await read('&kinds=decision')).memories)).toEqual(['m5', 'm3', 'm1']);
  expect((await read('&kinds=decision,fact')).memories).toHaveLength(7);
  expect((await read('&kinds=decision&kinds=fact')).memories).toHaveLength(7);
  expect(idsOf((await read('&tags=third&tags=a,b')).memories)).toEqual(['m6', 'm3', 'm0']);
  expect((await read('')).inclusion_reasons.m0).toBe('most recent active accepted memory');

  const seen: string[] = [];
  for (let cursor = ''; ; ) {
    const page = await read(`&limit=3${cursor}`);
    seen.push(...idsOf(page.memories));
    if (page.next_cursor === undefined) break;
    cursor = `&cursor=${page.next_cursor}`;
  }
  expect(seen).toEqual(['m6', 'm5', 'm4', 'm3', 'm2', 'm1', 'm0']);

  const side = 'refs/agents/bob/main';
  await door.post('/memory/demo/branches', { ref_name: side, head_changeset_id: root });
  for (const [query, status, text] of [
    [`ref=${side}&head=${heads[0]}`, 400, `head changeset ${heads[0]} is not reachable from ref ${side}`],
    [`ref=${side}&head=${unknownId}`, 400, `head changeset ${unknownId} is not reachable from ref ${side}`],
    [`ref=${side}&head=no-id`, 400, `head changeset no-id is not reachable from ref ${side}`],
    [`ref=${branch}&head=${heads[0]}&at=${at}`, 400, /^at: /],
    [`ref=${branch}&at=2020-01-01T00:00:00Z`, 404, /^at: /],
    [`ref=${branch}&cursor=bogus`, 400, /cursor/],
    ['ref=refs/agents/none/main', 404, 'ref not found'],
  ] as const) {
    const answer = await door.get(`/memory/demo/context?${query}`);
    const error = typeof text === 'string' ? text : expect.stringMatching(text);
    expect([query, answer.status, answer.value]).toEqual([query, status, { error }]);
  }
  const posted = await door.post('/memory/demo/context', { ref_name: side, head_changeset_id: heads[0] });
  expect(posted.status).toBe(400);
  expect((await door.post('/memory/demo/context', {})).value.ref_name).toBe('refs/shared/main');
});

test('T81 T78 a manifest pins what was answered, and its context is that, byte for byte, whatever came later', async () => {
  const door = await openDoor();
  const root = await startDemo(door);
  const heads = await fill(door, 3, root);
  const asked = {
    ref_name: branch,
    query: 'needle',
    limit: 2,
    session_id: 's1',
    actor_id: 'alice',
    create_manifest: true,
  };
  const pinned = await door.post('/memory/demo/context', asked);
  const again = await door.post('/memory/demo/context', asked);
  expect(again.body).toBe(pinned.body);
  const id = pinned.value.manifest_id;
  const manifest = (await door.get(`/memory/manifests/${id}`)).value;
  expect(manifest).toMatchObject({
    ...{ direction: 'input', head_changeset_id: heads[2], selected_memory_ids: idsOf(pinned.value.memories) },
    ...{ session_id: 's1', actor_id: 'alice', query: 'needle', limit: 2, total_active: 3 },
  });
  const ops = [{ op_type: 'correct_memory', target_event_id: 'm2', payload: { content: 'needle changed' } }];
  await door.post('/memory/changesets', commitBody(branch, heads[2] ?? '', { ops }));
  expect((await door.post('/memory/demo/context', asked)).body).not.toBe(pinned.body);
  expect((await door.get(`/memory/manifests/${id}/context`)).body).toBe(pinned.body);
  expect((await door.get(`/memory/manifests/${id}`)).value).toEqual(manifest);
  const long = await door.post('/memory/demo/context', { ...asked, actor_id: 'x'.repeat(1_025) });
  expect([long.status, long.value]).toEqual([400, { error: 'actor_id is over 1024 bytes' }]);
});

test('T79 a diff names its ends as asked; without a base it lists what the target holds', async () => {
  const door = await openDoor();
  const root = await startDemo(door);
  const heads = await fill(door, 3, root);
  const foreign = (await door.post('/memory/other/legacy-root', '')).value.changeset.changeset_id;
  const diff = (target: string | undefined, body: unknown) => door.post(`/memory/changesets/${target}/diff`, body);
  const since = await diff(heads[2], { base_changeset_id: heads[0] });
  expect(since.value).toMatchObject({
    base_changeset_id: heads[0],
    target_changeset_id: heads[2],
    unresolved_conflicts: [],
  });
  expect(idsOf(since.value.memories_added)).toEqual(['m1', 'm2']);
  const whole = await diff(heads[2], {});
  expect(whole.value.base_changeset_id).toBe('');
  expect(idsOf(whole.value.memories_added)).toEqual(['m0', 'm1', 'm2']);
  expect((await diff(heads[2], { base_changeset_id: heads[2] })).value.memories_added).toEqual([]);
  for (const [target, body, status, text] of [
    [unknownId, {}, 404, 'changeset not found'],
    [heads[2], { base_changeset_id: unknownId }, 404, 'changeset not found'],
    [heads[2], { base_changeset_id: foreign }, 404, 'changeset not found'],
    [heads[2], '', 400, 'invalid request body'],
    [heads[2], { base_changeset_id: 7 }, 400, 'invalid request body'],
  ] as const) {
    const answer = await diff(target, body);
    expect([target, answer.status, answer.value]).toEqual([target, status, { error: text }]);
  }
});

test('T79 a diff of more than one page is put together', async () => {
  const door = await openDoor();
  let head = await startDemo(door);
  const ops = Array.from({ length: 600 }, (_, index) => ({
    op_type: 'add_memory',
    payload: { content: `memory ${index}` },
  }));
  for (let round = 0; round < 2; round += 1)
    head = (await door.post('/memory/changesets', commitBody(branch, head, { ops }))).value.changeset_id;
  const { value } = await door.post(`/memory/changesets/${head}/diff`, {});
  expect(new Set(idsOf(value.memories_added)).size).toBe(1_200);
  expect(value).not.toHaveProperty('next_cursor');
});

test('T80 search, one memory, its lineage, advances and moves, in pages that neither repeat nor leave out', async () => {
  const door = await openDoor();
  const root = await startDemo(door);
  const heads = await fill(door, 5, root);
  const found: string[] = [];
  for (let cursor = ''; ; ) {
    const page = (await door.get(`/memory/demo/search?ref=${branch}&q=needle&limit=2${cursor}`)).value;
    found.push(...page.matches.map((match: Json) => match.memory.memory_id));
    expect(page.complete).toBe(true);
    if (page.next_cursor === undefined) break;
    cursor = `&cursor=${page.next_cursor}`;
  }
  expect([...found].sort()).toEqual(['m0', 'm1', 'm2', 'm3', 'm4']);
  const odd = await door.get(`/memory/demo/search?ref=${branch}&q=${encodeURIComponent('"needle AND (3* NEAR')}`);
  expect(odd.status).toBe(200);
  expect((await door.get(`/memory/demo/search?ref=${branch}&q=needle&head=${heads[0]}`)).value.matches).toHaveLength(1);
  expect(
    (await door.get(`/memory/demo/search?ref=${branch}&q=needle&kinds=decision&tags=third`)).value.matches,
  ).toHaveLength(1);

  const at = await door.get(`/memory/demo/memories/m0?head=${heads[0]}`);
  expect(at.value).toMatchObject({ head_changeset_id: heads[0], memory: { memory_id: 'm0' } });
  expect((await door.get(`/memory/demo/memories/m4?head=${heads[0]}`)).status).toBe(404);
  expect((await door.get(`/memory/demo/memories/m0?head=${unknownId}`)).value).toEqual({
    error: 'changeset not found',
  });
  const odder = 'a/b %2F "ü" ?';
  const ops = [{ op_type: 'add_memory', resulting_event_id: odder, payload: { content: 'odd' } }];
  const made = await door.post('/memory/changesets', commitBody(branch, heads[4] ?? '', { ops }));
  expect(
    (await door.get(`/memory/demo/memories/${encodeURIComponent(odder)}?ref=${branch}`)).value.memory.memory_id,
  ).toBe(odder);
  const own = await door.post('/memory/changesets', commitBody(branch, made.value.changeset_id));
  const id = `mem:${own.value.changeset_id}:0`;
  expect((await door.get(`/memory/demo/memories/${id}?ref=${branch}`)).value.memory.memory_id).toBe(id);

  let head = own.value.changeset_id as string;
  for (let round = 0; round < 60; round += 1) {
    const corrections = [{ op_type: 'correct_memory', target_event_id: 'm1', payload: { content: `round ${round}` } }];
    head = (await door.post('/memory/changesets', commitBody(branch, head, { ops: corrections }))).value.changeset_id;
  }
  const steps: string[] = [];
  for (let cursor = ''; ; ) {
    const page = (await door.get(`/memory/demo/memories/m1/lineage?ref=${branch}${cursor}`)).value;
    steps.push(...page.lineage.map((step: Json) => step.changeset_id));
    if (page.next_cursor === undefined) break;
    cursor = `&cursor=${page.next_cursor}`;
  }
  expect([steps.length, new Set(steps).size, steps[0]]).toEqual([61, 61, heads[1]]);

  const moves: number[] = [];
  for (let cursor = ''; ; ) {
    const page = (await door.get(`/memory/demo/ref-moves?ref=${branch}${cursor}`)).value;
    moves.push(...page.ref_moves.map((move: Json) => move.seq));
    if (page.next_cursor === undefined) break;
    cursor = `&cursor=${page.next_cursor}`;
  }
  expect(moves.length).toBe(68);
  expect(moves).toEqual([...moves].sort((one, other) => other - one));
  const foreign = (await door.get(`/memory/demo/ref-moves?ref=${branch}`)).value.next_cursor;
  expect((await door.get(`/memory/demo/ref-moves?cursor=${foreign}`)).status).toBe(400);
  expect((await door.get('/memory/demo/advances?cursor=none')).status).toBe(400);
  const log: string[] = [];
  for (let cursor = ''; ; ) {
    const page = (await door.get(`/memory/demo/changesets?ref=${branch}&all_parents=1&limit=50${cursor}`)).value;
    log.push(...page.changesets.map((one: Json) => one.changeset_id));
    if (page.next_cursor === undefined) break;
    cursor = `&cursor=${page.next_cursor}`;
  }
  expect([log.length, new Set(log).size, log[0], log.at(-1)]).toEqual([68, 68, head, root]);
});

test('T80 a changed byte is found by verify, and a changeset that is not what its digest says is 500', async () => {
  const door = await openDoor();
  const root = await startDemo(door);
  const [head] = await fill(door, 1, root);
  door.temp.db.exec(
    "DROP TRIGGER memory_changesets_never_update; UPDATE memory_changesets SET message = 'forged' WHERE seq = 2",
  );
  const changeset = await door.get(`/memory/changesets/${head}`);
  expect([changeset.status, changeset.value.error]).toEqual([500, expect.stringMatching(/digest/)]);
  const report = (await door.get('/memory/demo/verify')).value;
  expect(report.ok).toBe(false);
  expect(report.findings.length).toBeGreaterThan(0);
});
