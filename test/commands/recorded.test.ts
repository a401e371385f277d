import { expect, test } from 'vitest';
import { connect } from '../../src-main/sqlite/driver.ts';
import { branch, commit, commitInput, newKey, proposal, startProject } from '../support/history-in-engine.ts';
import { tempEngine } from '../support/temp-engine.ts';

test('P20 a mutation leaves intent and outcome under one correlation id, with what moved', async () => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  const caller = await engine.agent('writer', 'propose', 'demo');
  const at = await branch(engine, caller, 'demo', 'main');
  const input = commitInput('demo', at, 'text');
  const before = (await engine.entries()).length;
  const changeset = await engine.raw(caller, 'memory.changeset_create', input);
  const [intent, outcome, ...more] = (await engine.entries()).slice(before);
  expect(more).toEqual([]);
  const common = {
    principal: caller.principal.principal_id,
    credential_kind: 'obol',
    credential_id: caller.credential.id,
    door: 'agent',
    command: 'memory.changeset_create',
    project: 'demo',
    correlation_id: intent?.correlation_id,
    request_digest: expect.stringMatching(/^[0-9a-f]{64}$/),
  };
  expect(intent).toMatchObject({ ...common, phase: 'intent', outcome: '', object_ids: [at.ref] });
  const { changeset_id: id, chain_digest: chain } = changeset as { changeset_id: string; chain_digest: string };
  expect(outcome).toMatchObject({ ...common, phase: 'outcome', outcome: 'ok', object_ids: [at.ref, id, chain] });
  expect(outcome?.request_digest).toBe(intent?.request_digest);
});

test('P20 the outcome of a new ref carries its head and chain', async () => {
  const engine = await tempEngine();
  const { changeset } = await engine.run(engine.owner, 'memory.repo_init', { project: 'demo' });
  const caller = await engine.agent('writer', 'propose', 'demo');
  const at = await branch(engine, caller, 'demo', 'main');
  const made = (await engine.entries())
    .filter(({ phase }) => phase === 'outcome')
    .map((entry) => [entry.command, entry.object_ids]);
  expect(made).toContainEqual(['memory.repo_init', ['refs/shared/main', at.head, changeset.chain_digest]]);
  expect(made).toContainEqual(['memory.branch_create', [at.ref, at.head, changeset.chain_digest]]);
});

test('P20 refusals before the intent leave an outcome alone; those after it, both', async () => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  const reader = await engine.agent('reader', 'readonly', 'demo');
  const writer = await engine.agent('writer', 'propose', 'demo');
  const at = await branch(engine, writer, 'demo', 'main');
  const before = (await engine.entries()).length;
  await engine.refusal(reader, 'memory.changeset_create', commitInput('demo', at, 'x'));
  await engine.refusal(reader, 'no.such_command', { project: 'demo' });
  await engine.refusal(reader, 'memory.status', { project: 'demo', extra: 1 });
  await engine.refusal(writer, 'memory.status', { project: 'elsewhere' });
  await engine.refusal(writer, 'memory.changeset_create', {
    ...commitInput('demo', at, 'x'),
    ops: [{ ordinal: 0, op_type: 'add_memory', payload: { content: ' ' } }],
  });
  const entries = (await engine.entries())
    .slice(before)
    .map(({ phase, command, project, outcome }) => [phase, command, project, outcome]);
  expect(entries.filter(([, , , outcome]) => outcome !== 'invalid OP_INVALID')).toEqual([
    ['outcome', 'memory.changeset_create', 'demo', 'denied SCOPE_MISSING'],
    ['outcome', 'no.such_command', 'demo', 'invalid COMMAND_UNKNOWN'],
    ['outcome', 'memory.status', 'demo', 'invalid INPUT_INVALID'],
    ['outcome', 'memory.status', 'elsewhere', 'denied GRANT_MISSING'],
    ['intent', 'memory.changeset_create', 'demo', ''],
  ]);
  expect(entries).toContainEqual(['outcome', 'memory.changeset_create', 'demo', 'invalid OP_INVALID']);
});

test('P20 a replay is recorded as one, without a second intent', async () => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  const caller = await engine.agent('writer', 'propose', 'demo');
  const input = commitInput('demo', await branch(engine, caller, 'demo', 'main'), 'x');
  await engine.raw(caller, 'memory.changeset_create', input);
  const before = (await engine.entries()).length;
  await engine.raw(caller, 'memory.changeset_create', input);
  expect((await engine.entries()).slice(before).map(({ phase, outcome }) => [phase, outcome])).toEqual([
    ['outcome', 'replayed'],
  ]);
});

test('P21 reads of memory are recorded; the looking of the owner at the engine is not', async () => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  const caller = await engine.agent('reader', 'readonly', 'demo');
  const before = (await engine.entries()).length;
  await engine.run(caller, 'memory.log', { project: 'demo' });
  await engine.run(engine.owner, 'memory.log', { project: 'demo' });
  await engine.run(engine.owner, 'engine.status', {});
  await engine.run(engine.owner, 'audit.tail', {});
  await engine.run(engine.owner, 'principal.list', {});
  await engine.refusal(engine.owner, 'audit.tail', { limit: 0 });
  const entries = (await engine.entries()).slice(before);
  expect(entries.map(({ command, credential_kind: kind, outcome }) => [command, kind, outcome])).toEqual([
    ['memory.log', 'obol', 'ok'],
    ['memory.log', 'owner', 'ok'],
    ['audit.tail', 'owner', 'invalid INPUT_INVALID'],
  ]);
});

test('P22 nothing of what was said or minted is in the ledger, and the ledger holds', async () => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  const caller = await engine.agent('writer', 'propose', 'demo');
  const at = await branch(engine, caller, 'demo', 'main');
  await commit(engine, caller, 'demo', at, 'the combination is 1234');
  await engine.refusal(caller, 'memory.context_at', { project: 'demo', query: 'combination', nonsense: true });
  const { token } = await engine.run(engine.owner, 'obol.mint', { principal_id: caller.principal.principal_id });
  const text = JSON.stringify(await engine.entries());
  expect(text).not.toMatch(/combination|adds 1/);
  expect(text).not.toContain(token.split('_')[2]);
  expect(await engine.run(engine.owner, 'audit.verify', {})).toMatchObject({ ok: true, findings: [] });
});

test('P23 a call of an agent is told to the desk and kept as the last use of its token', async () => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  const caller = await engine.agent('reader', 'readonly', 'demo');
  expect((await engine.run(engine.owner, 'engine.status', {})).last_agent_call).toBeNull();
  await engine.raw(caller, 'memory.log', { project: 'demo' });
  await engine.refusal(caller, 'no.such_command', {});
  const { principal_id: id } = caller.principal;
  const at = '2026-11-30T12:00:00Z';
  expect(engine.events.filter(({ kind }) => kind === 'agent_called')).toEqual([
    { kind: 'agent_called', principal_id: id, tool: 'memory_log', ok: true, at },
    { kind: 'agent_called', principal_id: id, tool: 'unknown', ok: false, at },
  ]);
  expect((await engine.run(engine.owner, 'engine.status', {})).last_agent_call).toEqual({
    principal_id: id,
    name: 'reader',
    tool: 'unknown',
    at,
  });
  const again = await engine.reopen();
  expect((await again.run(again.owner, 'obol.list', { principal_id: id })).obols).toEqual([
    expect.objectContaining({ last_client: 'test 1.0', last_tool: 'memory_log', last_used_at: at }),
  ]);
  expect((await again.run(again.owner, 'engine.status', {})).last_agent_call).toMatchObject({
    name: 'reader',
    tool: 'memory_log',
  });
});

test('P35 every counter of the protocol is there from the start, and moves with what it counts', async () => {
  const engine = await tempEngine();
  const counted = async (): Promise<Record<string, number>> => {
    const series = (await engine.metrics.text()).matchAll(/^charon_(\w+) (\d+)$/gm);
    return Object.fromEntries([...series].map(([, name, value]) => [name, Number(value)]));
  };
  expect(await counted()).toMatchObject({ ...noneCounted, audit_outbox_backlog: expect.any(Number) });

  await startProject(engine, 'demo');
  const writer = await engine.agent('writer', 'propose', 'demo');
  const reviewer = await engine.agent('reviewer', 'review', 'demo');
  const first = await proposal(engine, writer, 'demo', 'work', 'text');
  const second = await proposal(engine, writer, 'demo', 'more', 'other');
  for (const { proposal_id } of [first, second])
    await engine.run(reviewer, 'memory.merge_review', { proposal_id, verdict: 'approve' });
  // Denied for want of a scope, then for the state of things, and once in earnest.
  await engine.refusal(writer, 'memory.merge', { proposal_id: first.proposal_id, idempotency_key: newKey() });
  const merge = { proposal_id: first.proposal_id, idempotency_key: newKey() };
  await engine.run(reviewer, 'memory.merge', merge);
  await engine.run(reviewer, 'memory.merge', merge);
  await engine.refusal(reviewer, 'memory.merge', { ...merge, proposal_id: second.proposal_id });
  const stale = { proposal_id: second.proposal_id, idempotency_key: newKey() };
  expect((await engine.refusal(reviewer, 'memory.merge', stale)).code).toBe('PROPOSAL_STALE');
  await engine.refusal(writer, 'memory.status', { project: 'demo', extra: true });
  await engine.charon.audit.flush();
  const beside = connect(engine.paths.charonDb, { readOnly: false, mustExist: true });
  beside.exec("CREATE TRIGGER full BEFORE INSERT ON audit_entries BEGIN SELECT RAISE(ABORT, 'no more'); END");
  await engine.refusal(writer, 'memory.repo_init', { project: 'demo' });
  await engine.run(writer, 'memory.status', { project: 'demo' });
  await expect(engine.charon.audit.flush()).rejects.toThrow();
  const now = await counted();
  expect(now.audit_outbox_backlog).toBeGreaterThan(0);
  expect(now.audit_append_failures_total).toBeGreaterThan(1);
  expect(now).toMatchObject({
    authz_denials_total: 1,
    idempotent_replays_total: 1,
    idempotency_mismatches_total: 1,
    ledger_append_failures_total: 1,
    merge_attempts_total: 2,
    merge_cas_conflicts_total: 1,
    proposals_created_total: 2,
    strict_parsing_rejections_total: 1,
  });
  expect(await engine.metrics.text()).toMatch(/^charon_command_duration_seconds_count\{command="memory\.merge"\} 5$/m);
  beside.exec('DROP TRIGGER full');
  beside.close();
});

/** The counters of `charon.md` §9 before anything happened. */
const noneCounted = {
  authz_denials_total: 0,
  idempotent_replays_total: 0,
  idempotency_mismatches_total: 0,
  audit_append_failures_total: 0,
  ledger_append_failures_total: 0,
  merge_attempts_total: 0,
  merge_cas_conflicts_total: 0,
  proposals_created_total: 0,
  strict_parsing_rejections_total: 0,
};
