import { expect, test } from 'vitest';
import { changesetId, projectId } from '../support/history-builder.ts';
import { authorize, mergeEnvelope, testProposal, testReviewer } from '../support/merge-envelope.ts';
import { branch, client, commitBody, type Door, type Json, openDoor, startDemo, unknownId } from './door.ts';

const beside = 'refs/agents/bob/main';
const conflicts = '/memory/demo/conflicts';
const foundFields = [
  ...['conflict_id', 'project_id', 'base_changeset_id', 'left_changeset_id', 'right_changeset_id', 'conflict_type'],
  ...['severity', 'summary', 'details', 'status', 'created_at', 'conflict_key'],
];

/** Two branches with a decision each for one scope: `sides` is what lies between them, one blocking conflict. */
async function rivals(door: Door) {
  const root = await startDemo(door);
  await door.post('/memory/demo/branches', { ref_name: beside, head_changeset_id: root, principal: 'bob' });
  const decide = async (ref: string, id: string, content: string): Promise<string> => {
    const ops = [
      { op_type: 'add_memory', resulting_event_id: id, payload: { content, kind: 'decision', scope: 'net' } },
    ];
    return (await door.post('/memory/changesets', commitBody(ref, root, { ops }))).value.changeset_id;
  };
  const left = await decide(branch, 'ours', 'use <one> cable');
  const right = await decide(beside, 'theirs', 'use no cable');
  return { root, sides: { base_changeset_id: root, left_changeset_id: left, right_changeset_id: right } };
}

const detect = async (door: Pick<Door, 'post'>, sides: object): Promise<Json[]> =>
  (await door.post(`${conflicts}/detect`, sides)).value.conflicts;

test('T110 detection answers what it finds, the same again and again, and writes nothing', async () => {
  const door = await openDoor();
  const { sides } = await rivals(door);
  const answer = await door.post(`${conflicts}/detect`, sides);
  expect([answer.status, answer.keys]).toEqual([200, ['conflicts']]);
  const [found, ...others] = answer.value.conflicts;
  expect(others).toEqual([]);
  expect(Object.keys(found)).toEqual(foundFields);
  expect(found).toMatchObject({
    ...sides,
    project_id: 'demo',
    conflict_type: 'contradictory_decision',
    severity: 'blocking',
    status: 'open',
    created_at: '0001-01-01T00:00:00Z',
    details: { scope: 'net', memory_ids: ['ours', 'theirs'] },
  });
  expect(answer.body).toContain('use \\u003cone\\u003e cable');
  expect((await door.post(`${conflicts}/detect`, sides)).body).toBe(answer.body);
  expect((await door.get(conflicts)).value).toEqual({ conflicts: [], count: 0 });
  const same = { ...sides, left_changeset_id: sides.base_changeset_id, right_changeset_id: sides.base_changeset_id };
  expect((await door.post(`${conflicts}/detect`, same)).body).toBe('{"conflicts":[]}\n');
});

test('T110 every failure of whoever asks for detection is 400', async () => {
  const door = await openDoor();
  const { sides } = await rivals(door);
  const strange = (await door.post('/memory/other/legacy-root', undefined)).value.changeset.changeset_id;
  for (const [body, error] of [
    [{ ...sides, base_changeset_id: '' }, 'base_changeset_id required'],
    [{ ...sides, left_changeset_id: null }, 'left_changeset_id required'],
    [{ base_changeset_id: 'b', left_changeset_id: 'l' }, 'right_changeset_id required'],
    [{ ...sides, base_changeset_id: unknownId }, 'load base: changeset not found'],
    [{ ...sides, left_changeset_id: 'none' }, 'load left: changeset not found'],
    [{ ...sides, right_changeset_id: strange }, 'load right: changeset not found'],
    [{ ...sides, base_changeset_id: 7 }, 'invalid request body'],
    ['', 'invalid request body'],
  ] as const) {
    const answer = await door.post(`${conflicts}/detect`, body);
    expect([body, answer.status, answer.value]).toEqual([body, 400, { error }]);
  }
  expect((await door.post('/memory/none/conflicts/detect', sides)).status).toBe(400);
});

test('T111 what detection finds is kept for a proposal, whatever ids and severities were sent along', async () => {
  const door = await openDoor();
  const { sides } = await rivals(door);
  const [found] = await detect(door, sides);
  const body = { proposal_id: 'p1', conflicts: [{ ...found, conflict_id: 'invented', severity: 'info', status: 'x' }] };
  const kept = await door.post(`${conflicts}/persist`, body);
  expect([kept.status, kept.body]).toEqual([200, '{"persisted":1,"proposal_id":"p1"}\n']);
  const { details: _, ...bare } = found;
  expect((await door.post(`${conflicts}/persist`, { proposal_id: 'p2', conflicts: [found, found] })).value).toEqual({
    persisted: 2,
    proposal_id: 'p2',
  });
  const listed = await door.get(conflicts);
  expect([listed.status, listed.keys]).toEqual([200, ['conflicts', 'count']]);
  expect(listed.value).toEqual({
    conflicts: [{ ...found, proposal_id: 'p2', created_at: expect.stringMatching(/^2026-/) }],
    count: 1,
  });
  expect(Object.keys(listed.value.conflicts[0])).toEqual([
    ...foundFields.slice(0, -2),
    ...['proposal_id', 'created_at', 'conflict_key'],
  ]);
  expect((await door.post(`${conflicts}/persist`, { proposal_id: 'p1' })).value).toEqual({
    persisted: 0,
    proposal_id: 'p1',
  });
  // Without its details it is about something else.
  expect((await door.post(`${conflicts}/persist`, { proposal_id: 'p3', conflicts: [bare] })).status).toBe(400);
});

test('T111 what detection does not find is 400 with its name, and nothing of the request is kept', async () => {
  const door = await openDoor();
  const { sides } = await rivals(door);
  const [found] = await detect(door, sides);
  const turned = { ...sides, left_changeset_id: sides.right_changeset_id, right_changeset_id: sides.left_changeset_id };
  const [other] = await detect(door, turned);
  const invented = { ...turned, conflict_type: 'incompatible_fact', summary: 'invented' };
  for (const [body, error] of [
    [{ conflicts: [found] }, 'proposal_id required'],
    [{ proposal_id: 'p', conflicts: [{ ...found, project_id: 'other' }] }, 'conflicts[0].project_id: project mismatch'],
    [{ proposal_id: 'p', conflicts: [found, { ...found, base_changeset_id: '' }] }, 'conflicts[1].base_changeset_id'],
    [
      { proposal_id: 'p', conflicts: [{ ...found, left_changeset_id: null }] },
      'conflicts[0].left_changeset_id required',
    ],
    [
      { proposal_id: 'p', conflicts: [{ ...found, right_changeset_id: '' }] },
      'conflicts[0].right_changeset_id required',
    ],
    [{ proposal_id: 'p', conflicts: [{ ...found, conflict_type: '' }] }, 'conflicts[0].conflict_type required'],
    [{ proposal_id: 'p', conflicts: [{ ...found, conflict_type: 'quarrel' }] }, 'conflicts[0].conflict_type'],
    [{ proposal_id: 'p', conflicts: [{ ...found, severity: 'grave' }] }, 'conflicts[0].severity'],
    [{ proposal_id: 'p', conflicts: [{ ...found, summary: '' }] }, 'conflicts[0].summary required'],
    [{ proposal_id: 'p', conflicts: [{ ...found, left_changeset_id: unknownId }] }, 'load left: changeset not found'],
    [{ proposal_id: 'p', conflicts: [found, other, invented] }, 'detection does not find it'],
    [{ proposal_id: 'p', conflicts: [found, { ...found, conflict_type: 'stale_base' }] }, 'detection does not find it'],
    [{ proposal_id: 'p', conflicts: 'all' }, 'invalid request body'],
    [{ proposal_id: 'p'.repeat(1_025), conflicts: [found] }, 'proposal_id'],
  ] as const) {
    const answer = await door.post(`${conflicts}/persist`, body);
    expect([body, answer.status, answer.value.error]).toEqual([body, 400, expect.stringContaining(error)]);
    expect(answer.value.error).not.toMatch(/SQL|constraint/i);
  }
  expect((await door.get(conflicts)).value.count).toBe(0);
  const both = await door.post(`${conflicts}/persist`, { proposal_id: 'p', conflicts: [found, other] });
  expect([both.status, both.value.persisted]).toEqual([200, 2]);
  expect((await door.get(conflicts)).value.count).toBe(2);
});

test('T112 conflicts are listed newest first, by status, at most as many as asked for, and go on after a cursor', async () => {
  const door = await openDoor();
  const { sides } = await rivals(door);
  const turned = { ...sides, left_changeset_id: sides.right_changeset_id, right_changeset_id: sides.left_changeset_id };
  const [first] = await detect(door, sides);
  const [second] = await detect(door, turned);
  await door.post(`${conflicts}/persist`, { proposal_id: 'p1', conflicts: [first] });
  door.temp.clock.advance(1_000);
  await door.post(`${conflicts}/persist`, { proposal_id: 'p2', conflicts: [second] });
  await door.post(`${conflicts}/${first.conflict_id}/resolve`, {});
  const ids = async (query: string): Promise<readonly [string[], number]> => {
    const { value } = await door.get(`${conflicts}${query}`);
    return [value.conflicts.map((one: Json) => one.conflict_id), value.count];
  };
  const whole = [[second.conflict_id, first.conflict_id], 2];
  for (const query of ['', '?limit=0', '?limit=x', '?limit=501', '?limit=500']) expect(await ids(query)).toEqual(whole);
  expect(await ids('?status=open')).toEqual([[second.conflict_id], 1]);
  expect(await ids('?status=resolved')).toEqual([[first.conflict_id], 1]);
  for (const status of ['deferred', 'nonsense']) expect(await ids(`?status=${status}`)).toEqual([[], 0]);
  expect(await ids('?proposal_id=p1')).toEqual([[first.conflict_id], 1]);
  const page = (await door.get(`${conflicts}?limit=1`)).value;
  expect([page.conflicts[0].conflict_id, page.count]).toEqual([second.conflict_id, 1]);
  expect(await ids(`?limit=1&cursor=${page.next_cursor}`)).toEqual([[first.conflict_id], 1]);
  expect((await door.get(`${conflicts}?status=open&cursor=${page.next_cursor}`)).status).toBe(400);
  expect((await door.get('/memory/none/conflicts')).value).toEqual({ conflicts: [], count: 0 });
});

test('T113 a conflict is resolved once, with its note; anything else is 404', async () => {
  const door = await openDoor();
  const { sides } = await rivals(door);
  const [found] = await detect(door, sides);
  await door.post(`${conflicts}/persist`, { proposal_id: 'p1', conflicts: [found] });
  const path = `${conflicts}/${found.conflict_id}/resolve`;
  for (const [body, error] of [
    ['', 'invalid request body'],
    [{ resolution_note: 7 }, 'invalid request body'],
    [{ resolution_note: 'n'.repeat(4_097) }, 'resolution_note is over 4096 bytes.'],
  ] as const) {
    const answer = await door.post(path, body);
    expect([answer.status, answer.value]).toEqual([400, { error }]);
  }
  const done = await door.post(path, { resolution_note: 'one cable it is' });
  expect([done.status, done.body]).toEqual([200, `{"resolved":"${found.conflict_id}"}\n`]);
  const [listed] = (await door.get(conflicts)).value.conflicts;
  expect(listed).toMatchObject({
    status: 'resolved',
    resolution_note: 'one cable it is',
    resolved_at: listed.created_at,
  });
  expect(Object.keys(listed).slice(-4)).toEqual(['created_at', 'resolved_at', 'resolution_note', 'conflict_key']);
  const missing = [
    path,
    `${conflicts}/${'ab'.repeat(32)}/resolve`,
    `${conflicts}/none/resolve`,
    `/memory/other/conflicts/${found.conflict_id}/resolve`,
  ];
  for (const other of missing) {
    const answer = await door.post(other, { resolution_note: 'again' });
    expect([other, answer.status, answer.value]).toEqual([other, 404, { error: 'conflict not found' }]);
  }
  // A resolution stands, whoever keeps the conflict again.
  await door.post(`${conflicts}/persist`, { proposal_id: 'p2', conflicts: [found] });
  expect((await door.get(`${conflicts}?status=resolved`)).value.count).toBe(1);
});

test('T113 the open conflicts of a proposal are retired, and counted', async () => {
  const door = await openDoor();
  const { sides } = await rivals(door);
  const [found] = await detect(door, sides);
  await door.post(`${conflicts}/persist`, { proposal_id: 'p1', conflicts: [found] });
  for (const [body, error] of [
    [{ status: 'canceled' }, 'proposal_id required'],
    [{ proposal_id: 'p1' }, 'status required'],
    [{ proposal_id: 'p1', status: 'open' }, 'status: one of rejected, canceled, superseded is needed'],
    [{ proposal_id: 'p1', status: 'resolved' }, 'status: one of rejected, canceled, superseded is needed'],
    ['', 'invalid request body'],
  ] as const) {
    const answer = await door.post(`${conflicts}/retire`, body);
    expect([body, answer.status, answer.value]).toEqual([body, 400, { error }]);
  }
  const illFormed = '\\ud800';
  await door.post(`${conflicts}/persist`, `{"proposal_id":"${illFormed}","conflicts":[${JSON.stringify(found)}]}`);
  expect((await door.get(conflicts)).value.conflicts[0].proposal_id).toBe('\ufffd');
  await door.post(`${conflicts}/retire`, { proposal_id: 'p1', status: 'rejected' });
  const gone = await door.post(`${conflicts}/retire`, `{"proposal_id":"${illFormed}","status":"rejected"}`);
  expect([gone.status, gone.value]).toEqual([200, { proposal_id: '\ufffd', retired: 1, status: 'rejected' }]);
  await door.post(`${conflicts}/persist`, { proposal_id: 'p1', conflicts: [found] });
  const none = await door.post(`${conflicts}/retire`, { proposal_id: 'p9', status: 'rejected' });
  expect([none.status, none.body]).toEqual([200, '{"proposal_id":"p9","retired":0,"status":"rejected"}\n']);
  for (const status of ['rejected', 'canceled', 'superseded']) {
    const answer = await door.post(`${conflicts}/retire`, { proposal_id: 'p1', status });
    expect([answer.status, answer.value]).toEqual([200, { proposal_id: 'p1', retired: 1, status }]);
    expect((await door.get(`${conflicts}?status=${status}`)).value.count).toBe(1);
    await door.post(`${conflicts}/persist`, { proposal_id: 'p1', conflicts: [found] });
    expect((await door.get(`${conflicts}?status=open`)).value.count).toBe(1);
  }
});

test('T114 a merge is 409 while a blocking conflict is open, and lands when it is resolved', async () => {
  const door = await openDoor();
  const { root, sides } = await rivals(door);
  const merge = (expected: string, next: string) => {
    const move = { project: projectId('demo'), expected: changesetId(expected), next: changesetId(next) };
    return door.post('/memory/demo/refs/merge', {
      ...{ ref_name: 'refs/shared/main', expected_head: expected, new_head: next, merge_proposal_id: testProposal },
      ...{ reviewer_principal: testReviewer, merge_authorization: authorize(mergeEnvelope(door.temp, move)) },
    });
  };
  expect((await merge(root, sides.left_changeset_id)).status).toBe(200);
  const more = { op_type: 'add_memory', payload: { content: 'use two', kind: 'decision', scope: 'net' } };
  const next = (await door.post('/memory/changesets', commitBody(branch, sides.left_changeset_id, { ops: [more] })))
    .value.changeset_id;
  const between = { base_changeset_id: sides.left_changeset_id, left_changeset_id: sides.left_changeset_id };
  const [found] = await detect(door, { ...between, right_changeset_id: next });
  const refused = await merge(sides.left_changeset_id, next);
  expect([refused.status, refused.value]).toEqual([409, { error: `open blocking conflict ${found.conflict_id}` }]);
  await door.post(`${conflicts}/persist`, { proposal_id: testProposal, conflicts: [found] });
  await door.post(`${conflicts}/${found.conflict_id}/resolve`, { resolution_note: 'two' });
  expect((await merge(sides.left_changeset_id, next)).status).toBe(200);
});

test('T82 in recovery conflicts are found and listed; keeping, retiring and resolving are 503', async () => {
  const door = await openDoor();
  const { sides } = await rivals(door);
  const [found] = await detect(door, sides);
  await door.post(`${conflicts}/persist`, { proposal_id: 'p1', conflicts: [found] });
  const recovery = await openDoor({ recovery: true, lethe: door.temp.lethe });
  const { get, post } = client(recovery.http.port);
  expect((await post(`${conflicts}/detect`, sides)).value.conflicts).toEqual([found]);
  expect((await get(conflicts)).value.count).toBe(1);
  for (const [path, body] of [
    ['persist', { proposal_id: 'p1', conflicts: [found] }],
    ['retire', { proposal_id: 'p1', status: 'canceled' }],
    [`${found.conflict_id}/resolve`, {}],
  ] as const) {
    const answer = await post(`${conflicts}/${path}`, body);
    expect([path, answer.status]).toEqual([path, 503]);
  }
  expect((await get(`${conflicts}?status=open`)).value.count).toBe(1);
});

test('T83 conflicts that were kept, retired and resolved are counted', async () => {
  const door = await openDoor();
  const { sides } = await rivals(door);
  const [found] = await detect(door, sides);
  const series = async (): Promise<string[]> =>
    (await door.get('/metrics')).body.split('\n').filter((line) => line.startsWith('lethe_conflicts_'));
  await door.post(`${conflicts}/retire`, { proposal_id: 'p1', status: 'canceled' });
  await door.post(`${conflicts}/persist`, { proposal_id: 'p1', conflicts: [] });
  await door.post(`${conflicts}/${found.conflict_id}/resolve`, {});
  expect(await series()).toEqual([]);
  await door.post(`${conflicts}/persist`, { proposal_id: 'p1', conflicts: [found, found] });
  await door.post(`${conflicts}/retire`, { proposal_id: 'p1', status: 'canceled' });
  await door.post(`${conflicts}/persist`, { proposal_id: 'p1', conflicts: [found] });
  await door.post(`${conflicts}/${found.conflict_id}/resolve`, {});
  expect(await series()).toEqual([
    'lethe_conflicts_persisted_total 3',
    'lethe_conflicts_retired_total 1',
    'lethe_conflicts_resolved_total 1',
  ]);
  expect((await door.get('/metrics')).body).toMatch(/verb="detection"/);
});
