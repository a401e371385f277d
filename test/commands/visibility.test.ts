import { expect, test } from 'vitest';
import { commandTable } from '../../src-preload/contract/commands/table.ts';
import { branch, commit, commitInput, newKey, proposal, startProject } from '../support/history-in-engine.ts';
import { type TempEngine, tempEngine } from '../support/temp-engine.ts';

const unknownId = '00000000-0000-4000-8000-000000000000';

/** Two projects: a stranger may see one of them only. */
async function twoProjects(engine: TempEngine) {
  await startProject(engine, 'open');
  const hiddenRoot = await startProject(engine, 'hidden');
  const insider = await engine.agent('insider', 'propose', 'hidden');
  const hidden = await proposal(engine, insider, 'hidden', 'work', 'a secret');
  const stranger = await engine.agent('stranger', 'propose', 'open');
  const reviewer = await engine.agent('reviewer', 'review', 'open');
  return { hiddenRoot, hidden, insider, stranger, reviewer };
}

/** A refusal with the ids in it replaced, so that two can be compared word for word. */
const anonymous = (fault: { code: string; message: string; data: unknown }, id: string): string =>
  JSON.stringify([fault.code, fault.message, fault.data]).replaceAll(id, '<id>');

test('P10 a hidden changeset and an unknown one give the same answer', async () => {
  const engine = await tempEngine();
  const { hidden, stranger } = await twoProjects(engine);
  const openRoot = (await engine.run(stranger, 'memory.log', { project: 'open' })).changesets[0]?.changeset_id ?? '';
  const questions = (id: string): readonly (readonly [string, unknown])[] => [
    ['memory.show', { id }],
    ['memory.diff', { base_changeset_id: openRoot, target_changeset_id: id }],
    ['memory.diff', { base_changeset_id: id, target_changeset_id: openRoot }],
    ['memory.diff', { base_changeset_id: id, target_changeset_id: id }],
    ['memory.branch_create', { project: 'open', ref_name: 'refs/topics/x', head_changeset_id: id }],
  ];
  const hiddenId = hidden.head_changeset_id;
  const asked = questions(unknownId);
  for (const [index, [name, input]] of questions(hiddenId).entries()) {
    const refused = await engine.refusal(stranger, name, input);
    expect(refused.code).toBe('CHANGESET_NOT_FOUND');
    expect(anonymous(refused, hiddenId)).toBe(
      anonymous(await engine.refusal(stranger, name, asked[index]?.[1]), unknownId),
    );
  }
});

test('P10 a hidden proposal and an unknown one give the same answer', async () => {
  const engine = await tempEngine();
  const { hidden, stranger, reviewer } = await twoProjects(engine);
  const id = hidden.proposal_id;
  const questions = [
    [stranger, 'memory.proposal_show', {}],
    [stranger, 'memory.merge_cancel', {}],
    [reviewer, 'memory.merge_review', { verdict: 'approve' }],
    [reviewer, 'memory.merge', { idempotency_key: newKey() }],
  ] as const;
  for (const [caller, name, more] of questions) {
    const refused = await engine.refusal(caller, name, { proposal_id: id, ...more });
    expect(refused.code).toBe('PROPOSAL_NOT_FOUND');
    expect(anonymous(refused, id)).toBe(
      anonymous(await engine.refusal(caller, name, { proposal_id: unknownId, ...more }), unknownId),
    );
  }
});

test('P10 who may read a project but not work in it is told so', async () => {
  const engine = await tempEngine();
  const { hidden } = await twoProjects(engine);
  const auditor = await engine.agent('auditor', 'review', '*');
  expect(
    (await engine.refusal(auditor, 'memory.merge_review', { proposal_id: hidden.proposal_id, verdict: 'approve' }))
      .code,
  ).toBe('GRANT_MISSING');
});

test('P11 a project without a grant gives the same answer whether or not it exists', async () => {
  const engine = await tempEngine();
  const { stranger } = await twoProjects(engine);
  for (const name of [
    'memory.status',
    'memory.log',
    'memory.ref_list',
    'memory.context_at',
    'memory.proposal_list',
    'memory.repo_init',
  ]) {
    const hidden = await engine.refusal(stranger, name, { project: 'hidden' });
    expect(hidden.code).toBe('GRANT_MISSING');
    expect(anonymous(hidden, 'hidden')).toBe(
      anonymous(await engine.refusal(stranger, name, { project: 'nowhere' }), 'nowhere'),
    );
  }
  expect((await engine.refusal(engine.owner, 'memory.status', { project: 'nowhere' })).code).toBe('PROJECT_NOT_FOUND');
});

test.each(['author_principal', 'actor_id'])('P12 a caller that says %s itself is refused', async (key) => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  const caller = await engine.agent('writer', 'propose', 'demo');
  const at = await branch(engine, caller, 'demo', 'main');
  const fault = await engine.refusal(caller, 'memory.changeset_create', {
    ...commitInput('demo', at, 'text'),
    [key]: engine.owner.principal.principal_id,
  });
  expect(fault).toMatchObject({ code: 'ATTRIBUTION_FORGED', kind: 'denied', data: { field: key } });
  const changeset = await commit(engine, caller, 'demo', at, 'text');
  expect(changeset).toMatchObject({
    author_principal: caller.principal.principal_id,
    actor_id: caller.principal.actor_id,
  });
});

test('P13 a grant taken away, another profile and disabling count from the next call on', async () => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  const caller = await engine.agent('writer', 'propose', 'demo');
  const id = caller.principal.principal_id;
  const at = await branch(engine, caller, 'demo', 'main');
  await engine.run(engine.owner, 'principal.reconcile', { name: 'writer', profile: 'readonly', project: 'demo' });
  expect((await engine.refusal(caller, 'memory.changeset_create', commitInput('demo', at, 'x'))).code).toBe(
    'SCOPE_MISSING',
  );
  await engine.run(engine.owner, 'principal.revoke_grant', { principal_id: id, project: 'demo' });
  expect((await engine.refusal(caller, 'memory.status', { project: 'demo' })).code).toBe('GRANT_MISSING');
  await engine.run(engine.owner, 'principal.set_enabled', { principal_id: id, enabled: false });
  expect((await engine.refusal(caller, 'memory.status', { project: 'demo' })).code).toBe('PRINCIPAL_DISABLED');
});

test('P14 context and search serve shared refs and the own ones; history of any ref can be read', async () => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  const writer = await engine.agent('writer', 'propose', 'demo');
  const other = await engine.agent('other', 'propose', 'demo');
  const at = await branch(engine, writer, 'demo', 'draft');
  const changeset = await commit(engine, writer, 'demo', at, 'a draft thought');
  await engine.run(writer, 'memory.branch_create', {
    project: 'demo',
    ref_name: 'refs/topics/plans',
    head_changeset_id: at.head,
  });

  for (const ref of [at.ref, 'refs/topics/plans']) {
    expect((await engine.refusal(other, 'memory.context_at', { project: 'demo', ref })).code).toBe('NOT_REF_OWNER');
    expect((await engine.refusal(other, 'memory.search', { project: 'demo', query: 'draft', ref })).code).toBe(
      'NOT_REF_OWNER',
    );
  }
  expect(
    (await engine.refusal(other, 'memory.context_at', { project: 'demo', head_changeset_id: changeset.changeset_id }))
      .code,
  ).toBe('HEAD_NOT_REACHABLE');
  const hiddenHead = { project: 'demo', query: 'draft', head_changeset_id: changeset.changeset_id };
  expect((await engine.refusal(other, 'memory.search', hiddenHead)).code).toBe('HEAD_NOT_REACHABLE');
  for (const caller of [writer, engine.owner]) {
    const context = await engine.run(caller, 'memory.context_at', { project: 'demo', ref: at.ref });
    expect(context.memories.map(({ content }) => content)).toEqual(['a draft thought']);
    const found = await engine.run(caller, 'memory.search', { project: 'demo', query: 'draft', ref: at.ref });
    expect(found.matches).toHaveLength(1);
  }
  expect((await engine.run(other, 'memory.context_at', { project: 'demo' })).memories).toEqual([]);
  expect((await engine.run(other, 'memory.log', { project: 'demo', ref: at.ref })).changesets[0]?.changeset_id).toBe(
    changeset.changeset_id,
  );
  expect((await engine.run(other, 'memory.show', { id: changeset.changeset_id })).ops).toHaveLength(1);
});

test('P14 a manifest of a ref that is not the own is not served', async () => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  const writer = await engine.agent('writer', 'propose', 'demo');
  const other = await engine.agent('other', 'propose', 'demo');
  const at = await branch(engine, writer, 'demo', 'draft');
  await commit(engine, writer, 'demo', at, 'a draft thought');
  const { manifest_id: id } = await engine.run(writer, 'memory.context_at', { project: 'demo', ref: at.ref });
  expect((await engine.refusal(other, 'memory.context_at', { project: 'demo', manifest_id: id })).code).toBe(
    'NOT_REF_OWNER',
  );
});

test('P15 each profile is shown what it may call, and what it is not shown is refused', async () => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  const names = async (profile: Parameters<TempEngine['agent']>[1]): Promise<readonly string[]> =>
    engine.commands.listFor(await engine.agent(profile, profile, 'demo')).map(({ name }) => name);
  const reading = [
    'memory.status',
    'memory.log',
    'memory.show',
    'memory.diff',
    'memory.ref_list',
    'memory.context_at',
    'memory.search',
    'memory.get',
  ];
  const lists = ['memory.proposal_list', 'memory.proposal_show'];
  const proposing = [
    'memory.repo_init',
    'memory.branch_create',
    'memory.changeset_create',
    'memory.merge_propose',
    'memory.revert_propose',
  ];
  const keysRead = ['lithtrix.memory_get', 'lithtrix.memory_search', 'lithtrix.memory_context'];
  const keys = ['lithtrix.memory_set', ...keysRead];
  expect(await names('readonly')).toEqual([...reading, ...lists, ...keysRead]);
  expect(await names('propose')).toEqual([...reading, ...proposing, 'memory.merge_cancel', ...lists, ...keys]);
  expect(await names('review')).toEqual([...reading, 'memory.merge_review', 'memory.merge', ...lists, ...keysRead]);
  expect(await names('write')).toEqual([...reading, ...proposing, 'memory.merge_cancel', ...lists, ...keys]);
  expect(engine.commands.listFor(engine.owner).map(({ name }) => name)).toEqual(commandTable.map(({ name }) => name));
  const writer = await engine.agent('write', 'write', 'demo');
  expect((await engine.refusal(writer, 'memory.merge', { proposal_id: unknownId, idempotency_key: 'k' })).code).toBe(
    'SCOPE_MISSING',
  );
});

test('P15 no bearer token runs a command of the owner', async () => {
  const engine = await tempEngine();
  const caller = await engine.agent('climber', 'write', '*', 'demo');
  const inputs: Record<string, unknown> = {
    'history.graph': { project: 'demo' },
    'store.verify_chain': { project: 'demo' },
    'store.inspect_import': { file: '/nowhere/file.db' },
    'store.import': { file: '/nowhere/file.db', content_digest: 'a'.repeat(64) },
    'backup.cancel': { job_id: unknownId },
    'backup.inspect': { directory: '/nowhere' },
    'backup.rehearse': { directory: '/nowhere' },
    'restore.stage': { directory: '/nowhere', confirm: '12345678' },
    'restore.put_back': { confirm: '12345678' },
    'obol.reapprove': { obol_id: 'a'.repeat(16) },
    'ltx.reapprove': { key_id: 'a'.repeat(16) },
    'conflict.list': { project: 'demo' },
    'ref.overview': { project: 'demo' },
    'ref.archive': { project: 'demo', ref_name: 'refs/topics/x', expected_head: unknownId },
    'proposal.draft_resolution': {
      proposal_id: unknownId,
      resolution: { conflict_key: 'a'.repeat(64), choice: 'ours' },
    },
    'proposal.drop_resolution': { proposal_id: unknownId, conflict_key: 'a'.repeat(64) },
    'proposal.revert_advance': {
      project: 'demo',
      expected_head: unknownId,
      new_head: unknownId,
      message: 'x',
      idempotency_key: 'x',
    },
    'principal.reconcile': { name: 'x', profile: 'write', project: 'demo' },
    'principal.set_enabled': { principal_id: caller.principal.principal_id, enabled: true },
    'principal.revoke_grant': { principal_id: caller.principal.principal_id, project: 'demo' },
    'obol.mint': { principal_id: caller.principal.principal_id },
    'obol.revoke': { obol_id: '0000000000000000' },
    'ledger.keys': { agent: unknownId },
    'ledger.history': { agent: unknownId, key: 'k' },
    'ledger.value_at': { agent: unknownId, key: 'k', point: { version: 1 } },
    'ledger.diff': { agent: unknownId, key: 'k', from: { version: 1 }, to: { version: 2 } },
    'ledger.policies': { agent: unknownId },
    'custody.open': { agent: unknownId },
    'custody.close': { agent: unknownId },
    'registration.approve': { registration_id: unknownId },
    'registration.refuse': { registration_id: unknownId },
    'registration.set_open': { open: true },
    'ltx.mint': { agent: unknownId, kind: 'root' },
    'ltx.revoke': { key_id: '0000000000000000' },
    'passport.revoke': { agent: unknownId },
    'oauth.set_enabled': { enabled: true },
    'setting.set_owner_self_merge': { on: true },
    'oauth.approve': { request_id: '0000000000000000', principal_id: caller.principal.principal_id },
    'oauth.refuse': { request_id: '0000000000000000' },
    'oauth.revoke': { grant_id: '0000000000000000' },
    'key.rotate': { key: 'obol' },
    'key.set_recovery': { passphrase: 'correct horse battery' },
    'owner_request.decide': { request_id: unknownId, decision: 'allow' },
    'owner.set_confirmation': { owner_confirm: 'off' },
    'audit.acts_of_power': { since: 'last_seen' },
    'audit.acts_seen': { through_seq: 1 },
  };
  const owners = commandTable.filter(({ scope }) => scope === 'owner');
  expect(owners.length).toBeGreaterThan(10);
  for (const { name } of owners)
    expect((await engine.refusal(caller, name, inputs[name] ?? {})).code).toBe('OWNER_ONLY');
});
