import { expect, test } from 'vitest';
import { branch, commitBody, type Door, type Json, openDoor, startDemo, unknownId } from './door.ts';

const idsOf = (memories: readonly Json[]): readonly string[] => memories.map(({ memory_id }) => memory_id);

/** Three memories of tea on the branch, a minute apart; answers root, heads and moments. */
async function tea(door: Door) {
  const root = await startDemo(door);
  const heads: string[] = [];
  const moments: string[] = [];
  for (const [id, payload, author] of [
    ['green', { kind: 'fact', visibility: 'shared', scope: 'kitchen, left', tags: ['leaf'] }, 'alice'],
    ['black', { kind: 'task', scope: 'office', approval: 'user_approved' }, 'bob'],
    ['white', { kind: 'fact', scope: 'office' }, 'alice'],
  ] as const) {
    door.temp.clock.advance(60_000);
    const ops = [{ op_type: 'add_memory', resulting_event_id: id, payload: { content: `${id} tea`, ...payload } }];
    const body = commitBody(branch, heads.at(-1) ?? root, { ops, author_principal: author });
    const made = await door.post('/memory/changesets', body);
    expect(made.status).toBe(201);
    heads.push(made.value.changeset_id);
    moments.push(new Date(door.temp.clock.nowMs()).toISOString());
  }
  return { root, heads, moments };
}

test('T78 T80 every part of the filter, by GET, by POST and in a search', async () => {
  const door = await openDoor();
  const { moments } = await tea(door);
  for (const [filter, kept] of [
    [{ visibilities: ['shared'] }, ['green']],
    [{ visibilities: ['unspecified', 'shared'] }, ['white', 'black', 'green']],
    [{ scopes: ['office'] }, ['white', 'black']],
    [{ scopes: ['kitchen, left'] }, ['green']],
    [{ scopes: ['kitchen, left', 'office'], kinds: ['fact'] }, ['white', 'green']],
    [{ authors: ['bob'] }, ['black']],
    [{ trusts: ['user_approved'] }, ['black']],
    [{ tags: ['leaf'], trusts: ['unspecified'] }, ['green']],
    [{ since: [moments[1]] }, ['white', 'black']],
    [{ until: [moments[1]], authors: ['alice'] }, ['green']],
  ] as const) {
    const entries: readonly (readonly [string, readonly (string | undefined)[]])[] = Object.entries(filter);
    const query = entries
      .flatMap(([name, values]) => values.map((value) => `&${name}=${encodeURIComponent(value ?? '')}`))
      .join('');
    const got = await door.get(`/memory/demo/context?ref=${branch}${query}`);
    expect([query, got.status, idsOf(got.value.memories)]).toEqual([query, 200, kept]);
    expect(got.value.total_active).toBe(3);
    const { since, until, ...lists } = Object.fromEntries(entries);
    const times = { ...(since && { since: since[0] }), ...(until && { until: until[0] }) };
    const posted = await door.post('/memory/demo/context', { ref_name: branch, ...lists, ...times });
    expect(posted.body).toBe(got.body);
    const found = (await door.get(`/memory/demo/search?ref=${branch}&q=tea${query}`)).value.matches;
    expect(found.map((match: Json) => match.memory.memory_id).sort()).toEqual([...kept].sort());
  }
  for (const [query, field] of [
    ['since=yesterday', 'since'],
    ['until=2026-13-01T00:00:00Z', 'until'],
    ['excluded=perhaps', 'excluded'],
  ] as const) {
    const refused = await door.get(`/memory/demo/context?ref=${branch}&${query}`);
    expect([refused.status, refused.value.error]).toEqual([400, expect.stringMatching(`^${field}`)]);
  }
  expect((await door.post('/memory/demo/context', { ref_name: branch, since: 'x' })).status).toBe(400);
  expect((await door.post('/memory/demo/context', { ref_name: branch, scopes: 'office' })).value).toEqual({
    error: 'invalid request body',
  });
});

test('T78 what a context leaves out is listed on request, in pages, and a POST goes on by its cursor', async () => {
  const door = await openDoor();
  const { heads, moments } = await tea(door);
  const ops = [
    { op_type: 'supersede_memory', target_event_id: 'green' },
    ...Array.from({ length: 110 }, (_, index) => ({ op_type: 'add_memory', payload: { content: `memory ${index}` } })),
  ];
  await door.post('/memory/changesets', commitBody(branch, heads[2] ?? '', { ops }));
  const asked = { ref_name: branch, limit: 5, excluded: true };
  const first = (await door.post('/memory/demo/context', asked)).value;
  expect([first.memories, Object.keys(first.exclusion_reasons).length]).toEqual([[], 100]);
  const rest = (await door.post('/memory/demo/context', { ...asked, cursor: first.next_cursor })).value;
  expect(rest.exclusion_reasons).toMatchObject({
    green: expect.stringMatching(/^superseded at /),
    black: 'outside selected context limit',
  });
  const got = await door.get(`/memory/demo/context?ref=${branch}&limit=5&excluded=1`);
  expect(got.value).toEqual(first);
  expect((await door.post('/memory/demo/context', { ...asked, create_manifest: true })).value).toEqual({
    error: expect.stringMatching(/^excluded/),
  });
  const then = await door.post('/memory/demo/context', { ref_name: branch, at: moments[0] });
  expect(idsOf(then.value.memories)).toEqual(['green']);
});

test('T80 a search and one memory at a moment', async () => {
  const door = await openDoor();
  const { heads, moments } = await tea(door);
  const found = await door.get(`/memory/demo/search?ref=${branch}&q=tea&at=${moments[1]}`);
  expect([found.value.head_changeset_id, found.value.matches.length]).toEqual([heads[1], 2]);
  const memory = await door.get(`/memory/demo/memories/green?ref=${branch}&at=${moments[0]}`);
  expect([memory.status, memory.value.head_changeset_id]).toEqual([200, heads[0]]);
  const lineage = await door.get(`/memory/demo/memories/green/lineage?ref=${branch}&at=${moments[2]}`);
  expect([lineage.value.head_changeset_id, lineage.value.lineage.length]).toEqual([heads[2], 1]);
  for (const [path, status] of [
    [`/memory/demo/memories/white?ref=${branch}&at=${moments[0]}`, 404],
    [`/memory/demo/memories/white?ref=${branch}&at=2020-01-01T00:00:00Z`, 404],
    [`/memory/demo/memories/white?ref=${branch}&at=${moments[0]}&head=${heads[0]}`, 400],
    [`/memory/demo/memories/white?at=nonsense`, 400],
    [`/memory/none/memories/white?at=${moments[0]}`, 404],
    [`/memory/demo/memories/white?ref=refs/topics/none`, 404],
  ] as const)
    expect([path, (await door.get(path)).status]).toEqual([path, status]);
  const ops = [{ op_type: 'supersede_memory', target_event_id: 'green' }];
  const retired = await door.post('/memory/changesets', commitBody(branch, heads[2] ?? '', { ops }));
  const shown = await door.get(`/memory/demo/memories/green?ref=${branch}`);
  expect(shown.value).toMatchObject({
    exclusion_reason: `superseded at ${retired.value.changeset_id}`,
    memory: { status: 'superseded' },
  });
});

const recordedFields = [
  ...['manifest_id', 'direction', 'project_id', 'ref_name', 'head_changeset_id', 'base_changeset_id'],
  ...['resulting_changeset_id', 'proposed_target_ref', 'merge_proposal_id', 'selected_memory_ids'],
  ...['inclusion_reasons', 'exclusion_reasons', 'unresolved_conflicts', 'session_id', 'actor_id', 'created_at'],
];

test('T81 a client records a manifest, and it is answered as it is stored', async () => {
  const door = await openDoor();
  const { root, heads } = await tea(door);
  const id = '01900000-0000-7000-8000-00000000000a';
  const sent = {
    ...{ direction: 'output', project_id: 'demo', ref_name: branch, head_changeset_id: heads[2] },
    ...{ base_changeset_id: root, resulting_changeset_id: heads[1], proposed_target_ref: 'refs/shared/main' },
    ...{
      merge_proposal_id: 'p1',
      selected_memory_ids: ['green', '<b>'],
      inclusion_reasons: { green: 'asked & found' },
    },
    ...{ exclusion_reasons: { black: 'too old' }, unresolved_conflicts: ['c'.repeat(64)] },
    ...{ session_id: 's', actor_id: 'alice', manifest_id: id, created_at: '2026-01-02T03:04:05.5Z' },
  };
  const made = await door.post('/memory/manifests', { ...sent, something_else: 1 });
  expect([made.status, made.keys]).toEqual([201, recordedFields]);
  expect(made.value).toEqual(sent);
  expect(made.body).toContain('\\u003cb\\u003e');
  expect((await door.get(`/memory/manifests/${id}`)).body).toBe(made.body);
  const context = await door.get(`/memory/manifests/${id}/context`);
  expect([context.status, context.value.error]).toEqual([404, expect.stringMatching(/^manifest_id/)]);

  const least = { direction: 'input', project_id: 'demo', ref_name: branch, head_changeset_id: heads[0] };
  const own = await door.post('/memory/manifests', { ...least, selected_memory_ids: null, session_id: null });
  expect([own.status, own.keys]).toEqual([
    201,
    ['manifest_id', 'direction', 'project_id', 'ref_name', 'head_changeset_id', 'selected_memory_ids', 'created_at'],
  ]);
  expect(own.value.selected_memory_ids).toEqual([]);
});

test('T81 what is missing or not well-formed is 400 with its name, what there is not is 404, and nothing is written', async () => {
  const door = await openDoor();
  const { heads } = await tea(door);
  const foreign = (await door.post('/memory/other/legacy-root', '')).value.changeset.changeset_id;
  const least = { direction: 'input', project_id: 'demo', ref_name: branch, head_changeset_id: heads[0] };
  for (const [more, status, text] of [
    [{ direction: '' }, 400, 'direction required'],
    [{ direction: 'sideways' }, 400, 'direction must be input or output'],
    [{ project_id: '' }, 400, 'project_id required'],
    [{ ref_name: '' }, 400, 'ref_name required'],
    [{ head_changeset_id: '' }, 400, 'head_changeset_id required'],
    [{ project_id: 'none' }, 404, 'project not found'],
    [{ head_changeset_id: unknownId }, 404, 'changeset not found'],
    [{ head_changeset_id: foreign }, 404, 'changeset not found'],
    [{ base_changeset_id: unknownId }, 404, 'changeset not found'],
    [{ manifest_id: 'm1' }, 400, /^manifest_id/],
    [{ created_at: 'now' }, 400, /^created_at/],
    [{ selected_memory_ids: [''] }, 400, /^selected_memory_ids/],
    [{ selected_memory_ids: 'green' }, 400, 'invalid request body'],
    [{ inclusion_reasons: { green: 1 } }, 400, 'invalid request body'],
    [{ unresolved_conflicts: ['c1'] }, 400, /^unresolved_conflicts/],
    [{ actor_id: 'x'.repeat(1_025) }, 400, 'actor_id is over 1024 bytes.'],
  ] as const) {
    const answer = await door.post('/memory/manifests', { ...least, ...more });
    const error = typeof text === 'string' ? text : expect.stringMatching(text);
    expect([more, answer.status, answer.value]).toEqual([more, status, { error }]);
  }
  expect((await door.post('/memory/manifests', '')).value).toEqual({ error: 'invalid request body' });
  const made = await door.post('/memory/manifests', least);
  const again = await door.post('/memory/manifests', { ...least, manifest_id: made.value.manifest_id });
  expect([again.status, again.value.error]).toEqual([400, expect.stringMatching(/^manifest_id is taken/)]);
  const count = door.temp.db.query<[], { count: number }>('SELECT count(*) AS count FROM memory_manifests').get();
  expect(count).toEqual({ count: 1 });
});

test('T81 nothing is recorded in recovery, and everything is read', async () => {
  const door = await openDoor({ recovery: true });
  const refused = await door.post('/memory/manifests', {});
  expect([refused.status, refused.value.error]).toEqual([503, expect.stringMatching(/recovery/)]);
});
