import { expect, test } from 'vitest';
import { projectId } from '../support/history-builder.ts';
import { branch, commitBody, type Door, openDoor, startDemo, unknownId } from './door.ts';

const protectedText = 'protected ref requires merge path';

async function commit(door: Door, ref: string, head: string, more: Record<string, unknown> = {}): Promise<string> {
  const made = await door.post('/memory/changesets', commitBody(ref, head, more));
  expect(made.status).toBe(201);
  return made.value.changeset_id;
}

const verified = async (door: Door) => (await door.temp.lethe.verifyChain(projectId('demo'))).findings;

test('T73 a branch is 201, and every failure of the caller is 400', async () => {
  const door = await openDoor();
  const root = await startDemo(door);
  const foreign = (await door.post('/memory/other/legacy-root', '')).value.changeset.changeset_id;
  const body = { ref_name: 'refs/topics/t/one', head_changeset_id: root };
  for (const [project, more, text] of [
    ['demo', { ref_name: '' }, 'ref_name required'],
    ['demo', { head_changeset_id: '' }, 'head_changeset_id required'],
    ['demo', { head_changeset_id: 'no id' }, 'changeset not found'],
    ['demo', { head_changeset_id: unknownId }, 'changeset not found'],
    ['demo', { head_changeset_id: foreign }, 'changeset not found'],
    ['demo', { ref_name: 'refs/shared/more' }, protectedText],
    ['demo', { protected: true }, protectedText],
    ['demo', { ref_name: branch }, `ref already exists: current ${root}`],
    ['demo', { ref_name: 'no ref' }, /^ref_name: a ref is refs\//],
    ['demo', { principal: 'x'.repeat(1_025) }, /^principal is over 1024 bytes/],
    ['none', {}, 'project not found'],
  ] as const) {
    const answer = await door.post(`/memory/${project}/branches`, { ...body, ...more });
    const error = typeof text === 'string' ? text : expect.stringMatching(text);
    expect([more, answer.status, answer.value]).toEqual([more, 400, { error }]);
  }
  const made = await door.post('/memory/demo/branches', body);
  expect([made.status, made.keys.at(-1)]).toEqual([201, 'updated_at']);
  expect(await verified(door)).toEqual([]);
});

test('T74 an unprotected ref advances by compare-and-set to a descendant only, and the move verifies', async () => {
  const door = await openDoor();
  const root = await startDemo(door);
  const side = 'refs/agents/bob/main';
  await door.post('/memory/demo/branches', { ref_name: side, head_changeset_id: root });
  const first = await commit(door, branch, root);
  const second = await commit(door, branch, first);
  const apart = await commit(door, side, root);
  const detached = await commit(door, side, apart, { advance_ref: false, expected_head: undefined });
  const newer = await commit(door, branch, second);
  const foreign = (await door.post('/memory/other/legacy-root', '')).value.changeset.changeset_id;
  const advance = (ref: string, expected: unknown, next: unknown) =>
    door.post('/memory/demo/refs/advance', { ref_name: ref, expected_head: expected, new_head: next });

  for (const [ref, expected, next, status, text] of [
    [side, '', detached, 400, 'expected_head required'],
    [side, apart, undefined, 400, 'new_head required'],
    ['', apart, detached, 400, 'ref_name required'],
    ['refs/shared/main', root, second, 403, protectedText],
    ['refs/shared/never-made', root, second, 403, protectedText],
    ['refs/agents/none/main', root, second, 404, 'ref not found'],
    [side, apart, unknownId, 404, 'load new head: changeset not found'],
    [side, apart, 'no id', 404, 'load new head: changeset not found'],
    [side, apart, foreign, 404, 'load new head: changeset not found'],
    [side, root, detached, 409, `ref compare-and-swap conflict: expected ${root}, current ${apart}`],
    [side, apart, second, 409, /^new_head: not a descendant/],
    [side, apart, newer, 409, /^new_head: not a descendant/],
    [side, apart, root, 409, /^new_head: not a descendant/],
  ] as const) {
    const answer = await advance(ref, expected, next);
    const error = typeof text === 'string' ? text : expect.stringMatching(text);
    expect([ref, next, answer.status, answer.value]).toEqual([ref, next, status, { error }]);
  }
  expect((await door.get(`/memory/demo/refs/resolve?name=${side}`)).value.head_changeset_id).toBe(apart);

  const moved = await advance(side, apart, detached);
  expect([moved.status, moved.value.head_changeset_id]).toEqual([200, detached]);
  const rested = await advance(side, detached, detached);
  expect([rested.status, rested.body]).toEqual([200, moved.body]);
  const moves = (await door.get(`/memory/demo/ref-moves?ref=${side}`)).value.ref_moves;
  expect(moves.map(({ cause, principal }: { cause: string; principal: string }) => [cause, principal])).toEqual([
    ['fast_forward', 'gateway'],
    ['commit', 'alice'],
    ['create', ''],
  ]);
  expect(await verified(door)).toEqual([]);
});

test('T74 the name in the path wins, and of many that move one ref at once one does', async () => {
  const door = await openDoor();
  const root = await startDemo(door);
  const heads = await Promise.all(
    Array.from({ length: 8 }, () => commit(door, branch, root, { advance_ref: false, expected_head: undefined })),
  );
  await door.post('/memory/demo/branches', { ref_name: 'refs/topics/t/one', head_changeset_id: root });
  const answers = await Promise.all(
    heads.map((head) =>
      door.post('/memory/demo/refs/advance', { ref_name: branch, expected_head: root, new_head: head }),
    ),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409, 409, 409]);
  const named = await door.post('/memory/demo/refs/no-such-ref/advance', {
    ...{ ref_name: 'refs/topics/t/one', expected_head: root, new_head: heads[0] },
  });
  expect([named.status, named.value]).toEqual([404, { error: 'ref not found' }]);
});

test('T76 a commit begins a missing ref in its own transaction, and replays', async () => {
  const door = await openDoor();
  const root = await startDemo(door);
  const fresh = 'refs/sessions/alice/s1';
  const create = (more: Record<string, unknown> = {}, ref = fresh) =>
    commitBody(ref, root, { create_ref_if_missing: true, ...more });
  for (const [more, status, text] of [
    [{ ref_name: 'refs/shared/x' }, 403, protectedText],
    [{ protected: true }, 403, protectedText],
    [{ expected_head: unknownId }, 409, /not a descendant/],
    [{ ref_name: 'no ref' }, 400, /^ref_name: a ref is refs\//],
    [{ ops: [{ op_type: 'add_memory', payload: { content: ' ' } }] }, 400, /ops\[0\] \(add_memory\)/],
  ] as const) {
    const answer = await door.post('/memory/changesets', create(more));
    const error = typeof text === 'string' ? text : expect.stringMatching(text);
    expect([more, answer.status, answer.value]).toEqual([more, status, { error }]);
  }
  expect((await door.get('/memory/demo/refs')).value).toHaveLength(2);

  for (const [ref, more] of [
    [fresh, {}],
    ['refs/sessions/alice/s2', { expected_head: '' }],
    ['refs/sessions/alice/s3', { expected_head: '', advance_ref: false }],
  ] as const) {
    const body = create(more, ref);
    const made = await door.post('/memory/changesets', body);
    expect([ref, made.status, made.value.ref_name]).toEqual([ref, 201, ref]);
    const head = (await door.get(`/memory/demo/refs/resolve?name=${ref}`)).value;
    expect([head.head_changeset_id, head.created_by_principal]).toEqual([made.value.changeset_id, 'alice']);
    await commit(door, ref, made.value.changeset_id);
    expect((await door.post('/memory/changesets', body)).body).toBe(made.body);
    expect((await door.post('/memory/changesets', { ...body, message: 'other' })).status).toBe(409);
  }

  // A ref that exists: moved when asked to, left where it is when not, and each replays as what it was.
  const head = (await door.get(`/memory/demo/refs/resolve?name=${fresh}`)).value.head_changeset_id;
  const resting = commitBody(fresh, head, { create_ref_if_missing: true, advance_ref: false, expected_head: '' });
  const rested = await door.post('/memory/changesets', resting);
  expect((await door.get(`/memory/demo/refs/resolve?name=${fresh}`)).value.head_changeset_id).toBe(head);
  expect((await door.post('/memory/changesets', resting)).body).toBe(rested.body);
  const moving = commitBody(fresh, head, { create_ref_if_missing: true });
  const moved = await door.post('/memory/changesets', moving);
  expect((await door.get(`/memory/demo/refs/resolve?name=${fresh}`)).value.head_changeset_id).toBe(
    moved.value.changeset_id,
  );
  expect((await door.post('/memory/changesets', moving)).body).toBe(moved.body);

  // A key that made a changeset without a ref does not make one now.
  const loose = commitBody('refs/sessions/alice/s9', root, { advance_ref: false, expected_head: '' });
  expect((await door.post('/memory/changesets', loose)).status).toBe(201);
  const later = await door.post('/memory/changesets', { ...loose, create_ref_if_missing: true });
  expect([later.status, later.value.error]).toEqual([409, expect.stringMatching(/^idempotency mismatch/)]);
  expect((await door.get('/memory/demo/refs/resolve?name=refs/sessions/alice/s9')).status).toBe(404);
  expect(await verified(door)).toEqual([]);
});

test('L290 a branch is archived over HTTP by compare-and-set, hidden from the list unless asked for', async () => {
  const door = await openDoor();
  const root = await startDemo(door);
  const head = await commit(door, branch, root);
  const archive = (body: Record<string, unknown>, project = 'demo') =>
    door.post(`/memory/${project}/refs/archive`, { ref_name: branch, expected_head: head, ...body });
  for (const [project, more, status, text] of [
    ['demo', { ref_name: '' }, 400, 'ref_name required'],
    ['demo', { expected_head: undefined }, 400, 'expected_head required'],
    ['demo', { ref_name: 7 }, 400, 'invalid request body'],
    ['demo', { ref_name: 'refs/shared/main', expected_head: root }, 403, protectedText],
    ['demo', { ref_name: 'refs/agents/none/main' }, 404, 'ref not found'],
    ['none', {}, 404, 'project not found'],
    ['demo', { expected_head: root }, 409, `ref compare-and-swap conflict: expected ${root}, current ${head}`],
  ] as const)
    expect([more, await archive(more, project)]).toMatchObject([more, { status, value: { error: text } }]);

  const done = await archive({});
  expect([done.status, done.keys.at(-1), done.value.archived]).toEqual([200, 'archived', true]);
  expect((await archive({})).body).toBe(done.body);
  expect((await door.get(`/memory/demo/refs/resolve?name=${branch}`)).body).toBe(done.body);
  const listed = async (query: string) =>
    (await door.get(`/memory/demo/refs${query}`)).value.map(({ ref_name: name }: { ref_name: string }) => name);
  expect(await listed('')).toEqual(['refs/shared/main']);
  expect(await listed('?archived=false')).toEqual(['refs/shared/main']);
  expect(await listed('?archived=true')).toEqual([branch, 'refs/shared/main']);
  const asked = await door.get('/memory/demo/refs?archived=maybe');
  expect([asked.status, asked.value]).toEqual([400, { error: 'archived must be true or false' }]);

  const refused = [409, { error: expect.stringMatching(/archived and takes nothing new/) }];
  const later = await door.post('/memory/changesets', commitBody(branch, head));
  expect([later.status, later.value]).toEqual(refused);
  const creating = await door.post('/memory/changesets', commitBody(branch, head, { create_ref_if_missing: true }));
  expect([creating.status, creating.value]).toEqual(refused);
  const move = { ref_name: branch, expected_head: head, new_head: head };
  const moved = await door.post('/memory/demo/refs/advance', move);
  expect([moved.status, moved.value]).toEqual(refused);
  const again = await door.post('/memory/demo/branches', { ref_name: branch, head_changeset_id: head });
  expect([again.status, again.value]).toEqual([400, { error: `ref already exists: current ${head}` }]);
  const [newest] = (await door.get(`/memory/demo/ref-moves?ref=${branch}`)).value.ref_moves;
  expect(newest).toMatchObject({ cause: 'archive', principal: 'gateway', from_head: head, to_head: head });
  expect(await verified(door)).toEqual([]);
});

test('L290 in recovery nothing is archived', async () => {
  const door = await openDoor({ recovery: true });
  expect((await door.post('/memory/demo/refs/archive', {})).status).toBe(503);
});
