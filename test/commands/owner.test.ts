import { expect, test } from 'vitest';
import { dayMs } from '../../src-preload/contract/limits.ts';
import { branch, commit, proposal, startProject } from '../support/history-in-engine.ts';
import { tempEngine } from '../support/temp-engine.ts';

const unknownPrincipal = 'principal_0000000000000000';

test('P6 projects are listed with head, size and what waits', async () => {
  const engine = await tempEngine();
  expect(await engine.run(engine.owner, 'project.list', {})).toEqual({ projects: [] });
  const root = await startProject(engine, 'demo');
  await startProject(engine, 'Another one');
  const writer = await engine.agent('writer', 'propose', 'demo');
  await proposal(engine, writer, 'demo', 'work', 'text');
  const { projects } = await engine.run(engine.owner, 'project.list', {});
  expect(
    projects.map(({ project_id: id, main_head: head, total_active: active, pending_proposals: waiting }) => [
      id,
      head,
      active,
      waiting,
    ]),
  ).toEqual([
    ['Another one', expect.any(String), 0, 0],
    ['demo', root, 0, 1],
  ]);
});

test('P6 the graph holds every changeset of a project, page by page, with its refs', async () => {
  const engine = await tempEngine();
  const root = await startProject(engine, 'demo');
  const writer = await engine.agent('writer', 'propose', 'demo');
  const at = await branch(engine, writer, 'demo', 'main');
  const first = await commit(engine, writer, 'demo', at, 'one', 'two');
  const graph = await engine.run(engine.owner, 'history.graph', { project: 'demo' });
  expect(graph.nodes.map((node) => [node.changeset_id, node.parent_ids, node.op_count])).toEqual([
    [first.changeset_id, [root], 2],
    [root, [], 0],
  ]);
  expect(graph.refs.map(({ ref_name: name }) => name)).toEqual([at.ref, 'refs/shared/main']);
  const page = await engine.run(engine.owner, 'history.graph', { project: 'demo', limit: 1 });
  const rest = await engine.run(engine.owner, 'history.graph', { project: 'demo', limit: 1, cursor: page.next_cursor });
  expect([...page.nodes, ...rest.nodes]).toEqual(graph.nodes);
  expect((await engine.refusal(engine.owner, 'history.graph', { project: 'nowhere' })).code).toBe('PROJECT_NOT_FOUND');
});

test('P6 a project that holds verifies; one that does not exist is refused', async () => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  expect(await engine.run(engine.owner, 'store.verify_chain', { project: 'demo' })).toMatchObject({
    ok: true,
    findings: [],
  });
  expect((await engine.refusal(engine.owner, 'store.verify_chain', { project: 'nowhere' })).code).toBe(
    'PROJECT_NOT_FOUND',
  );
});

test('P6 agents are created once, changed by name, disabled and enabled', async () => {
  const engine = await tempEngine();
  const made = await engine.run(engine.owner, 'principal.reconcile', {
    name: ' Claude ',
    profile: 'propose',
    project: 'demo',
    actor_id: 'claude',
  });
  expect(made).toMatchObject({
    created: true,
    principal: { name: 'Claude', actor_id: 'claude', profile: 'propose', grants: ['demo'], enabled: true },
  });
  const id = made.principal.principal_id;
  const again = await engine.run(engine.owner, 'principal.reconcile', {
    name: 'Claude',
    profile: 'readonly',
    project: '*',
  });
  expect(again).toMatchObject({
    created: false,
    principal: { principal_id: id, profile: 'readonly', grants: ['*', 'demo'] },
  });
  expect(await engine.run(engine.owner, 'principal.set_enabled', { principal_id: id, enabled: false })).toMatchObject({
    enabled: false,
  });
  expect(await engine.run(engine.owner, 'principal.set_enabled', { principal_id: id, enabled: true })).toMatchObject({
    enabled: true,
  });
  expect(await engine.run(engine.owner, 'principal.revoke_grant', { principal_id: id, project: '*' })).toMatchObject({
    grants: ['demo'],
  });
  const listed = await engine.run(engine.owner, 'principal.list', {});
  expect(listed.principals.map(({ name, owned_prefixes: prefixes }) => [name, prefixes[0]])).toContainEqual([
    'Claude',
    'refs/agents/claude/',
  ]);
});

test.each([
  ['principal.reconcile', { name: 'x', profile: 'owner', project: 'demo' }, 'INPUT_INVALID'],
  ['principal.reconcile', { name: '', profile: 'propose', project: 'demo' }, 'INPUT_INVALID'],
  ['principal.reconcile', { name: 'x', profile: 'propose', project: 'demo', actor_id: '..' }, 'INPUT_INVALID'],
  ['principal.set_enabled', { principal_id: unknownPrincipal, enabled: true }, 'PRINCIPAL_NOT_FOUND'],
  ['principal.revoke_grant', { principal_id: unknownPrincipal, project: 'demo' }, 'PRINCIPAL_NOT_FOUND'],
  ['obol.mint', { principal_id: unknownPrincipal }, 'PRINCIPAL_NOT_FOUND'],
  ['obol.mint', { principal_id: unknownPrincipal, expires_ms: 91 * dayMs }, 'INPUT_INVALID'],
  ['obol.revoke', { obol_id: '0000000000000000' }, 'OBOL_NOT_FOUND'],
])('P6 %s %j is refused as %s', async (name, input, code) => {
  const engine = await tempEngine();
  expect((await engine.refusal(engine.owner, name, input)).code).toBe(code);
});

test('P6 a token is in the answer of its minting and nowhere else; revoking ends it', async () => {
  const engine = await tempEngine();
  const { principal } = await engine.run(engine.owner, 'principal.reconcile', {
    name: 'x',
    profile: 'propose',
    project: 'demo',
  });
  const minted = await engine.run(engine.owner, 'obol.mint', { principal_id: principal.principal_id });
  expect(minted.obol.expires_at).toBe('2026-12-07T12:00:00Z');
  expect(engine.charon.authenticate(minted.token, 'agent')?.principal.principal_id).toBe(principal.principal_id);
  const forever = await engine.run(engine.owner, 'obol.mint', {
    principal_id: principal.principal_id,
    expires_ms: null,
  });
  expect(forever.obol.expires_at).toBeNull();
  const listed = await engine.run(engine.owner, 'obol.list', {});
  expect(listed.obols).toHaveLength(2);
  expect(JSON.stringify(listed)).not.toContain(minted.token.split('_')[2]);
  expect((await engine.run(engine.owner, 'obol.revoke', { obol_id: minted.obol.obol_id })).revoked_at).not.toBeNull();
  expect(engine.charon.authenticate(minted.token, 'agent')).toBeUndefined();
});

test('P6 the engine says what it is, and the ledger is read newest first', async () => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  expect(await engine.run(engine.owner, 'engine.status', {})).toMatchObject({
    version: '0.0.0',
    home_id: engine.charon.homeId,
    mcp_url: null,
    recovery_readonly: false,
    owner: { profile: 'owner' },
  });
  const { entries } = await engine.run(engine.owner, 'audit.tail', { limit: 2 });
  expect(entries.map(({ command, phase }) => [command, phase])).toEqual([
    ['memory.repo_init', 'outcome'],
    ['memory.repo_init', 'intent'],
  ]);
  const before = await engine.run(engine.owner, 'audit.tail', { before_seq: entries[1]?.seq });
  expect(before.entries.every(({ seq }) => seq < (entries[1]?.seq ?? 0))).toBe(true);
});
