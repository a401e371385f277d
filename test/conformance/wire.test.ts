import { expect, test } from 'vitest';
import { branch, commitBody, openDoor, startDemo } from './door.ts';

test('T65 an unknown path is plain text, a known one with another method has no body', async () => {
  const door = await openDoor();
  for (const path of [
    '/nothing',
    '/memory',
    '/memory/projects/',
    '/health/',
    '/memory//refs',
    '/ui',
    '/memory/demo/refs/a/b',
  ]) {
    const answer = await door.get(path);
    expect([path, answer.status, answer.body]).toEqual([path, 404, '404 page not found\n']);
    expect(answer.headers['content-type']).toMatch(/^text\/plain/);
  }
  for (const [method, path] of [
    ['POST', '/health'],
    ['DELETE', '/memory/projects'],
    ['HEAD', '/health'],
    ['OPTIONS', '/memory/demo/refs'],
    ['GET', '/memory/demo/legacy-root'],
    ['PUT', '/memory/changesets/x'],
    ['GET', '/memory/changesets'],
    ['DELETE', '/memory/demo/refs/archive'],
  ] as const) {
    const answer = await door.ask(method, path);
    expect([method, path, answer.status, answer.body]).toEqual([method, path, 405, '']);
  }
});

test('T66 a path in the default encoding is decoded, another one is taken as it came', async () => {
  const door = await openDoor();
  for (const [path, project] of [
    ['a%20b', 'a b'],
    ['a%2Fb', 'a%2Fb'],
    ['a%2fb', 'a%2fb'],
    ['caf%C3%A9', 'café'],
    ['caf%c3%a9', 'caf%c3%a9'],
    ['a+b', 'a+b'],
    ['a:b@c', 'a:b@c'],
    ['a%3Ab', 'a%3Ab'],
    ['a!b', 'a!b'],
  ]) {
    const made = await door.post(`/memory/${path}/legacy-root`, undefined);
    expect([path, made.status, made.value.ref?.project_id]).toEqual([path, 200, project]);
  }
  expect((await door.get('/memory/a%2/refs')).status).toBe(400);
  const root = await startDemo(door);
  expect((await door.get('/memory/demo/refs/refs%2Fshared%2Fmain')).value).toEqual({ error: 'ref not found' });
  expect((await door.get('/memory/demo/refs/resolve?name=refs%2Fshared%2Fmain')).value.head_changeset_id).toBe(root);
  // A static place wins over a project of its name; where there is none, the project answers.
  await door.post('/memory/changesets/legacy-root', undefined);
  expect((await door.get('/memory/changesets/refs')).value).toEqual({ error: 'changeset not found' });
  expect((await door.get('/memory/changesets/refs/resolve?name=refs/shared/main')).status).toBe(200);
  await door.post('/memory/projects/legacy-root', undefined);
  expect((await door.get('/memory/projects/refs')).value).toHaveLength(1);
});

test('T64 answers are one value and a newline, escaped for HTML, maps sorted, numbers as float64', async () => {
  const door = await openDoor();
  const root = await startDemo(door);
  const content = 'a <b> & \u2028 \u2029 \u{1f600} "q" \\ \b\f';
  const payload = { content, tags: ['z', 'a'], confidence: 0 };
  const evidence = [{ z: -0, '\u{1f600}': 1, '\ue000': 1e21, a: 1e-7, n: { b: [], a: null } }];
  const made = await door.post(
    '/memory/changesets',
    JSON.stringify(commitBody(branch, root, { ops: [{ op_type: 'add_memory', payload }], evidence })).replace(
      '"z":0',
      '"z":-0.0',
    ),
  );
  expect(made.status).toBe(201);
  expect(made.headers['content-type']).toBe('application/json');
  expect(made.headers['cache-control']).toBe('no-store');
  expect(made.body.endsWith('}\n')).toBe(true);
  expect(made.body).not.toMatch(/[<>&\u2028\u2029]/);
  expect(made.body).toContain('a \\u003cb\\u003e \\u0026 \\u2028 \\u2029 \u{1f600} \\"q\\" \\\\ \\b\\f');
  expect(made.body).toContain('"evidence":[{"a":1e-7,"n":{"a":null,"b":[]},"z":-0,"\ue000":1e+21,"\u{1f600}":1}]');
  expect(made.value.ops[0].payload.content).toBe(content);
  expect(made.value.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/);
  expect(Object.keys(made.value.ops[0].payload)).toEqual(['confidence', 'content', 'tags']);
});

const refused = { error: 'invalid request body' };

test('T67 a body that cannot be read is 400 with one text', async () => {
  const door = await openDoor();
  const root = await startDemo(door);
  const good = JSON.stringify(commitBody(branch, root));
  const deep = `${'['.repeat(70)}${']'.repeat(70)}`;
  for (const body of [
    '',
    '   ',
    'nullx',
    '[]',
    '"text"',
    '7',
    '{',
    '{"project_id":"demo"',
    `{"project_id":"demo}`,
    '{"project_id":1}',
    '{"parent_ids":"x"}',
    '{"parent_ids":[1]}',
    '{"advance_ref":"yes"}',
    '{"ops":{}}',
    '{"ops":[1]}',
    '{"ops":[{"ordinal":"x"}]}',
    '{"ops":[{"op_type":"add_memory","payload":[]}]}',
    '{"ops":[{"op_type":"add_memory","payload":{"confidence":1e400}}]}',
    '{"evidence":[7]}',
    `{"message":${deep}}`,
    '\ufeff{}',
    '{project_id:"demo"}',
    `{"message":"${'x'.repeat(1_048_576)}"}`,
  ]) {
    const answer = await door.post('/memory/changesets', body);
    expect([body.slice(0, 60), answer.status, answer.value]).toEqual([body.slice(0, 60), 400, refused]);
  }
  for (const path of [
    '/memory/demo/branches',
    '/memory/demo/refs/advance',
    '/memory/demo/refs/merge',
    '/memory/demo/context',
    `/memory/changesets/${root}/diff`,
  ])
    expect([path, (await door.post(path, '')).value]).toEqual([path, refused]);
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml'])
    expect((await door.post('/memory/changesets', good, { 'content-type': type })).status).toBe(201);
});

test('T67 a body of exactly 1 MiB is read', async () => {
  const door = await openDoor();
  const root = await startDemo(door);
  const body = JSON.stringify(commitBody(branch, root));
  const padded = `${body}${' '.repeat(1_048_576 - body.length)}`;
  expect((await door.post('/memory/changesets', padded)).status).toBe(201);
  expect((await door.post('/memory/changesets', `${padded} `)).value).toEqual(refused);
});

test('T68 the first value counts, names in any case, null as left out, the rest is ignored', async () => {
  const door = await openDoor();
  const root = await startDemo(door);
  const head = JSON.stringify(root);
  const text = `{"Ref_Name":"refs/agents/b/main","HEAD_CHANGESET_ID":${head},"principal":null,"protected":null,"extra":{"x":[1e400]}} trailing } garbage`;
  const made = await door.post('/memory/demo/branches', text);
  expect([made.status, made.value.ref_name]).toEqual([201, 'refs/agents/b/main']);
  expect(made.value).not.toHaveProperty('created_by_principal');
  const twice = `{"ref_name":"refs/agents/no/main","REF_NAME":"refs/agents/c/main","head_changeset_id":${head}}`;
  expect((await door.post('/memory/demo/branches', twice)).value.ref_name).toBe('refs/agents/c/main');
  const kept = `{"ref_name":"refs/agents/d/main","REF_NAME":null,"head_changeset_id":${head}}{"second":1}`;
  expect((await door.post('/memory/demo/branches', kept)).value.ref_name).toBe('refs/agents/d/main');
  const inOps = commitBody(branch, root, {
    ops: [{ OP_TYPE: 'add_memory', Ordinal: 9, PAYLOAD: { content: 'x' }, unknown: true, Target_Event_ID: null }],
  });
  const committed = await door.post('/memory/changesets', inOps);
  expect([committed.status, committed.value.ops[0]]).toEqual([
    201,
    { ordinal: 0, op_type: 'add_memory', payload: { content: 'x' } },
  ]);
  expect((await door.post('/memory/demo/context', 'null')).status).toBe(200);
});

test('T68 every byte that is part of no character is one U+FFFD', async () => {
  const door = await openDoor();
  const root = await startDemo(door);
  for (const [bytes, text] of [
    [[0xff], '\ufffd'],
    [[0xe2, 0x82], '\ufffd\ufffd'],
    [[0xe2, 0x82, 0xac], '\u20ac'],
    [[0xf0, 0x9f, 0x98], '\ufffd\ufffd\ufffd'],
    [[0xc0, 0xaf], '\ufffd\ufffd'],
    [[0xed, 0xa0, 0x80], '\ufffd\ufffd\ufffd'],
    [[0xe2, 0x82, 0x41], '\ufffd\ufffdA'],
  ] as const) {
    const [before = '', after = ''] = JSON.stringify(
      commitBody(branch, root, { advance_ref: false, expected_head: '', message: 'a|b' }),
    ).split('|');
    const made = await door.post(
      '/memory/changesets',
      Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]),
    );
    expect([bytes, made.status, made.value.message]).toEqual([bytes, 201, `a${text}b`]);
  }
});
