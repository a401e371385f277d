import { expect, test } from 'vitest';
import { branch, commit, commitInput, newKey, startProject } from '../support/history-in-engine.ts';
import { tempEngine } from '../support/temp-engine.ts';

const unknownId = '00000000-0000-4000-8000-000000000000';

test('P6 repo_init makes a project once and answers the same again, to any who may commit', async () => {
  const engine = await tempEngine();
  const caller = await engine.agent('writer', 'propose', 'demo');
  const first = await engine.run(caller, 'memory.repo_init', { project: 'demo' });
  expect(first.ref).toMatchObject({
    ref_name: 'refs/shared/main',
    protected: true,
    head_changeset_id: first.changeset.changeset_id,
  });
  expect(await engine.run(caller, 'memory.repo_init', { project: 'demo' })).toEqual(first);
  const reader = await engine.agent('reader', 'readonly', 'demo');
  expect((await engine.refusal(reader, 'memory.repo_init', { project: 'demo' })).code).toBe('SCOPE_MISSING');
  const roamer = await engine.agent('roamer', 'propose', '*');
  expect((await engine.refusal(roamer, 'memory.repo_init', { project: 'demo' })).code).toBe('GRANT_MISSING');
  expect(engine.events).toContainEqual({ kind: 'project_created', project_id: 'demo' });
});

test('P6 status tells an agent who it is and where the project stands', async () => {
  const engine = await tempEngine();
  const root = await startProject(engine, 'demo');
  const caller = await engine.agent('writer', 'propose', 'demo', 'more');
  const { ref } = await branch(engine, caller, 'demo', 'main');
  const status = await engine.run(caller, 'memory.status', { project: 'demo' });
  const { principal_id: id, actor_id: actor } = caller.principal;
  expect(status).toMatchObject({
    project: 'demo',
    principal_id: id,
    actor_id: actor,
    profile: 'propose',
    grants: ['demo', 'more'],
    open_proposals: 0,
    mode: 'git',
    recovery_readonly: false,
  });
  expect(status.scopes).toContain('memory.propose');
  expect(status.owned_prefixes).toEqual([`refs/agents/${actor}/`, `refs/sessions/${actor}/`]);
  expect(status.refs.map((each) => [each.ref_name, each.head_changeset_id])).toEqual([
    [ref, root],
    ['refs/shared/main', root],
  ]);
});

test('P6 in a project of many refs status keeps to the shared and the own ones', async () => {
  const engine = await tempEngine();
  const root = await startProject(engine, 'demo');
  const caller = await engine.agent('writer', 'propose', 'demo');
  const other = await engine.agent('other', 'propose', 'demo');
  for (let index = 0; index < 55; index += 1) await branch(engine, other, 'demo', `b${index}`, root);
  const own = await branch(engine, caller, 'demo', 'main', root);
  const session = `refs/sessions/${caller.principal.actor_id}/today`;
  await engine.run(caller, 'memory.branch_create', { project: 'demo', ref_name: session, head_changeset_id: root });
  const { refs } = await engine.run(caller, 'memory.status', { project: 'demo' });
  expect(refs.map(({ ref_name: name }) => name)).toEqual([own.ref, session, 'refs/shared/main'].sort());
});

test.each([
  ['refs/shared/other', 'PROTECTED_REF'],
  ['refs/agents/somebody/main', 'NOT_REF_OWNER'],
  ['refs/sessions/somebody/s1', 'NOT_REF_OWNER'],
  ['refs/heads/main', 'REF_NAME_INVALID'],
])('P6 a branch named %s is refused as %s', async (ref, code) => {
  const engine = await tempEngine();
  const root = await startProject(engine, 'demo');
  const caller = await engine.agent('writer', 'propose', 'demo');
  expect(
    (await engine.refusal(caller, 'memory.branch_create', { project: 'demo', ref_name: ref, head_changeset_id: root }))
      .code,
  ).toBe(code);
  // The changeset is loaded first: who asks for one that is not there learns nothing about names.
  expect(
    (
      await engine.refusal(caller, 'memory.branch_create', {
        project: 'demo',
        ref_name: ref,
        head_changeset_id: unknownId,
      })
    ).code,
  ).toBe('CHANGESET_NOT_FOUND');
});

test('P6 a branch is made once', async () => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  const caller = await engine.agent('writer', 'propose', 'demo');
  const { ref, head } = await branch(engine, caller, 'demo', 'main');
  const fault = await engine.refusal(caller, 'memory.branch_create', {
    project: 'demo',
    ref_name: ref,
    head_changeset_id: head,
  });
  expect(fault).toMatchObject({ code: 'REF_EXISTS', kind: 'conflict' });
  expect(
    (await engine.refusal(caller, 'memory.branch_create', { project: 'more', ref_name: ref, head_changeset_id: head }))
      .code,
  ).toBe('GRANT_MISSING');
});

test('P6 a commit carries what was said about it, and the head moves', async () => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  const caller = await engine.agent('writer', 'propose', 'demo');
  const at = await branch(engine, caller, 'demo', 'main');
  const { manifest_id: manifest } = await engine.run(caller, 'memory.context_at', { project: 'demo' });
  const changeset = await engine.run(caller, 'memory.changeset_create', {
    ...commitInput('demo', at, 'the sky is blue'),
    model: 'm-1',
    surface: 'cli',
    environment: 'test',
    persona_id: 'p',
    session_id: 's',
    topic_id: 't',
    context_manifest_id: manifest,
    evidence: [{ summary: 'seen', provenance: 'window' }],
  });
  expect(changeset).toMatchObject({
    model: 'm-1',
    surface: 'cli',
    environment: 'test',
    persona_id: 'p',
    session_id: 's',
    topic_id: 't',
    context_manifest_id: manifest,
  });
  expect('ops' in changeset).toBe(false);
  const shown = await engine.run(caller, 'memory.show', { id: changeset.changeset_id });
  expect(shown.ops).toEqual([
    { ordinal: 0, op_type: 'add_memory', payload: { content: 'the sky is blue', kind: 'fact' } },
  ]);
  expect(engine.events).toContainEqual({
    kind: 'ref_moved',
    project_id: 'demo',
    ref_name: at.ref,
    head_changeset_id: changeset.changeset_id,
  });
});

test('P6 what a commit may not do', async () => {
  const engine = await tempEngine();
  const root = await startProject(engine, 'demo');
  await startProject(engine, 'more');
  const caller = await engine.agent('writer', 'propose', 'demo');
  const at = await branch(engine, caller, 'demo', 'main');
  const first = await commit(engine, caller, 'demo', at, 'one');
  const refusal = async (bent: object): Promise<string> =>
    (
      await engine.refusal(caller, 'memory.changeset_create', {
        ...commitInput('demo', at, 'x'),
        idempotency_key: newKey(),
        ...bent,
      })
    ).code;
  expect(await refusal({})).toBe('REF_MOVED');
  const moved = await engine.refusal(caller, 'memory.changeset_create', commitInput('demo', at, 'x'));
  expect(moved.data).toMatchObject({ ref: at.ref, expected: root, actual: first.changeset_id });
  const now = { expected_head: first.changeset_id };
  expect(await refusal({ ...now, parent_ids: [root] })).toBe('NOT_A_DESCENDANT');
  expect(await refusal({ ...now, parent_ids: [unknownId] })).toBe('CHANGESET_NOT_FOUND');
  expect(await refusal({ ...now, parent_ids: [first.changeset_id], context_manifest_id: unknownId })).toBe(
    'MANIFEST_NOT_FOUND',
  );
  expect(await refusal({ ...now, parent_ids: [first.changeset_id], idempotency_key: 'legacy-root' })).toBe(
    'KEY_RESERVED',
  );
  const ops = [{ ordinal: 0, op_type: 'correct_memory', target_event_id: 'mem:nothing', payload: { content: 'x' } }];
  expect(await refusal({ ...now, parent_ids: [first.changeset_id], ops })).toBe('OP_INVALID');
  expect(await refusal({ ref: `${at.ref}/deeper` })).toBe('REF_NOT_FOUND');
  expect((await engine.run(caller, 'memory.log', { project: 'demo', ref: at.ref })).changesets).toHaveLength(2);
});

test('P6 a trusted writer commits to any unprotected ref, and to no other', async () => {
  const engine = await tempEngine();
  const root = await startProject(engine, 'demo');
  const writer = await engine.agent('writer', 'propose', 'demo');
  const operator = await engine.agent('operator', 'write', 'demo');
  const at = await branch(engine, writer, 'demo', 'main');
  expect(await commit(engine, operator, 'demo', at, 'by the operator')).toMatchObject({
    author_principal: operator.principal.principal_id,
  });
  expect(
    (
      await engine.refusal(
        operator,
        'memory.changeset_create',
        commitInput('demo', { ref: 'refs/shared/main', head: root }, 'x'),
      )
    ).code,
  ).toBe('PROTECTED_REF');
});

test('P6 accepted memory is read at main, at a head, at a moment, by search and one by one', async () => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  const caller = await engine.agent('writer', 'propose', 'demo');
  const at = await branch(engine, caller, 'demo', 'main');
  engine.clock.advance(1_000);
  const first = await commit(engine, caller, 'demo', at, 'apples are red');
  engine.clock.advance(1_000);
  const correction = {
    ordinal: 0,
    op_type: 'correct_memory' as const,
    target_event_id: `mem:${first.changeset_id}:0`,
    payload: { content: 'apples are green' },
  };
  const head = { ref: at.ref, head: first.changeset_id };
  const second = await engine.run(caller, 'memory.changeset_create', {
    ...commitInput('demo', head, 'x'),
    ops: [correction],
  });
  const texts = async (more: object): Promise<readonly string[]> =>
    (await engine.run(caller, 'memory.context_at', { project: 'demo', ref: at.ref, pin: false, ...more })).memories.map(
      ({ content }) => content,
    );
  expect(await texts({})).toEqual(['apples are green']);
  expect(await texts({ head_changeset_id: first.changeset_id })).toEqual(['apples are red']);
  expect(await texts({ at: '2026-11-30T12:00:01.5Z' })).toEqual(['apples are red']);
  expect(
    (await engine.refusal(caller, 'memory.context_at', { project: 'demo', ref: at.ref, at: '2020-01-01T00:00:00Z' }))
      .code,
  ).toBe('STATE_NOT_FOUND');
  const found = await engine.run(caller, 'memory.search', { project: 'demo', ref: at.ref, query: 'GREEN' });
  expect(found.matches.map(({ memory }) => memory.content)).toEqual(['apples are green']);
  const memory = await engine.run(caller, 'memory.get', {
    project: 'demo',
    memory_id: `mem:${first.changeset_id}:0`,
    head_changeset_id: second.changeset_id,
  });
  expect(memory.memory.content).toBe('apples are green');
  expect(memory.lineage.map(({ op_type: op }) => op)).toEqual(['add_memory', 'correct_memory']);
  expect(
    (await engine.refusal(caller, 'memory.get', { project: 'demo', memory_id: `mem:${first.changeset_id}:0` })).code,
  ).toBe('MEMORY_NOT_FOUND');
  const diff = await engine.run(caller, 'memory.diff', {
    base_changeset_id: first.changeset_id,
    target_changeset_id: second.changeset_id,
  });
  expect(diff.corrections_proposed).toEqual([
    expect.objectContaining({
      kind: 'temporal_update',
      before: expect.objectContaining({ content: 'apples are red' }),
    }),
  ]);
});

test('P6 log follows first parents of a ref, main by default, and refuses an unknown ref', async () => {
  const engine = await tempEngine();
  const root = await startProject(engine, 'demo');
  const caller = await engine.agent('reader', 'readonly', 'demo');
  expect(
    (await engine.run(caller, 'memory.log', { project: 'demo' })).changesets.map(({ changeset_id: id }) => id),
  ).toEqual([root]);
  expect((await engine.refusal(caller, 'memory.log', { project: 'demo', ref: 'refs/topics/none' })).code).toBe(
    'REF_NOT_FOUND',
  );
});
