import { expect, test } from 'vitest';
import { toFault } from '../../src-main/base/fault.ts';
import { waitingMax } from '../../src-main/commands/owner-requests.ts';
import { commandTable } from '../../src-preload/contract/commands/table.ts';
import { ask, type PowerWorld, powerInputs, powerWorld, theRequest } from './power-world.ts';

/** Acts that no socket can ask for: those of the desk alone, and an import, which wants the files for itself. */
const elsewhere = ['key.seal', 'key.unseal', 'owner_request.decide', 'store.import'];
const fromSocket = commandTable.filter((row) => row.power && !elsewhere.includes(row.name));

const mint = (world: PowerWorld) => ({ principal_id: world.agent.principal.principal_id, expires_ms: null });

test('P140 of every command of the owner that changes something it is settled whether it has power', () => {
  const powerless = commandTable.filter((row) => row.scope === 'owner' && row.mutates && !row.power);
  expect(powerless.map((row) => row.name)).toEqual([
    'ref.archive',
    'proposal.draft_resolution',
    'proposal.drop_resolution',
    'proposal.revert_advance',
    'oauth.refuse',
    'registration.refuse',
    'engine.settle',
    'backup.create',
    'backup.cancel',
    'restore.withdraw',
    'audit.acts_seen',
  ]);
  for (const row of commandTable) if (row.power) expect(row.mutates, row.name).toBe(true);
});

test('P141 while a desk is open every act of power from the socket waits, and is shown as it will run', async () => {
  const world = await powerWorld();
  const { engine, shell } = world;
  engine.commands.attachDesk();
  const inputs = powerInputs(world);
  for (const { name, title } of fromSocket) {
    const asked = ask(engine, shell, name, inputs[name]);
    await asked.waits;
    const request = await theRequest(engine);
    expect(request).toMatchObject({ command: name, title, door: 'owner_socket', client: 'command line' });
    const shown: unknown = JSON.parse(request.input_json);
    if (name !== 'key.set_recovery') expect(shown).toEqual(inputs[name]);
    await engine.run(engine.owner, 'owner_request.decide', { request_id: request.request_id, decision: 'refuse' });
    await expect(asked.answer, name).rejects.toMatchObject({ code: 'OWNER_REFUSED', kind: 'denied' });
  }
  const done = (await engine.entries()).filter(({ door, phase }) => door === 'owner_socket' && phase === 'intent');
  expect(done).toEqual([]);
});

/** What came of every act, in a word: the keys of its answer, or the code of its refusal. */
async function outcomes(world: PowerWorld, run: (name: string, input: unknown) => Promise<unknown>) {
  const inputs = powerInputs(world);
  const found: Record<string, string> = {};
  for (const { name } of fromSocket) {
    const outcome = await run(name, inputs[name]).then(
      (output) => Object.keys(Object(output)).sort().join(),
      (thrown: unknown) => toFault(thrown).code,
    );
    found[name] = outcome;
  }
  return found;
}

test('P141 what was allowed has the same outcome as at the desk itself', async () => {
  const world = await powerWorld();
  const { engine, shell } = world;
  engine.commands.attachDesk();
  const allowed = await outcomes(world, async (name, input) => {
    const asked = ask(engine, shell, name, input);
    await asked.waits;
    const { request_id: id } = await theRequest(engine);
    await engine.run(engine.owner, 'owner_request.decide', { request_id: id, decision: 'allow' });
    return asked.answer;
  });
  const desk = await powerWorld();
  expect(allowed).toEqual(await outcomes(desk, (name, input) => desk.engine.raw(desk.engine.owner, name, input)));
  expect(allowed['memory.merge']).toBe('proposal_id,ref,resulting_changeset_id,status,strategy');
  expect(Object.values(allowed)).not.toContain('INTERNAL');
});

test('P141 the desk itself, agents, and whatever has no power do not wait', async () => {
  const world = await powerWorld();
  const { engine, shell, agent } = world;
  engine.commands.attachDesk();
  await engine.run(engine.owner, 'obol.mint', mint(world));
  await engine.run(shell, 'principal.list', {});
  await engine.run(shell, 'memory.status', { project: 'demo' });
  const reviewer = await engine.agent('reviewer', 'review', 'demo');
  await engine.run(reviewer, 'memory.merge_review', { proposal_id: world.proposed.proposal_id, verdict: 'approve' });
  await engine.run(reviewer, 'memory.merge', { proposal_id: world.proposed.proposal_id, idempotency_key: 'one' });
  expect((await engine.refusal(agent, 'obol.mint', mint(world))).code).toBe('OWNER_ONLY');
  expect(await engine.run(engine.owner, 'owner_request.list', {})).toEqual({ requests: [] });
});

test('P142 a request that is not allowed ends with a fault of its own, and nothing is done', async () => {
  const world = await powerWorld({ waiting: { lifeMs: 60_000, graceMs: 5 } });
  const { engine, shell } = world;
  const detach = engine.commands.attachDesk();
  const before = (await engine.run(engine.owner, 'obol.list', {})).obols.length;

  const gone = new AbortController();
  const taken = ask(engine, shell, 'obol.mint', mint(world), { signal: gone.signal });
  await taken.waits;
  gone.abort();
  await expect(taken.answer).rejects.toMatchObject({ code: 'OWNER_REQUEST_CANCELED', kind: 'denied' });
  const late = ask(engine, shell, 'obol.mint', mint(world), { signal: gone.signal });
  await expect(late.answer).rejects.toMatchObject({ code: 'OWNER_REQUEST_CANCELED' });

  const many = Array.from({ length: waitingMax }, () => ask(engine, shell, 'obol.mint', mint(world)));
  await Promise.all(many.map(({ waits }) => waits));
  const more = ask(engine, shell, 'obol.mint', mint(world));
  await expect(more.answer).rejects.toMatchObject({ code: 'OWNER_REQUESTS_FULL', kind: 'denied' });
  expect((await engine.run(engine.owner, 'owner_request.list', {})).requests).toHaveLength(waitingMax);
  detach();
  detach();
  for (const { answer } of many) await expect(answer).rejects.toMatchObject({ code: 'DESK_CLOSED', kind: 'denied' });

  engine.commands.attachDesk();
  const closing = ask(engine, shell, 'obol.mint', mint(world));
  await closing.waits;
  expect(engine.charon.listObols()).toHaveLength(before);
  engine.commands.endWaiting();
  await expect(closing.answer).rejects.toMatchObject({ code: 'OWNER_REQUEST_CLOSED', kind: 'denied' });
  const after = ask(engine, shell, 'obol.mint', mint(world));
  await expect(after.answer).rejects.toMatchObject({ code: 'OWNER_REQUEST_CLOSED' });
  const outcomes = (await engine.entries()).filter(({ command, door }) => command === 'obol.mint' && door !== 'window');
  expect(new Set(outcomes.map(({ outcome }) => outcome))).toEqual(
    new Set([
      ...['waiting', 'denied OWNER_REQUEST_CANCELED', 'denied OWNER_REQUESTS_FULL'],
      ...['denied DESK_CLOSED', 'denied OWNER_REQUEST_CLOSED'],
    ]),
  );
});

test('P142 what nobody decides ends after its time; a desk that is back within moments never was away', async () => {
  const world = await powerWorld({ waiting: { lifeMs: 40, graceMs: 60_000 } });
  const { engine, shell } = world;
  const detach = engine.commands.attachDesk();
  detach();
  const asked = ask(engine, shell, 'obol.mint', mint(world));
  await asked.waits;
  engine.commands.attachDesk();
  const { request_id: id } = await theRequest(engine);
  await expect(asked.answer).rejects.toMatchObject({ code: 'OWNER_REQUEST_EXPIRED', kind: 'denied' });
  const slept = await powerWorld();
  slept.engine.commands.attachDesk();
  const late = ask(slept.engine, slept.shell, 'obol.mint', mint(slept));
  await late.waits;
  const allow = { request_id: (await theRequest(slept.engine)).request_id, decision: 'allow' };
  slept.engine.clock.advance(120_000);
  const lateDecision = await slept.engine.refusal(slept.engine.owner, 'owner_request.decide', allow);
  expect(lateDecision.code).toBe('OWNER_REQUEST_NOT_FOUND');
  await expect(late.answer).rejects.toMatchObject({ code: 'OWNER_REQUEST_EXPIRED' });
  const decided = engine.refusal(engine.owner, 'owner_request.decide', { request_id: id, decision: 'allow' });
  expect((await decided).code).toBe('OWNER_REQUEST_NOT_FOUND');
});

test('P143 the word is given at the desk alone, and once', async () => {
  const world = await powerWorld();
  const { engine, shell, files, agent } = world;
  engine.commands.attachDesk();
  const asked = ask(engine, shell, 'obol.mint', mint(world));
  await asked.waits;
  const { request_id: id } = await theRequest(engine);
  const allow = { request_id: id, decision: 'allow' };
  expect((await engine.refusal(shell, 'owner_request.decide', allow)).code).toBe('DESK_ONLY');
  expect((await engine.refusal(files, 'owner_request.decide', allow)).code).toBe('DESK_ONLY');
  expect((await engine.refusal(agent, 'owner_request.decide', allow)).code).toBe('OWNER_ONLY');
  expect((await engine.refusal(agent, 'owner_request.list', {})).code).toBe('OWNER_ONLY');
  expect((await theRequest(engine)).request_id).toBe(id);
  const page = engine.charon.ownerCaller('owner_page');
  await engine.raw(page, 'owner_request.decide', allow);
  await asked.answer;
  expect((await engine.refusal(page, 'owner_request.decide', allow)).code).toBe('OWNER_REQUEST_NOT_FOUND');

  const entries = (await engine.entries()).filter(({ object_ids: ids }) => ids.some((each) => each.endsWith(id)));
  const told = entries.map(({ door, command, phase, outcome, object_ids: ids }) => [
    ...[door, command, phase, outcome, ids.slice(0, 2).join()],
  ]);
  const ofDecision = `${id},allow`;
  const ofAct = `confirmed: desk,request: ${id}`;
  const principal = world.agent.principal.principal_id;
  expect(told.filter(([, command]) => command === 'obol.mint')).toEqual([
    ['owner_socket', 'obol.mint', 'outcome', 'waiting', `request: ${id},${principal}`],
    ['owner_socket', 'obol.mint', 'intent', '', ofAct],
    ['owner_socket', 'obol.mint', 'outcome', 'ok', ofAct],
  ]);
  expect(told.filter(([door]) => door === 'owner_page')).toEqual([
    ['owner_page', 'owner_request.decide', 'intent', '', ofDecision],
    ['owner_page', 'owner_request.decide', 'outcome', 'ok', ofDecision],
    ['owner_page', 'owner_request.decide', 'outcome', 'not_found OWNER_REQUEST_NOT_FOUND', ofDecision],
  ]);
  expect(told.filter(([door]) => door === 'files')).toHaveLength(1);
  expect(engine.events.filter(({ kind }) => kind === 'owner_requests_changed').length).toBeGreaterThanOrEqual(2);
});

test('P143 what was looked at before the wait is looked at again after it, and a repeated request asks nobody', async () => {
  const world = await powerWorld();
  const { engine, shell, proposed } = world;
  engine.commands.attachDesk();
  const state = { proposal_digest: proposed.proposal_digest, target_head: proposed.target_head };
  const review = { proposal_id: proposed.proposal_id, verdict: 'approve', ...state };
  await engine.raw(engine.owner, 'memory.merge_review', review);
  const merge = { proposal_id: proposed.proposal_id, idempotency_key: 'once' };
  const asked = ask(engine, shell, 'memory.merge', merge);
  await asked.waits;
  const { request_id: id } = await theRequest(engine);
  await engine.run(engine.owner, 'owner_request.decide', { request_id: id, decision: 'allow' });
  const merged = await asked.answer;
  expect(await engine.raw(shell, 'memory.merge', merge)).toEqual(merged);

  // What the caller does to what it handed over changes nothing of what was shown.
  const input: { principal_id: string; expires_ms: number | null } = mint(world);
  const altered = ask(engine, shell, 'obol.mint', input);
  await altered.waits;
  input.expires_ms = 1_000;
  const { request_id: third } = await theRequest(engine);
  await engine.run(engine.owner, 'owner_request.decide', { request_id: third, decision: 'allow' });
  expect(await altered.answer).toMatchObject({ obol: { expires_at: null } });

  const removed = ask(engine, shell, 'memory.merge_review', review);
  await expect(removed.waits.then(() => 'waits')).resolves.toBe('waits');
  const { request_id: second } = await theRequest(engine);
  await engine.run(engine.owner, 'owner_request.decide', { request_id: second, decision: 'allow' });
  await expect(removed.answer).rejects.toMatchObject({ code: 'PROPOSAL_STATE' });
});
