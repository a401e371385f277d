import { expect, test } from 'vitest';
import { sha256Hex } from '../../src-main/canonical/digest.ts';
import type { Caller } from '../../src-main/charon/api.ts';
import { rowOf } from '../../src-main/commands/bind.ts';
import { commandLineOf } from '../../src-main/commands/command-line.ts';
import { confirmationLifeMs } from '../../src-main/commands/confirmations.ts';
import { inputDigest } from '../../src-main/commands/digest.ts';
import { connect } from '../../src-main/sqlite/driver.ts';
import type { CommandName } from '../../src-preload/contract/commands/table.ts';
import type { TempEngine } from '../support/temp-engine.ts';
import { ask, type PowerWorld, powerWorld, shellOf, theRequest } from './power-world.ts';

const passphrase = 'Grüße an den Rest';
/** A cheap scrypt: what it costs is no part of what is tested here. */
const cheap = { n: 1_024, r: 8, p: 1 };

async function withPassphrase(): Promise<PowerWorld> {
  const world = await powerWorld();
  await world.engine.charon.word.setConfirmation('passphrase', passphrase, cheap);
  return world;
}

const mint = (world: PowerWorld) => ({ principal_id: world.agent.principal.principal_id, expires_ms: null });

/** What a call asks to be confirmed. */
async function required(engine: TempEngine, caller: Caller, name: string, input: unknown) {
  const fault = await engine.refusal(caller, name, input);
  expect(fault).toMatchObject({
    code: 'CONFIRMATION_REQUIRED',
    kind: 'denied',
    data: { confirm: 'passphrase', command: name },
  });
  return { command: name, inputDigest: String(fault.data.input_digest) };
}

let calls = 0;
const repeat = (engine: TempEngine, caller: Caller, name: string, input: unknown, confirmation: string) => {
  calls += 1;
  return engine.commands.run({ name, input, caller, client: '', correlationId: `again-${calls}`, confirmation });
};

test.each(['shell', 'files'] as const)(
  'P145 with no desk open an act of power by %s needs the passphrase, once for each',
  async (who) => {
    const world = await withPassphrase();
    const { engine } = world;
    const caller = world[who];
    const what = await required(engine, caller, 'obol.mint', mint(world));
    const { confirmation } = await engine.commands.confirm(what, passphrase.normalize('NFD'), caller);
    const minted = await repeat(engine, caller, 'obol.mint', mint(world), confirmation);
    expect(minted).toMatchObject({ obol: { principal_id: world.agent.principal.principal_id } });
    const again = repeat(engine, caller, 'obol.mint', mint(world), confirmation);
    await expect(again).rejects.toMatchObject({ code: 'CONFIRMATION_REQUIRED' });
    const entries = (await engine.entries()).filter(
      ({ command }) => command === 'obol.mint' || command === 'owner.confirm',
    );
    expect(entries.map(({ command, phase, outcome, object_ids: [first] }) => [command, phase, outcome, first])).toEqual(
      [
        ['obol.mint', 'outcome', 'denied CONFIRMATION_REQUIRED', world.agent.principal.principal_id],
        ['owner.confirm', 'outcome', 'ok', 'obol.mint'],
        ['obol.mint', 'intent', '', 'confirmed: passphrase'],
        ['obol.mint', 'outcome', 'ok', 'confirmed: passphrase'],
        ['obol.mint', 'outcome', 'denied CONFIRMATION_REQUIRED', world.agent.principal.principal_id],
      ],
    );
  },
);

test('P145 a confirmation is good for one command with one input, within a minute', async () => {
  const world = await withPassphrase();
  const { engine, shell } = world;
  const before = engine.charon.listObols().length;
  const what = await required(engine, shell, 'obol.mint', mint(world));
  const give = async () => (await engine.commands.confirm(what, passphrase, shell)).confirmation;
  const other = repeat(engine, shell, 'obol.mint', { ...mint(world), expires_ms: 60_000 }, await give());
  await expect(other).rejects.toMatchObject({ code: 'CONFIRMATION_REQUIRED' });
  const another = repeat(engine, shell, 'obol.revoke', { obol_id: world.agent.credential.id }, await give());
  await expect(another).rejects.toMatchObject({ code: 'CONFIRMATION_REQUIRED' });
  const late = await give();
  engine.clock.advance(confirmationLifeMs);
  await expect(repeat(engine, shell, 'obol.mint', mint(world), late)).rejects.toMatchObject({
    code: 'CONFIRMATION_REQUIRED',
  });
  const first = await give();
  for (let more = 0; more < 16; more += 1) await give();
  const pushedOut = repeat(engine, shell, 'obol.mint', mint(world), first);
  await expect(pushedOut).rejects.toMatchObject({ code: 'CONFIRMATION_REQUIRED' });
  await expect(repeat(engine, shell, 'obol.mint', mint(world), 'made up')).rejects.toMatchObject({
    code: 'CONFIRMATION_REQUIRED',
  });
  expect(engine.charon.listObols()).toHaveLength(before);
});

test('P145 the desk, agents and whoever only looks are asked for no passphrase', async () => {
  const world = await withPassphrase();
  const { engine, shell, files } = world;
  await engine.run(engine.owner, 'obol.mint', mint(world));
  await engine.raw(engine.charon.ownerCaller('owner_page'), 'obol.mint', mint(world));
  for (const caller of [shell, files]) {
    await engine.run(caller, 'principal.list', {});
    await engine.run(caller, 'audit.acts_of_power', { since: 0 });
    expect(await engine.run(caller, 'owner.confirmation', {})).toEqual({
      owner_confirm: 'passphrase',
      passphrase_set: true,
    });
  }
  const reviewer = await engine.agent('reviewer', 'review', 'demo');
  await engine.run(reviewer, 'memory.merge_review', { proposal_id: world.proposed.proposal_id, verdict: 'approve' });
  const what = { command: 'obol.mint', inputDigest: 'a'.repeat(64) };
  await expect(engine.commands.confirm(what, passphrase, reviewer)).rejects.toMatchObject({ code: 'OWNER_ONLY' });
});

test('P145 a wrong passphrase confirms nothing, is recorded, and is not in the record', async () => {
  const world = await withPassphrase();
  const { engine, shell } = world;
  const what = await required(engine, shell, 'obol.mint', mint(world));
  const wrong = 'Grüße an den Fest';
  await expect(engine.commands.confirm(what, wrong, shell)).rejects.toMatchObject({
    code: 'CONFIRMATION_REFUSED',
    kind: 'denied',
  });
  const entries = await engine.entries();
  expect(entries.at(-1)).toMatchObject({
    ...{ command: 'owner.confirm', door: 'owner_socket', outcome: 'denied CONFIRMATION_REFUSED' },
    ...{ object_ids: ['obol.mint'], request_digest: what.inputDigest },
  });
  expect(JSON.stringify(entries)).not.toContain(wrong);
});

test('P145 a setting that was altered lets nothing through but the desk, which sets it anew', async () => {
  const world = await withPassphrase();
  const { engine, shell } = world;
  const files = connect(engine.paths.charonDb, { readOnly: false, mustExist: true });
  files.exec("UPDATE settings SET value = 'off' WHERE name = 'owner_confirm'");
  files.close();
  expect((await engine.refusal(shell, 'obol.mint', mint(world))).code).toBe('CONFIRMATION_UNVERIFIED');
  const what = { command: 'obol.mint', inputDigest: 'a'.repeat(64) };
  await expect(engine.commands.confirm(what, passphrase, shell)).rejects.toMatchObject({
    code: 'CONFIRMATION_UNVERIFIED',
    kind: 'denied',
  });
  expect(await engine.run(shell, 'owner.confirmation', {})).toEqual({
    owner_confirm: 'passphrase',
    passphrase_set: false,
  });
  const turnOff = { owner_confirm: 'off' } as const;
  expect((await engine.refusal(shell, 'owner.set_confirmation', turnOff)).code).toBe('CONFIRMATION_UNVERIFIED');
  expect(await engine.run(engine.owner, 'owner.set_confirmation', turnOff)).toEqual({
    owner_confirm: 'off',
    passphrase_set: false,
  });
  await engine.run(shell, 'obol.mint', mint(world));
});

test('P146 how acts are confirmed is changed on record; outside the desk with the present passphrase', async () => {
  const world = await powerWorld();
  const { engine, shell } = world;
  for (const input of [
    { owner_confirm: 'passphrase' },
    { owner_confirm: 'passphrase', passphrase: 'elf letters' },
    { owner_confirm: 'off', passphrase },
  ])
    expect((await engine.refusal(shell, 'owner.set_confirmation', input)).code).toBe('INPUT_INVALID');
  const off = { owner_confirm: 'off', passphrase_set: false };
  expect(await engine.run(shell, 'owner.set_confirmation', { owner_confirm: 'off' })).toEqual(off);
  await engine.charon.word.setConfirmation('passphrase', passphrase, cheap);
  const change = { owner_confirm: 'passphrase', passphrase: 'another one, longer' } as const;
  const what = await required(engine, shell, 'owner.set_confirmation', change);
  const { confirmation } = await engine.commands.confirm(what, passphrase, shell);
  await repeat(engine, shell, 'owner.set_confirmation', change, confirmation);
  const next = await engine.reopen();
  await required(next, shellOf(next), 'setting.set_owner_self_merge', { on: false });
  const recovered = await next.reopen({ recovery: true });
  expect((await recovered.refusal(shellOf(recovered), 'obol.mint', mint(world))).code).toBe('READ_ONLY');
});

test('P144 a passphrase in an input is shown nowhere, and no digest is taken over it', async () => {
  const world = await powerWorld();
  const { engine, shell } = world;
  engine.commands.attachDesk();
  const asked = ask(engine, shell, 'owner.set_confirmation', { owner_confirm: 'passphrase', passphrase });
  await asked.waits;
  const request = await theRequest(engine);
  expect(request).toMatchObject({
    command_line: 'charon owner confirm passphrase',
    input_json: '{"owner_confirm":"passphrase","passphrase":"(not shown)"}',
  });
  await engine.run(engine.owner, 'owner_request.decide', { request_id: request.request_id, decision: 'refuse' });
  await expect(asked.answer).rejects.toMatchObject({ code: 'OWNER_REFUSED' });
  // One that is refused for its form is recorded too, under a digest that says as little.
  const short = { owner_confirm: 'passphrase', passphrase: 'short' };
  expect((await engine.refusal(shell, 'owner.set_confirmation', short)).code).toBe('INPUT_INVALID');
  const told = (await engine.entries()).filter(({ command }) => command === 'owner.set_confirmation');
  expect(new Set(told.map((entry) => entry.request_digest))).toEqual(new Set([sha256Hex(request.input_json)]));
  expect(told).toHaveLength(3);
});

test('P144 what is shown hides nothing, and its digest is that of the record', async () => {
  const world = await powerWorld();
  const { engine, shell, proposed } = world;
  engine.commands.attachDesk();
  const hostile = 'fine\u202e\u200b\u001b[2J\u0007\n--yes \u{e0041}\ud800';
  const review = {
    ...{ proposal_id: proposed.proposal_id, verdict: 'reject', comment: hostile },
    ...{ proposal_digest: proposed.proposal_digest, target_head: proposed.target_head },
  };
  const asked = ask(engine, shell, 'memory.merge_review', review);
  await asked.waits;
  const request = await theRequest(engine);
  expect(`${request.command_line}${request.input_json}`).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
  expect(request.command_line).toContain(`--comment 'fine\\u{202e}\\u{200b}\\u{1b}[2J\\u{7}\\u{a}--yes \\u{e0041}`);
  expect(JSON.parse(request.input_json)).toEqual({ ...review, comment: hostile.toWellFormed() });
  await engine.run(engine.owner, 'owner_request.decide', { request_id: request.request_id, decision: 'allow' });
  await asked.answer;
  const [entry] = (await engine.entries()).filter(
    ({ phase, command }) => phase === 'intent' && command === 'memory.merge_review',
  );
  expect(entry?.request_digest).toBe(inputDigest({ ...review, comment: hostile }));
});

test('P144 the command line shown is the one that asks for the same', () => {
  const lineOf = (name: CommandName, input: unknown): string => commandLineOf(rowOf(name), input);
  const id = '00000000-0000-4000-8000-000000000000';
  const merge = { proposal_id: id, idempotency_key: "it's" };
  expect(lineOf('memory.merge', merge)).toBe(`charon proposal merge ${id} --key 'it'\\''s'`);
  const agent = { name: 'my agent; rm -rf ~', profile: 'review', project: '*' };
  expect(lineOf('principal.reconcile', agent)).toBe("charon principal reconcile 'my agent; rm -rf ~' review '*'");
  expect(lineOf('principal.set_enabled', { principal_id: 'p', enabled: false })).toBe('charon principal disable p');
  expect(lineOf('obol.mint', { principal_id: 'p', expires_ms: null })).toBe('charon obol mint p --expires never');
  expect(lineOf('obol.mint', { principal_id: 'p', expires_ms: 43_200_000 })).toBe('charon obol mint p --expires 12h');
  expect(lineOf('key.rotate', { key: 'obol', drop_earlier: true })).toBe(
    'charon keys rotate obol --drop-earlier --yes',
  );
  expect(lineOf('key.rotate', { key: 'obol', drop_earlier: false })).toBe('charon keys rotate obol --yes');
  // What no verb says is not left out of the line: then it is the command itself with the whole input.
  const odd = { principal_id: 'p', expires_ms: 61_001 };
  expect(lineOf('obol.mint', odd)).toBe(`obol.mint '{"expires_ms":61001,"principal_id":"p"}'`);
  const severe = { proposal_id: id, verdict: 'reject', severity: 'blocking' };
  expect(lineOf('memory.merge_review', severe)).toMatch(/^memory\.merge_review '\{.*"severity":"blocking"/);
  expect(lineOf('setting.set_owner_self_merge', { on: true })).toBe(`setting.set_owner_self_merge '{"on":true}'`);
});

test('P147 what was done outside the desk is listed with how it was confirmed, until it was seen there', async () => {
  const world = await withPassphrase();
  const { engine, shell, files } = world;
  const minted = async (caller: Caller): Promise<void> => {
    const what = await required(engine, caller, 'obol.mint', mint(world));
    const { confirmation } = await engine.commands.confirm(what, passphrase, caller);
    await repeat(engine, caller, 'obol.mint', mint(world), confirmation);
  };
  await minted(files);
  await minted(shell);
  await engine.run(engine.owner, 'owner.set_confirmation', { owner_confirm: 'off' });
  await engine.run(shell, 'setting.set_owner_self_merge', { on: false });
  const detach = engine.commands.attachDesk();
  const asked = ask(engine, shell, 'obol.mint', mint(world));
  await asked.waits;
  const { request_id: id } = await theRequest(engine);
  await engine.run(engine.owner, 'owner_request.decide', { request_id: id, decision: 'allow' });
  await asked.answer;
  const refused = ask(engine, shell, 'obol.revoke', { obol_id: world.agent.credential.id });
  await refused.waits;
  const second = (await theRequest(engine)).request_id;
  await engine.run(engine.owner, 'owner_request.decide', { request_id: second, decision: 'refuse' });
  await refused.answer.catch(() => undefined);
  detach();

  const listed = await engine.run(shell, 'audit.acts_of_power', { since: 'last_seen' });
  const row = ({ command, door, confirmed, outcome }: (typeof listed.acts)[number]) => [
    command,
    door,
    confirmed,
    outcome,
  ];
  expect(listed.acts.map(row)).toEqual([
    ['obol.mint', 'owner_socket', 'desk', 'ok'],
    ['setting.set_owner_self_merge', 'owner_socket', 'off', 'ok'],
    ['obol.mint', 'owner_socket', 'passphrase', 'ok'],
    ['obol.mint', 'files', 'passphrase', 'ok'],
  ]);
  expect(listed).toMatchObject({ seen_through: 0, acts: [{ title: 'Mint a token' }, {}, {}, {}] });

  const page = await engine.run(shell, 'audit.acts_of_power', { since: 0, limit: 3 });
  const cursor = page.next_cursor ?? '';
  const rest = await engine.run(shell, 'audit.acts_of_power', { since: 0, limit: 3, cursor });
  expect([...page.acts, ...rest.acts]).toEqual(listed.acts);
  expect(rest.next_cursor).toBeUndefined();
  for (const other of [
    { since: 'last_seen', cursor },
    { since: 1, cursor },
    { since: 0, cursor: 'x' },
  ])
    expect((await engine.refusal(shell, 'audit.acts_of_power', other)).code).toBe('CURSOR_INVALID');

  const seen = { through_seq: listed.acts[1]?.seq ?? 0 };
  for (const caller of [shell, files])
    expect((await engine.refusal(caller, 'audit.acts_seen', seen)).code).toBe('DESK_ONLY');
  expect(await engine.run(engine.owner, 'audit.acts_seen', seen)).toEqual({ seen_through: seen.through_seq });
  expect(await engine.run(engine.owner, 'audit.acts_seen', { through_seq: 1 })).toEqual({
    seen_through: seen.through_seq,
  });
  const left = await engine.run(engine.owner, 'audit.acts_of_power', { since: 'last_seen' });
  expect(left.acts).toEqual(listed.acts.slice(0, 1));
  expect(await engine.run(engine.owner, 'audit.verify', {})).toMatchObject({ ok: true });
  const next = await engine.reopen();
  expect((await next.run(next.owner, 'audit.acts_of_power', { since: 'last_seen' })).acts).toEqual(left.acts);
});

test('P148 opening the owner page is an act of power, in recovery too', async () => {
  const world = await powerWorld();
  const { engine, shell } = world;
  const opened = { url: 'http://127.0.0.1:1/#code=x' };
  expect(await engine.run(shell, 'owner_page.open', {})).toEqual(opened);
  await engine.charon.word.setConfirmation('passphrase', passphrase, cheap);
  const recovered = await engine.reopen({ recovery: true, ownerPage: true });
  const caller = shellOf(recovered);
  const what = await required(recovered, caller, 'owner_page.open', {});
  for (let wrong = 0; wrong < 5; wrong += 1)
    await expect(recovered.commands.confirm(what, 'a wrong one', caller)).rejects.toMatchObject({
      code: 'CONFIRMATION_REFUSED',
    });
  await expect(recovered.commands.confirm(what, passphrase, caller)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  recovered.clock.advance(60_000);
  const { confirmation } = await recovered.commands.confirm(what, passphrase, caller);
  expect(await repeat(recovered, caller, 'owner_page.open', {}, confirmation)).toEqual(opened);
  recovered.commands.attachDesk();
  const asked = ask(recovered, caller, 'owner_page.open', {});
  await asked.waits;
  const { request_id: id } = await theRequest(recovered);
  await recovered.run(recovered.owner, 'owner_request.decide', { request_id: id, decision: 'allow' });
  expect(await asked.answer).toEqual(opened);
  const { acts } = await recovered.run(recovered.owner, 'audit.acts_of_power', { since: 'last_seen' });
  expect(acts.map(({ command, confirmed }) => [command, confirmed])).toEqual([
    ['owner_page.open', 'desk'],
    ['owner_page.open', 'passphrase'],
    ['owner_page.open', 'off'],
  ]);
  expect((await recovered.refusal(recovered.owner, 'audit.acts_seen', { through_seq: 1 })).code).toBe('READ_ONLY');
  const without = await recovered.reopen();
  expect((await without.refusal(shellOf(without), 'owner_page.open', {})).code).toBe('STATE_NOT_FOUND');
});
