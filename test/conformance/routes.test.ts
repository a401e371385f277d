import { expect, test } from 'vitest';
import { connect } from '../../src-main/sqlite/driver.ts';
import { changesetId, projectId, reviewedMerge } from '../support/history-builder.ts';
import { authorize, mergeEnvelope, testMerger, testProposal, testReviewer } from '../support/merge-envelope.ts';
import { branch, commitBody, type Door, type Json, openDoor, startDemo, unknownId } from './door.ts';

const refFields = [
  'project_id',
  'ref_name',
  'head_changeset_id',
  'protected',
  'created_at',
  'updated_at',
  'created_by_principal',
];
const changesetFields = [
  ...['changeset_id', 'schema_version', 'project_id', 'ref_name', 'parent_ids', 'author_principal', 'persona_id'],
  ...['actor_id', 'surface', 'model', 'environment', 'session_id', 'topic_id', 'context_manifest_id', 'message'],
  ...['created_at', 'idempotency_key', 'ops', 'evidence', 'verification', 'integrity_digest', 'chain_digest'],
];
const memoryFields = [
  ...['memory_id', 'content', 'event_type', 'kind', 'scope', 'visibility', 'tags', 'confidence', 'status', 'source'],
  ...['introduced_changeset_id', 'last_changeset_id', 'payload'],
];
const diffFields = [
  ...['project_id', 'base_changeset_id', 'target_changeset_id', 'memories_added', 'corrections_proposed'],
  ...['records_superseded', 'relationships_added', 'decisions_changed', 'tasks_or_flags_changed'],
  ...['duplicates_detected', 'permissions_or_visibility_affected', 'evidence_added_or_removed', 'unresolved_conflicts'],
];
const manifestFields = [
  ...['manifest_id', 'direction', 'project_id', 'ref_name', 'head_changeset_id', 'selected_memory_ids'],
  ...['inclusion_reasons', 'session_id', 'actor_id', 'created_at', 'query', 'limit', 'total_active', 'context_digest'],
];

/** A project whose every object has all the fields that it can have here. */
async function fullProject(door: Door) {
  const root = await startDemo(door);
  const pinned = await door.post('/memory/demo/context', { create_manifest: true });
  const memory = {
    content: 'The cache is Redis',
    kind: 'decision',
    event_type: 'task',
    scope: 'net',
    visibility: 'shared',
  };
  const made = await door.post(
    '/memory/changesets',
    commitBody(branch, root, {
      ...{
        persona_id: 'p',
        actor_id: 'alice',
        surface: 'cli',
        model: 'm',
        environment: 'e',
        session_id: 's',
        topic_id: 't',
      },
      context_manifest_id: pinned.value.manifest_id,
      ops: [
        { op_type: 'add_memory', resulting_event_id: 'cache', payload: { ...memory, tags: ['a'], confidence: 0.5 } },
        { op_type: 'add_memory', payload: { content: 'second' } },
      ],
      evidence: [{ kind: 'log' }],
      verification: [{ ok: true }],
    }),
  );
  const changes = { content: 'The cache is Valkey', summary: 'Redis became Valkey' };
  const next = await door.post(
    '/memory/changesets',
    commitBody(branch, made.value.changeset_id, {
      ops: [{ op_type: 'correct_memory', target_event_id: 'cache', resulting_event_id: 'cache-2', payload: changes }],
    }),
  );
  return { root, made, first: made.value.changeset_id as string, second: next.value.changeset_id as string };
}

function merge(door: Door, root: string, head: string) {
  const move = { project: projectId('demo'), expected: changesetId(root), next: changesetId(head) };
  return door.post('/memory/demo/refs/merge', {
    ...{ ref_name: 'refs/shared/main', expected_head: root, new_head: head, merge_proposal_id: testProposal },
    ...{ reviewer_principal: testReviewer, merge_authorization: authorize(mergeEnvelope(door.temp, move)) },
  });
}

test('T69 the service routes', async () => {
  const door = await openDoor();
  expect((await door.get('/health')).body).toBe('{"mode":"git","status":"ok"}\n');
  expect((await door.get('/readyz')).body).toBe('{"mode":"git","status":"ready"}\n');
  expect((await door.get('/stats')).body).toBe('{"checkpoints":0,"events":0,"flags":0,"sessions":0,"threads":0}\n');
  const metrics = await door.get('/metrics');
  expect([metrics.status, metrics.headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4']);
  door.temp.lethe.close();
  const down = await door.get('/readyz');
  expect([down.status, down.value]).toEqual([503, { error: 'store unavailable' }]);
});

test('T70 every route answers with its status and its fields in their order', async () => {
  const door = await openDoor();
  const { root, made, first, second } = await fullProject(door);
  expect([made.status, made.keys]).toEqual([201, changesetFields]);
  expect(Object.keys(made.value.ops[0])).toEqual(['ordinal', 'op_type', 'resulting_event_id', 'payload']);

  const projects = await door.get('/memory/projects');
  expect(projects.keys).toEqual(['projects']);
  expect(Object.keys(projects.value.projects[0])).toEqual(['project_id', 'name', 'created_at', 'updated_at']);

  const refs = await door.get('/memory/demo/refs');
  expect(refs.value.map((ref: Json) => ref.ref_name)).toEqual([branch, 'refs/shared/main']);
  for (const ref of refs.value) expect(Object.keys(ref)).toEqual(refFields);

  const log = await door.get(`/memory/demo/changesets?ref=${branch}`);
  expect(log.keys).toEqual(['changesets', 'project', 'ref']);
  expect(log.value.changesets.map((one: Json) => one.changeset_id)).toEqual([second, first, root]);
  expect((await door.get(`/memory/changesets/${first}`)).body).toBe(made.body);
  const rootChangeset = (await door.get(`/memory/changesets/${root}`)).value;
  expect(rootChangeset.parent_ids).toEqual([]);
  expect(rootChangeset).not.toHaveProperty('ops');

  const diff = await door.post(`/memory/changesets/${second}/diff`, { base_changeset_id: root });
  expect([diff.status, diff.keys]).toEqual([200, diffFields]);
  const corrected = await door.post(`/memory/changesets/${second}/diff`, { base_changeset_id: first });
  expect(corrected.keys).toEqual([...diffFields, 'kind_notes']);
  expect(Object.keys(corrected.value.kind_notes[0])).toEqual(['left', 'right', 'kind', 'reason']);
  expect(Object.keys(corrected.value.corrections_proposed[0])).toEqual([
    ...['op_ordinal', 'op_type', 'changeset_id', 'target_event_id', 'resulting_event_id', 'summary', 'kind', 'payload'],
    ...['memory_id', 'author_principal', 'before', 'after'],
  ]);

  const context = await door.get(`/memory/demo/context?ref=${branch}&query=cache`);
  expect(context.keys).toEqual([
    ...['project_id', 'ref_name', 'head_changeset_id', 'projection_version', 'total_active', 'memories'],
    'inclusion_reasons',
  ]);
  expect(Object.keys(context.value.memories[0])).toEqual(memoryFields);
  const pinned = await door.post('/memory/demo/context', {
    ...{ ref_name: branch, query: 'cache', session_id: 's1', actor_id: 'alice', create_manifest: true },
  });
  expect(pinned.keys.slice(0, 4)).toEqual(['project_id', 'ref_name', 'head_changeset_id', 'manifest_id']);
  const manifest = await door.get(`/memory/manifests/${pinned.value.manifest_id}`);
  expect([manifest.status, manifest.keys]).toEqual([200, manifestFields]);
  expect(manifest.value.direction).toBe('input');
  expect((await door.get(`/memory/manifests/${pinned.value.manifest_id}/context`)).body).toBe(pinned.body);

  const search = await door.get(`/memory/demo/search?q=valkey&ref=${branch}`);
  expect(search.keys).toEqual(['complete', 'head_changeset_id', 'matches']);
  expect(Object.keys(search.value.matches[0])).toEqual(['memory', 'score', 'why']);
  const memory = await door.get(`/memory/demo/memories/cache-2?ref=${branch}`);
  expect(memory.keys).toEqual(['head_changeset_id', 'memory', 'relationships']);
  expect(Object.keys(memory.value.memory)).toEqual(memoryFields);
  const lineage = await door.get(`/memory/demo/memories/cache-2/lineage?ref=${branch}`);
  expect(lineage.keys).toEqual(['head_changeset_id', 'lineage', 'memory_id']);
  expect(lineage.value.lineage.map((step: Json) => step.op_type)).toEqual(['add_memory', 'correct_memory']);
  expect(Object.keys(lineage.value.lineage[0])).toEqual([
    ...['changeset_id', 'ordinal', 'op_type', 'memory_id', 'author_principal', 'actor_id', 'model', 'message'],
    ...['created_at', 'before', 'after'],
  ]);

  const merged = await merge(door, root, second);
  expect([merged.status, merged.keys, merged.value.head_changeset_id]).toEqual([200, refFields, second]);
  const advances = await door.get('/memory/demo/advances');
  expect(advances.keys).toEqual(['advances']);
  expect(Object.keys(advances.value.advances[0])).toEqual([
    ...['advance_id', 'project_id', 'ref_name', 'expected_head', 'new_head', 'merge_proposal_id', 'proposal_digest'],
    ...['reviewer_principal', 'merger_principal', 'strategy', 'authorization_nonce', 'created_at'],
  ]);
  expect(advances.value.advances[0].merger_principal).toBe(testMerger);
  const moves = await door.get('/memory/demo/ref-moves');
  expect(moves.keys).toEqual(['ref', 'ref_moves']);
  expect(moves.value.ref_moves.map((move: Json) => move.to_head)).toEqual([second, root]);
  expect(Object.keys(moves.value.ref_moves[0])).toEqual([
    ...['seq', 'project_id', 'ref_name', 'from_head', 'to_head', 'moved_at', 'principal', 'cause', 'chain_digest'],
    'signature',
  ]);
  const report = await door.get('/memory/demo/verify');
  expect(report.keys).toEqual(['ok', 'checked', 'head', 'findings', 'notes']);
  expect([report.status, report.value.ok, report.value.findings]).toEqual([200, true, []]);
});

test('T71 unknown things are 404, missing fields 400 by name, empty lists are lists, and no read creates anything', async () => {
  const door = await openDoor();
  expect((await door.get('/memory/projects')).body).toBe('{"projects":[]}\n');
  expect((await door.get('/memory/demo/refs')).body).toBe('[]\n');
  expect((await door.get('/memory/demo/changesets?ref=refs/shared/main')).body).toBe(
    '{"changesets":[],"project":"demo","ref":"refs/shared/main"}\n',
  );
  expect((await door.get('/memory/demo/changesets')).body).toBe('{"changesets":[],"project":"demo","ref":""}\n');
  const missing: readonly [string, string, unknown?][] = [
    ['/memory/demo/context', 'project not found'],
    ['/memory/demo/refs/x', 'ref not found'],
    ['/memory/demo/refs/resolve?name=x', 'ref not found'],
    ['/memory/demo/search?q=x', 'project not found'],
    ['/memory/demo/memories/x', 'project not found'],
    ['/memory/demo/memories/x/lineage', 'project not found'],
    ['/memory/demo/advances', 'project not found'],
    ['/memory/demo/ref-moves', 'project not found'],
    ['/memory/demo/verify', 'project not found'],
    ['/memory/changesets/x', 'changeset not found'],
    [`/memory/changesets/${unknownId}`, 'changeset not found'],
    ['/memory/manifests/x', 'manifest not found'],
    ['/memory/manifests/x/context', 'manifest not found'],
  ];
  const walk = async (replaced: string): Promise<void> => {
    for (const [path, text] of missing) {
      const answer = await door.get(path);
      const expected = text === 'project not found' ? replaced : text;
      if (expected !== '') expect([path, answer.status, answer.value]).toEqual([path, 404, { error: expected }]);
      expect(answer.body).not.toMatch(/SQLITE|SELECT|constraint|memory_changesets/i);
    }
  };
  await walk('project not found');
  expect((await door.get('/memory/projects')).body).toBe('{"projects":[]}\n');
  await startDemo(door);
  await walk('');
  expect((await door.get('/memory/demo/advances')).body).toBe('{"advances":[]}\n');
  const other = 'refs/agents/none/main';
  for (const path of [
    `context?ref=${other}`,
    `search?q=x&ref=${other}`,
    `memories/x?ref=${other}`,
    `ref-moves?ref=${other}`,
  ])
    expect([path, (await door.get(`/memory/demo/${path}`)).value]).toEqual([path, { error: 'ref not found' }]);
  expect((await door.get('/memory/demo/memories/x')).status).toBe(404);
  expect((await door.get('/memory/demo/refs/resolve')).value).toEqual({ error: 'ref name required' });
  expect((await door.get('/memory/demo/search')).value).toEqual({ error: 'q required' });
  for (const [path, field] of [
    ['context?at=yesterday', 'at'],
    [`changesets?ref=${branch}&at=now`, 'at'],
    [`changesets?ref=${branch}&all_parents=maybe`, 'all_parents'],
    [`context?query=${'x'.repeat(4_097)}`, 'query'],
    [`search?q=${'x'.repeat(4_097)}`, 'q'],
  ])
    expect([
      path,
      (await door.get(`/memory/demo/${path}`)).status,
      (await door.get(`/memory/demo/${path}`)).value.error,
    ]).toEqual([path, 400, expect.stringMatching(new RegExp(`^${field}\\b`))]);
});

test('T72 legacy-root starts a project once, and then answers with the head of main', async () => {
  const door = await openDoor();
  const many = await Promise.all(
    Array.from({ length: 20 }, () => door.post('/memory/demo/legacy-root', 'not even JSON')),
  );
  const [first] = many;
  expect(new Set(many.map((one) => one.body)).size).toBe(1);
  expect([first?.status, first?.keys]).toEqual([200, ['changeset', 'ref']]);
  expect(first?.value.changeset.integrity_digest).toBe(
    'bd2c238d21f772dfed7034a57364c9fe649c70a86b3a242f30044cc525d5ac1c',
  );
  expect(first?.value.ref).toMatchObject({
    ref_name: 'refs/shared/main',
    protected: true,
    created_by_principal: 'system',
  });
  const root = first?.value.changeset.changeset_id;
  expect((await door.post('/memory/demo/legacy-root', 'x'.repeat(2_000_000))).status).toBe(200);
  await door.post('/memory/demo/branches', { ref_name: branch, head_changeset_id: root });
  const { value: made } = await door.post('/memory/changesets', commitBody(branch, root));
  await merge(door, root, made.changeset_id);
  expect((await door.post('/memory/demo/legacy-root', '')).value.changeset.changeset_id).toBe(made.changeset_id);
  for (const bad of ['%20demo', '*', 'x'.repeat(129)])
    expect([bad, (await door.post(`/memory/${bad}/legacy-root`, '')).status]).toEqual([bad, 400]);
});

test('T83 a series begins with its first count, and times are histograms by route and by verb', async () => {
  const door = await openDoor();
  const text = async (): Promise<string> => (await door.get('/metrics')).body;
  expect(await text()).not.toMatch(/_total/);
  const root = await startDemo(door);
  const body = commitBody(branch, root);
  await door.post('/memory/changesets', body);
  await door.post('/memory/changesets', body);
  await door.post('/memory/changesets', { ...body, message: 'another' });
  await door.post('/memory/changesets', commitBody(branch, root));
  await door.post('/memory/changesets', commitBody(branch, root, { ops: [{ op_type: 'add_memory' }] }));
  await door.get(`/memory/demo/context?ref=${branch}`);
  await door.post('/memory/demo/context', { ref_name: branch, create_manifest: true });
  await door.get('/memory/demo/context?ref=refs/none/at/all');
  await door.get(`/memory/demo/search?q=memory&ref=${branch}`);
  await door.get('/memory/demo/verify');
  const head = (await door.get(`/memory/demo/refs/resolve?name=${branch}`)).value.head_changeset_id;
  await door.post(`/memory/changesets/${head}/diff`, { base_changeset_id: root });
  const sides = { base_changeset_id: root, left_changeset_id: root, right_changeset_id: head };
  await door.post('/memory/demo/conflicts/detect', sides);
  await merge(door, root, head);
  await door.post('/memory/demo/refs/merge', {
    ...{ ref_name: 'refs/shared/main', expected_head: root, new_head: head, merge_proposal_id: testProposal },
    ...{ reviewer_principal: testReviewer, merge_authorization: 'no' },
  });
  const counted = await text();
  for (const [name, value] of [
    ['lethe_changesets_created_total', 1],
    ['lethe_idempotent_replays_total', 1],
    ['lethe_idempotency_mismatches_total', 1],
    ['lethe_ref_cas_conflicts_total', 1],
    ['lethe_changesets_rejected_total', 1],
    ['lethe_context_reconstructions_total', 2],
    ['lethe_context_reconstruction_changesets_total', 2],
    ['lethe_merge_authorized_total', 1],
    ['lethe_merge_authorization_failures_total', 1],
  ] as const)
    expect(counted).toMatch(new RegExp(`# TYPE ${name} counter\n${name} ${value}\n`));
  expect(counted).toMatch(/lethe_context_reconstruction_ms_total \d/);
  expect(counted).toMatch(/lethe_http_request_duration_seconds_count\{route="\/memory\/changesets"\} 5/);
  // Refusals take time too: of the commits two were refused, of the contexts and of the merges one.
  for (const [verb, count] of [
    ['commit', 5],
    ['context', 3],
    ['search', 1],
    ['diff', 1],
    ['detection', 1],
    ['verify', 1],
    ['advance', 2],
  ])
    expect(counted).toMatch(new RegExp(`lethe_verb_duration_seconds_count\\{verb="${verb}"\\} ${count}\n`));
  expect(counted).not.toMatch(/lethe_merge_replay_rejections_total/);
});

test('T83 writes that are tried again and those that are given up are counted while another process holds the database', async () => {
  const door = await openDoor();
  const root = await startDemo(door);
  const busy = async (): Promise<readonly string[]> =>
    (await door.get('/metrics')).body.split('\n').filter((line) => line.startsWith('lethe_sqlite_busy_'));
  expect(await busy()).toEqual([]);
  door.temp.db.pragma('busy_timeout = 1');
  const holder = connect(door.temp.path, { readOnly: false, mustExist: true });
  holder.exec('BEGIN IMMEDIATE');
  const body = commitBody(branch, root);
  expect((await door.post('/memory/changesets', body)).status).toBe(503);
  holder.exec('ROLLBACK');
  holder.close();
  expect((await door.post('/memory/changesets', body)).status).toBe(201);
  const counted = ['lethe_sqlite_busy_exhausted_total 1', 'lethe_sqlite_busy_retries_total 5'];
  expect((await busy()).toSorted()).toEqual(counted);
  expect((await busy()).toSorted()).toEqual(counted);
});

test('T75 what a reviewed merge marks itself with is taken over HTTP', async () => {
  const door = await openDoor();
  const root = await startDemo(door);
  const made = await door.post('/memory/changesets', commitBody(branch, root, { ops: [reviewedMerge('p1', root)] }));
  expect([made.status, made.value.ops[0].op_type]).toEqual([201, 'attach_verification']);
});
