import { expect, test } from 'vitest';
import { toFault } from '../../src-main/base/fault.ts';
import { bind, rowOf } from '../../src-main/commands/bind.ts';
import { connect } from '../../src-main/sqlite/driver.ts';
import { principalIdSchema } from '../../src-preload/contract/ids.ts';
import { branch, commit, commitInput, newKey, proposal, startProject } from '../support/history-in-engine.ts';
import { type TempEngine, tempEngine } from '../support/temp-engine.ts';

/** A commit that fails every check there is, to be mended one by one. */
async function wreck(engine: TempEngine) {
  await startProject(engine, 'demo');
  const caller = await engine.agent('climber', 'readonly', 'other');
  const owner = await engine.agent('neighbour', 'propose', 'demo');
  const foreign = await branch(engine, owner, 'demo', 'main');
  return {
    caller,
    foreign,
    input: { ...commitInput('demo', { ref: 'refs/topics/nowhere', head: foreign.head }, 'text'), surprise: true },
  };
}

test('P1 P2 P3 P6 the first failing check is the answer: mending one brings out the next', async () => {
  const engine = await tempEngine();
  const { caller, foreign, input } = await wreck(engine);
  const { principal_id: id } = caller.principal;
  const code = async (sent: unknown): Promise<string> =>
    (await engine.refusal(caller, 'memory.changeset_create', sent)).code;

  await engine.charon.setPrincipalEnabled(id, false);
  expect(await code(input)).toBe('PRINCIPAL_DISABLED');
  await engine.charon.setPrincipalEnabled(id, true);
  expect(await code(input)).toBe('INPUT_INVALID');
  const { surprise, ...clean } = input;
  expect(await code(clean)).toBe('SCOPE_MISSING');
  await engine.agent('climber', 'propose', 'other');
  expect(await code(clean)).toBe('GRANT_MISSING');
  await engine.agent('climber', 'propose', 'demo');
  expect(await code(clean)).toBe('REF_NOT_FOUND');
  const stale = '00000000-0000-4000-8000-000000000000';
  const onForeign = { ...clean, ref: foreign.ref, expected_head: stale };
  expect(await code(onForeign)).toBe('NOT_REF_OWNER');
  expect(await code({ ...onForeign, ref: 'refs/shared/main' })).toBe('PROTECTED_REF');
  const own = await branch(engine, caller, 'demo', 'own', foreign.head);
  expect(await code({ ...clean, ref: own.ref, expected_head: stale })).toBe('REF_MOVED');
  const done = await engine.raw(caller, 'memory.changeset_create', { ...clean, ref: own.ref });
  expect(done).toMatchObject({ ref_name: own.ref, author_principal: id, actor_id: caller.principal.actor_id });
});

test('P1 a principal that does not exist any more is refused like a disabled one', async () => {
  const engine = await tempEngine();
  const caller = await engine.agent('ghost', 'propose', 'demo');
  const ghost = {
    ...caller,
    principal: { ...caller.principal, principal_id: principalIdSchema.parse('principal_0000000000000000') },
  };
  const fault = await engine.refusal(ghost, 'memory.status', { project: 'demo' });
  expect(fault.code).toBe('PRINCIPAL_DISABLED');
});

test.each([
  ['no.such_command', {}, 'COMMAND_UNKNOWN', /no such command/],
  ['memory.status', { project: 'demo', projekt: 'x' }, 'INPUT_INVALID', /unknown key: "projekt"/],
  ['memory.status', { a: 1, b: 2, project: 'demo' }, 'INPUT_INVALID', /unknown keys: "a", "b"/],
  ['memory.status', {}, 'INPUT_INVALID', /^project: /],
  ['memory.status', 'text', 'INPUT_INVALID', /^the input: /],
  ['memory.status', null, 'INPUT_INVALID', /^the input: /],
  ['memory.log', { project: 'demo', limit: 0 }, 'INPUT_INVALID', /^limit: /],
  ['memory.log', { project: 'demo', limit: '5' }, 'INPUT_INVALID', /^limit: /],
  ['memory.log', { project: 'demo', ref: 'main' }, 'INPUT_INVALID', /^ref: a ref is refs\//],
  ['memory.status', { project: '*' }, 'INPUT_INVALID', /^project: a project id/],
  ['memory.show', { id: 'x' }, 'INPUT_INVALID', /^id: a UUID/],
  ['memory.context_at', { project: 'demo', kinds: ['rumour'] }, 'INPUT_INVALID', /^kinds\.0: /],
])('P2 strict parsing: %s %j is %s', async (name, input, code, said) => {
  const engine = await tempEngine();
  const caller = await engine.agent('reader', 'readonly', '*');
  const fault = await engine.refusal(caller, name, input);
  expect(fault.code).toBe(code);
  expect(fault.message).toMatch(said);
  expect(await engine.metrics.text()).toMatch(/charon_strict_parsing_rejections_total 1/);
});

test('P2 an unknown key deep inside is named with its place, and nothing happens', async () => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  const caller = await engine.agent('writer', 'propose', 'demo');
  const at = await branch(engine, caller, 'demo', 'main');
  const input = commitInput('demo', at, 'one', 'two');
  const bent = { ...input, ops: [input.ops[0], { ...input.ops[1], weight: 3 }] };
  const fault = await engine.refusal(caller, 'memory.changeset_create', bent);
  expect(fault.message).toBe('ops.1 has an unknown key: "weight". Leave it out.');
  const gap = { ...input, ops: [input.ops[0], { ...input.ops[1], ordinal: 2 }] };
  expect((await engine.refusal(caller, 'memory.changeset_create', gap)).message).toMatch(/^ops\.1\.ordinal: must be 1/);
  expect((await engine.run(caller, 'memory.log', { project: 'demo', ref: at.ref })).changesets).toHaveLength(1);
});

test('P4 the same request gives the first answer, also after the ref moved; another one under its key is refused', async () => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  const caller = await engine.agent('writer', 'propose', 'demo');
  const at = await branch(engine, caller, 'demo', 'main');
  const input = commitInput('demo', at, 'first');
  const first = await engine.run(caller, 'memory.changeset_create', input);
  await commit(engine, caller, 'demo', { ref: at.ref, head: first.changeset_id }, 'second');
  expect(await engine.run(caller, 'memory.changeset_create', input)).toEqual(first);
  const fault = await engine.refusal(caller, 'memory.changeset_create', { ...input, message: 'another' });
  expect(fault.code).toBe('IDEMPOTENCY_MISMATCH');
  expect((await engine.run(caller, 'memory.log', { project: 'demo', ref: at.ref })).changesets).toHaveLength(3);
  expect(await engine.metrics.text()).toMatch(
    /charon_idempotent_replays_total 1\n[\s\S]*charon_idempotency_mismatches_total 1/,
  );
});

test('P4 one key sent fifty times at once makes one changeset', async () => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  const caller = await engine.agent('writer', 'propose', 'demo');
  const input = commitInput('demo', await branch(engine, caller, 'demo', 'main'), 'once');
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => engine.run(caller, 'memory.changeset_create', input)),
  );
  expect(new Set(answers.map(({ changeset_id: id }) => id)).size).toBe(1);
});

test('P4 P5 in recovery reads work, mutations are refused, and what was answered before is answered again', async () => {
  const before = await tempEngine();
  await startProject(before, 'demo');
  const writer = await before.agent('writer', 'propose', 'demo');
  const proposed = await proposal(before, writer, 'demo', 'work', 'remember this');
  const seen = await before.run(before.owner, 'memory.proposal_show', { proposal_id: proposed.proposal_id });
  const verdict = {
    proposal_id: proposed.proposal_id,
    verdict: 'approve' as const,
    proposal_digest: seen.proposal_digest,
    target_head: seen.target_head,
  };
  await before.run(before.owner, 'memory.merge_review', verdict);
  const merge = { proposal_id: proposed.proposal_id, idempotency_key: newKey() };
  const merged = await before.run(before.owner, 'memory.merge', merge);

  const engine = await before.reopen({ recovery: true });
  expect(await engine.run(engine.owner, 'memory.merge', merge)).toEqual(merged);
  const context = await engine.run(writer, 'memory.context_at', { project: 'demo' });
  expect(context.memories.map(({ content }) => content)).toEqual(['remember this']);
  expect(context.manifest_id).toBeUndefined();
  expect((await engine.refusal(writer, 'memory.context_at', { project: 'demo', pin: true })).code).toBe('READ_ONLY');
  expect((await engine.run(writer, 'memory.status', { project: 'demo' })).recovery_readonly).toBe(true);
  for (const [name, input] of [
    ['memory.repo_init', { project: 'demo' }],
    [
      'memory.branch_create',
      { project: 'demo', ref_name: 'refs/topics/x', head_changeset_id: merged.resulting_changeset_id },
    ],
    ['memory.merge', { ...merge, idempotency_key: newKey() }],
    ['memory.merge_cancel', { proposal_id: proposed.proposal_id }],
    ['principal.reconcile', { name: 'new', profile: 'propose', project: 'demo' }],
    ['obol.mint', { principal_id: writer.principal.principal_id }],
  ] as const) {
    expect(await engine.refusal(engine.owner, name, input)).toMatchObject({ code: 'READ_ONLY', kind: 'read_only' });
  }
});

test('P7 when the intent cannot be written nothing runs, and reads go on', async () => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  const caller = await engine.agent('writer', 'propose', 'demo');
  const at = await branch(engine, caller, 'demo', 'main');
  await engine.charon.audit.flush();
  const beside = connect(engine.paths.charonDb, { readOnly: false, mustExist: true });
  beside.exec("CREATE TRIGGER full BEFORE INSERT ON audit_entries BEGIN SELECT RAISE(ABORT, 'no more'); END");
  const fault = await engine.refusal(caller, 'memory.changeset_create', commitInput('demo', at, 'never'));
  expect(fault).toMatchObject({ code: 'AUDIT_UNAVAILABLE', kind: 'unavailable' });
  expect(
    (await engine.refusal(engine.owner, 'principal.reconcile', { name: 'x', profile: 'propose', project: 'demo' }))
      .code,
  ).toBe('AUDIT_UNAVAILABLE');
  expect((await engine.run(caller, 'memory.log', { project: 'demo', ref: at.ref })).changesets).toHaveLength(1);
  expect(engine.charon.listPrincipals()).toHaveLength(2);
  expect(await engine.metrics.text()).toMatch(/charon_ledger_append_failures_total 2/);
  beside.exec('DROP TRIGGER full');
  beside.close();
  await commit(engine, caller, 'demo', at, 'now');
});

test('P8 an answer that its contract refuses is INTERNAL without a word of it', async () => {
  const engine = await tempEngine();
  const broken = bind(rowOf('obol.list'), { run: () => ({ obols: [{ secret: 'hush' }] }) as never });
  const opened = broken.open({}, engine.owner);
  const thrown = toFault(
    await opened.run({ projectId: undefined, requestDigest: '' }).catch((error: unknown) => error),
  );
  expect(thrown.code).toBe('INTERNAL');
  expect(String(thrown.cause)).toMatch(/obol\.list made an answer that its contract refuses at obols\.0/);
  expect(`${thrown} ${JSON.stringify(thrown.toWire())} ${thrown.cause}`).not.toMatch(/hush/);
});
