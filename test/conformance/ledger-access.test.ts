import { createPublicKey } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { agentIdOf } from '../../src-main/charon/rules/agent-id.ts';
import { principalIdSchema } from '../../src-preload/contract/ids.ts';
import { openLedgerDoor, type Seen } from './ledger-door.ts';

const dayMs = 86_400_000;
const bot = { agent_name: 'bot-1', owner_identifier: 'mia@example.org', agree_to_terms: true };
/** The key of the protocol's vector. */
const spki = 'MCowBQYDK2VwAyEAIHoGeJKCHiXXcPH7oMR8Ef9LgT5UFi7Onrg54HYjGrY=';
const raw = Buffer.from(spki, 'base64').subarray(12).toString('base64');

function refused(seen: Seen): readonly [number, string] {
  return [seen.status, seen.value.error_code];
}

async function waiting(door: Awaited<ReturnType<typeof openLedgerDoor>>) {
  const { registrations } = await door.owner('registration.list', { waiting: true });
  return registrations;
}

describe('registering', () => {
  test('T140 an agent waits, is let in by the owner, and fetches its key once', async () => {
    const door = await openLedgerDoor();
    const told: string[] = [];
    door.app.commands.subscribe(({ kind }) => told.push(kind));
    const asked = await door.ask('', 'POST', '/v1/register', { ...bot, passport_public_key: spki });
    expect(asked.status).toBe(202);
    expect(asked.value).toMatchObject({ status: 'pending', retry_after: 5 });
    const { registration_id: id, poll_token: poll } = asked.value;
    const look = (token = poll) => door.ask(token, 'GET', `/v1/register/${id}`);
    expect([(await look()).status, (await look()).value.status]).toEqual([202, 'pending']);
    expect(await waiting(door)).toMatchObject([
      { registration_id: id, agent_name: 'bot-1', did: expect.stringMatching(/^did:key:z6Mk/) },
    ]);

    const approved = await door.owner('registration.approve', { registration_id: id });
    expect(approved.status).toBe('approved');
    expect(await waiting(door)).toEqual([]);
    const [first, second] = await Promise.all([look(), look()]);
    expect([first.status, second.status]).toEqual([201, 201]);
    const keys = [first.value.api_key, second.value.api_key].filter((key) => key !== null);
    expect(keys).toEqual([expect.stringMatching(/^ltx_[0-9a-f]{16}_[A-Za-z0-9_-]{43}$/)]);
    expect((await look()).value).toMatchObject({ api_key: null, message: expect.stringContaining('ltx mint') });
    const custody = { state: 'open', current_epoch: 1, current_custodian: bot.owner_identifier, transfer_count: 0 };
    expect(first.value.passport).toMatchObject({ public_key: raw, revoked: false, custody });

    const me = await door.ask(keys[0], 'GET', '/v1/me');
    expect(me.value).toMatchObject({
      agent_id: first.value.agent_id,
      agent_name: 'bot-1',
      owner_identifier: bot.owner_identifier,
      key: { kind: 'root' },
      passport: { revoked: false },
    });
    expect(me.value.agent_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect((await door.ask(keys[0], 'PUT', '/v1/memory/k', { value: 1 })).status).toBe(200);
    const kinds = ['registration_changed', 'principal_changed', 'ledger_changed', 'agent_called'];
    expect(told).toEqual(expect.arrayContaining(kinds));
    const { principals } = await door.owner('principal.list', {});
    const made = principals.find(({ name }) => name === 'bot-1');
    expect(made).toMatchObject({ profile: 'propose', grants: [] });
    expect(agentIdOf(principalIdSchema.parse(made?.principal_id))).toBe(first.value.agent_id);
  });

  test('T140 refused is 403, a day of waiting 410, a foreign or missing poll token 401', async () => {
    const door = await openLedgerDoor();
    const ask = async (name: string) =>
      (await door.ask('', 'POST', '/v1/register', { ...bot, agent_name: name })).value;
    const [no, late, unfetched] = [await ask('no'), await ask('late'), await ask('unfetched')];
    await door.owner('registration.refuse', { registration_id: no.registration_id });
    await door.owner('registration.approve', { registration_id: unfetched.registration_id });
    const look = (of: typeof no, token = of.poll_token) => door.ask(token, 'GET', `/v1/register/${of.registration_id}`);
    expect(refused(await look(no))).toEqual([403, 'REGISTRATION_REFUSED']);
    for (const token of ['', 'ltx_poll_bad', late.poll_token])
      expect(refused(await look(no, token))).toEqual([401, 'INVALID_API_KEY']);
    expect(refused(await door.ask(no.poll_token, 'GET', '/v1/register/00000000-0000-7000-8000-000000000000'))).toEqual([
      401,
      'INVALID_API_KEY',
    ]);
    door.clock.advance(dayMs);
    for (const of of [late, unfetched]) expect(refused(await look(of))).toEqual([410, 'REGISTRATION_EXPIRED']);
    expect(await waiting(door)).toEqual([]);
    await expect(door.owner('registration.approve', { registration_id: late.registration_id })).rejects.toMatchObject({
      code: 'REGISTRATION_STATE',
    });
    expect((await door.ask('', 'POST', '/v1/register', { ...bot, agent_name: 'late' })).status).toBe(202);
    expect((await door.ask('', 'POST', '/v1/register', { ...bot, agent_name: 'no' })).status).toBe(202);
  });

  test('T140 the same name and owner is 409, twenty may wait, and what is wrong is named', async () => {
    const door = await openLedgerDoor();
    expect((await door.ask('', 'POST', '/v1/register', bot)).status).toBe(202);
    expect(refused(await door.ask('', 'POST', '/v1/register', bot))).toEqual([409, 'AGENT_ALREADY_EXISTS']);
    expect((await door.ask('', 'POST', '/v1/register', { ...bot, owner_identifier: 'other' })).status).toBe(202);
    for (let count = 2; count < 20; count += 1)
      expect((await door.ask('', 'POST', '/v1/register', { ...bot, agent_name: `b${count}` })).status).toBe(202);
    const over = await door.ask('', 'POST', '/v1/register', { ...bot, agent_name: 'over' });
    expect([...refused(over), over.headers['retry-after']]).toEqual([429, 'RATE_LIMIT_EXCEEDED', '3600']);
    await door.owner('registration.set_open', { open: true });
    expect((await door.ask('', 'POST', '/v1/register', { ...bot, agent_name: 'let-in' })).status).toBe(201);
    await door.owner('registration.set_open', { open: false });
    door.clock.advance(1_000);
    const wrong: readonly (readonly [object, string])[] = [
      [{ ...bot, agent_name: 'a b' }, 'agent_name'],
      [{ ...bot, agree_to_terms: false }, 'agree_to_terms'],
      [{ ...bot, owner_identifier: '' }, 'owner_identifier'],
      [{ ...bot, passport_public_key: 'AAAA' }, 'passport_public_key'],
      [{ ...bot, more: 1 }, 'more'],
    ];
    for (const [body, field] of wrong) {
      const seen = await door.ask('', 'POST', '/v1/register', body);
      expect([...refused(seen), seen.value.fields[0].field]).toEqual([422, 'VALIDATION_ERROR', field]);
    }
  });

  test('T140 where the owner has said so an agent is let in at once, with PEM or raw key', async () => {
    const door = await openLedgerDoor();
    await door.owner('registration.set_open', { open: true });
    const der = createPublicKey({ key: Buffer.from(spki, 'base64'), format: 'der', type: 'spki' });
    const pem = der.export({ format: 'pem', type: 'spki' }).toString();
    for (const [index, key] of [pem, raw, spki].entries()) {
      const request = { ...bot, agent_name: `open-${index}`, passport_public_key: key };
      const { status, value } = await door.ask('', 'POST', '/v1/register', request);
      expect([status, value.passport.public_key, value.passport.custody.current_epoch]).toEqual([201, raw, 1]);
      expect((await door.ask(value.api_key, 'GET', '/v1/memory')).status).toBe(200);
    }
    await door.owner('registration.set_open', { open: false });
    expect((await door.ask('', 'POST', '/v1/register', { ...bot, agent_name: 'asked' })).status).toBe(202);
  });
});

describe('keys', () => {
  test('T141 no key, a bad one and one of a disabled agent are 401; a revoked one is told so', async () => {
    const door = await openLedgerDoor();
    const agent = await door.agent('one');
    const other = await (await openLedgerDoor()).agent('one');
    for (const token of ['', 'x', 'ltx_0', `${agent.token}x`, agent.token.replace('ltx_', 'ltx_sub_'), other.token]) {
      const seen = await door.ask(token, 'GET', '/v1/memory');
      expect([...refused(seen), seen.headers['www-authenticate']]).toEqual([
        401,
        'INVALID_API_KEY',
        'Bearer realm="Memory Git"',
      ]);
    }
    const { keys } = await door.owner('ltx.list', { agent: agent.principalId });
    await door.owner('principal.set_enabled', { principal_id: agent.principalId, enabled: false });
    expect(refused(await agent.get('/memory'))).toEqual([401, 'INVALID_API_KEY']);
    await door.owner('principal.set_enabled', { principal_id: agent.principalId, enabled: true });
    expect((await agent.get('/memory')).status).toBe(200);
    await door.owner('ltx.revoke', { key_id: keys[0]?.key_id ?? '' });
    expect(refused(await agent.get('/memory'))).toEqual([401, 'KEY_REVOKED']);
    expect(refused(await door.ask(`${agent.token.slice(0, -1)}!`, 'GET', '/v1/memory'))).toEqual([
      401,
      'INVALID_API_KEY',
    ]);
  });

  test('T141 a sub key does what its kind says: read, memory, full; the rest needs the root key', async () => {
    const door = await openLedgerDoor();
    const kinds = ['root', 'full', 'memory', 'read'] as const;
    const allowed: Record<(typeof kinds)[number], readonly number[]> = {
      root: [200, 200, 200, 404],
      full: [200, 200, 200, 403],
      memory: [200, 200, 403, 403],
      read: [200, 403, 403, 403],
    };
    for (const kind of kinds) {
      const agent = await door.agent(`agent-${kind}`, kind);
      expect(agent.token).toMatch(kind === 'root' ? /^ltx_[0-9a-f]{16}_/ : /^ltx_sub_[0-9a-f]{16}_/);
      const seen = [
        await agent.get('/memory'),
        await agent.put('/memory/k', { value: 1 }),
        await agent.get('/me'),
        await agent.get('/me/consolidation-policy'),
      ];
      expect([kind, ...seen.map(({ status }) => status)]).toEqual([kind, ...allowed[kind]]);
      const refusals = seen.filter(({ status }) => status === 403).map(({ value }) => value.error_code);
      for (const code of refusals) expect(['INSUFFICIENT_KEY_SCOPE', 'ROOT_KEY_REQUIRED']).toContain(code);
      if (kind !== 'root') expect(refused(await agent.post('/keys/rotate'))).toEqual([403, 'ROOT_KEY_REQUIRED']);
    }
  });

  test('T141 rotating gives a new root key and ends the old one, once', async () => {
    const door = await openLedgerDoor();
    const agent = await door.agent('one');
    await agent.put('/memory/k', { value: 'kept' });
    const both = await Promise.all([agent.post('/keys/rotate'), agent.post('/keys/rotate', {})]);
    const [done] = both.filter(({ status }) => status === 200);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401]);
    expect(refused(await agent.get('/memory/k'))).toEqual([401, 'KEY_REVOKED']);
    expect((await door.ask(done?.value.api_key, 'GET', '/v1/memory/k')).value.value).toBe('kept');
  });

  test('T141 an obol is taken too, for the keys of its own principal; it is no root key', async () => {
    const door = await openLedgerDoor();
    const agent = await door.agent('one');
    await agent.put('/memory/k', { value: 1 });
    const { token } = await door.owner('obol.mint', { principal_id: agent.principalId });
    expect((await door.ask(token, 'GET', '/v1/memory/k')).value.value).toBe(1);
    expect((await door.ask(token, 'GET', '/v1/me')).value.key.kind).toBe('obol');
    expect(refused(await door.ask(token, 'POST', '/v1/keys/rotate'))).toEqual([403, 'ROOT_KEY_REQUIRED']);
    await door.owner('principal.reconcile', { name: 'reader', profile: 'readonly', project: 'demo' });
    const { principals } = await door.owner('principal.list', {});
    const reader = principals.find(({ name }) => name === 'reader')?.principal_id ?? '';
    const reading = (await door.owner('obol.mint', { principal_id: reader })).token;
    expect(refused(await door.ask(reading, 'PUT', '/v1/memory/k', { value: 1 }))).toEqual([
      403,
      'INSUFFICIENT_KEY_SCOPE',
    ]);
  });

  test('T142 beyond its rate an agent is 429 with Retry-After, and so are strangers among themselves', async () => {
    const door = await openLedgerDoor();
    const agent = await door.agent('one');
    const asked = await Promise.all(Array.from({ length: 60 }, () => door.ask('', 'POST', '/v1/register', {})));
    const over = asked.filter(({ status }) => status === 429);
    expect(over.length).toBe(20);
    expect(over[0]?.headers['retry-after']).toBe('1');
    expect(over[0]?.value.error_code).toBe('RATE_LIMIT_EXCEEDED');
    expect((await agent.get('/memory')).status).toBe(200);
  });
});

describe('what is left behind', () => {
  test('T143 every mutation has an intent and an outcome, which name the key by a digest, and no value', async () => {
    const door = await openLedgerDoor();
    const agent = await door.agent('one');
    await agent.put('/memory/secret-key', { value: 'secret value', source: 'secret source' });
    await agent.get('/memory/secret-key');
    await agent.del('/memory/secret-key');
    await agent.del('/memory/secret-key');
    await door.ask('', 'POST', '/v1/register', bot);
    await agent.post('/keys/rotate');
    await (await door.agent('two', 'full')).post('/keys/rotate');
    const { entries } = await door.owner('audit.tail', { limit: 500 });
    expect(JSON.stringify(entries)).not.toMatch(/secret/);
    const told = (command: string): unknown[] =>
      entries
        .filter((entry) => entry.command === command)
        .map(({ phase, outcome, credential_id: id }) => [phase, outcome, id.replace(/[0-9a-f]{16}$/, '')])
        .reverse();
    expect(told('ledger.put')).toEqual([
      ['intent', '', 'ltx_'],
      ['outcome', 'ok', 'ltx_'],
    ]);
    expect(told('ledger.delete').map((entry) => entry)).toHaveLength(4);
    expect(told('lithtrix.memory_get')).toEqual([['outcome', 'ok', 'ltx_']]);
    expect(told('ledger.register')).toEqual([
      ['intent', '', ''],
      ['outcome', 'ok', ''],
    ]);
    expect(told('ledger.rotate_key')).toHaveLength(2);
    expect(told('ledger POST keys/rotate')).toEqual([['outcome', 'denied ROOT_KEY_REQUIRED', 'ltx_sub_']]);
    const put = entries.find((entry) => entry.command === 'ledger.put');
    expect(put?.credential_kind).toBe('ltx');
    expect(put?.object_ids).toEqual([
      agentIdOf(principalIdSchema.parse(agent.principalId)),
      expect.stringMatching(/^key:[0-9a-f]{32}$/),
      'version:1',
    ]);
    expect((await door.owner('ltx.list', { agent: agent.principalId })).keys.at(-1)).toMatchObject({
      revoked_at: expect.any(String),
      last_used_at: expect.any(String),
    });
  });

  test('T143 in recovery everything is read and every write is 503', async () => {
    const door = await openLedgerDoor();
    const agent = await door.agent('one');
    await agent.put('/memory/k', { value: 'kept' });
    const again = await door.reopen({ CHARON_RECOVERY_READONLY: '1', LETHE_RECOVERY_READONLY: '1' });
    const ask = (method: string, path: string, body?: unknown) => again.ask(agent.token, method, path, body);
    expect((await ask('GET', '/v1/memory/k')).value.value).toBe('kept');
    expect((await ask('GET', '/v1/memory/search?q=kept')).value.count).toBe(1);
    expect((await ask('GET', '/v1/memory')).value.total).toBe(1);
    for (const [method, path, body] of [
      ['PUT', '/v1/memory/k', { value: 2 }],
      ['DELETE', '/v1/memory/k'],
      ['POST', '/v1/keys/rotate'],
      ['POST', '/v1/register', bot],
    ] as const)
      expect([path, ...refused(await ask(method, path, body))]).toEqual([path, 503, 'MEMORY_LEDGER_UNAVAILABLE']);
  });

  test('T143 a full disk and a spent day stop writes, each with a code of its own; nothing is half written', async () => {
    const door = await openLedgerDoor();
    const agent = await door.agent('one');
    await agent.put('/memory/k', { value: 'kept' });
    const withLimits = (from: typeof door, limits: Record<string, number>) => {
      writeFileSync(join(from.app.home, 'settings.json'), JSON.stringify({ limits }), { mode: 0o600 });
      return from.reopen();
    };
    const full = await withLimits(door, { free_disk_bytes: Number.MAX_SAFE_INTEGER });
    for (const [method, body] of [['PUT', { value: 2 }], ['DELETE']] as const)
      expect(refused(await full.ask(agent.token, method, '/v1/memory/k', body))).toEqual([
        503,
        'MEMORY_LEDGER_UNAVAILABLE',
      ]);
    expect((await full.ask(agent.token, 'GET', '/v1/memory/k')).value.version).toBe(1);
    const spent = await withLimits(full, { payload_bytes_per_day: 1 });
    const over = await spent.ask(agent.token, 'PUT', '/v1/memory/k', { value: 2 });
    expect([...refused(over), Number(over.headers['retry-after']) > 0]).toEqual([429, 'MEMORY_OPS_LIMIT', true]);
    expect((await spent.ask(agent.token, 'GET', '/v1/memory/stats')).value.ledger_rows).toBe(1);
  });
});
