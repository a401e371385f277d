import { expect, test } from 'vitest';
import { branch, commitBody, openDoor, startDemo, unknownId } from './door.ts';

const error = (text: string | RegExp) => ({ error: typeof text === 'string' ? text : expect.stringMatching(text) });

test('T75 the checks of a commit come in their order, each with its status', async () => {
  const door = await openDoor();
  const root = await startDemo(door);
  const foreign = (await door.post('/memory/other/legacy-root', '')).value.changeset.changeset_id;
  const none = { project_id: '', ref_name: '', author_principal: '', idempotency_key: '', ops: [], parent_ids: ['x'] };
  const badOp = [{ op_type: 'invent_memory' }];
  const blank = [{ op_type: 'add_memory', payload: { content: '' } }];
  const onMain = { ref_name: 'refs/shared/main', create_ref_if_missing: true };
  const ids = (count: number): string[] => Array.from({ length: count }, () => root);
  const steps = [
    // 1 to 3: the request by itself
    [none, 400, 'project_id required'],
    [{ ...none, project_id: 'none' }, 400, 'ref_name required'],
    [{ ...none, project_id: 'none', ref_name: 'r' }, 400, 'author_principal required'],
    [{ ...none, project_id: 'none', ref_name: 'r', author_principal: 'a' }, 400, 'idempotency_key required'],
    [{ ops: [], ...onMain }, 400, 'changeset requires at least one operation'],
    [
      { ops: badOp, ...onMain },
      400,
      'invalid semantic operation: ops[0] ("invent_memory"): op_type is not one of the known ones',
    ],
    [{ ops: [null], ...onMain }, 400, 'invalid semantic operation: ops[0] (""): op_type is not one of the known ones'],
    // 4, 5: protection, whatever else is wrong
    [{ ...onMain, parent_ids: [unknownId], ops: blank }, 403, 'protected ref requires merge path'],
    [{ ref_name: 'refs/shared/main', parent_ids: [unknownId], ops: blank }, 403, 'protected ref requires merge path'],
    [{ ref_name: 'refs/shared/none', parent_ids: [unknownId] }, 403, 'protected ref requires merge path'],
    // the project, then 6: parents
    [{ project_id: 'none', parent_ids: [unknownId] }, 404, 'project not found'],
    [{ project_id: 'none', parent_ids: [] }, 404, 'project not found'],
    [{ parent_ids: [unknownId], ops: blank }, 404, `parent "${unknownId}": changeset not found`],
    [{ parent_ids: [''] }, 404, 'parent "": changeset not found'],
    [{ parent_ids: [root, 'x'] }, 404, 'parent "x": changeset not found'],
    [{ parent_ids: [foreign] }, 404, `parent "${foreign}": changeset not found`],
    [{ parent_ids: ids(2) }, 400, /^parent_ids names the same changeset twice/],
    [{ parent_ids: ids(3) }, 400, /^parent_ids has more than 2 entries/],
    // 7: meaning
    [{ ops: blank }, 400, /^invalid semantic operation: ops\[0\] \(add_memory\): /],
    [{ ops: [{ op_type: 'correct_memory', target_event_id: 'no', payload: { content: 'x' } }] }, 400, /parent state/],
    [
      { ops: [{ op_type: 'add_memory', payload: { content: 'x', colour: 'red' } }] },
      400,
      /colour.*not supported|not supported.*colour/,
    ],
    [{ ops: [{ op_type: 'add_memory', payload: { content: 'x'.repeat(16_385) } }] }, 400, /content/],
    [{ idempotency_key: 'legacy-root' }, 400, /^idempotency_key: this key belongs to the root/],
    [{ context_manifest_id: 'none' }, 404, 'manifest not found'],
    [{ evidence: [null] }, 400, 'invalid request body'],
    [{ message: 'x'.repeat(16_385) }, 400, /^message is over 16384 bytes/],
    [{ author_principal: 'x'.repeat(1_025) }, 400, /^author_principal is over 1024 bytes/],
    // 10: the ref
    [{ ref_name: 'refs/agents/none/main' }, 404, 'ref not found'],
    [{ expected_head: '' }, 400, 'expected_head required'],
    [{ expected_head: unknownId }, 409, `ref compare-and-swap conflict: expected ${unknownId}, current ${root}`],
    [{ parent_ids: [] }, 409, /not a descendant/],
  ] as const;
  for (const [more, status, text] of steps) {
    const answer = await door.post('/memory/changesets', commitBody(branch, root, more));
    expect([more, answer.status, answer.value]).toEqual([more, status, error(text)]);
    const again = await door.post('/memory/changesets', commitBody(branch, root, more));
    expect(again.body).toBe(answer.body);
  }
  expect((await door.get(`/memory/demo/changesets?ref=${branch}`)).value.changesets).toHaveLength(1);
});

test('T75 a commit replays under its key, also after the ref has moved; another request under it is 409', async () => {
  const door = await openDoor();
  const root = await startDemo(door);
  const body = commitBody(branch, root, { idempotency_key: 'once' });
  const made = await door.post('/memory/changesets', body);
  await door.post('/memory/changesets', commitBody(branch, made.value.changeset_id));
  const replayed = await door.post('/memory/changesets', body);
  expect([replayed.status, replayed.body]).toEqual([201, made.body]);
  for (const more of [{ message: 'other' }, { advance_ref: false }, { expected_head: unknownId }, { parent_ids: [] }]) {
    const answer = await door.post('/memory/changesets', { ...body, ...more });
    expect([more, answer.status, answer.value]).toEqual([more, 409, error(/^idempotency mismatch/)]);
  }
  expect((await door.post('/memory/changesets', { ...body, author_principal: 'bob', advance_ref: false })).status).toBe(
    201,
  );
  expect((await door.get(`/memory/changesets/${made.value.changeset_id}`)).body).toBe(made.body);
});

test('T75 forty writers with two contents under one key: one changeset, the others 409', async () => {
  const door = await openDoor();
  const root = await startDemo(door);
  const body = commitBody(branch, root, { idempotency_key: 'race', advance_ref: false, expected_head: '' });
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) => door.post('/memory/changesets', { ...body, message: `m${index % 2}` })),
  );
  const won = answers.filter(({ status }) => status === 201);
  expect(new Set(won.map(({ body: text }) => text)).size).toBe(1);
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(40 - won.length);
  expect(won.length).toBe(20);
});

test('T75 a changeset that moves nothing may bear a protected name; two hundred branches at once all land', async () => {
  const door = await openDoor();
  const root = await startDemo(door);
  const detached = commitBody('refs/shared/main', root, { advance_ref: false, expected_head: '' });
  expect((await door.post('/memory/changesets', detached)).status).toBe(201);
  const names = Array.from({ length: 200 }, (_, index) => `refs/topics/many/t${index}`);
  const made = await Promise.all(
    names.map((ref_name) => door.post('/memory/demo/branches', { ref_name, head_changeset_id: root })),
  );
  expect(made.every(({ status }) => status === 201)).toBe(true);
  expect((await door.get('/memory/demo/refs')).value).toHaveLength(202);
});
