import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSigner } from '../../src-main/canonical/signature.ts';
import type { MintedKey } from '../../src-main/charon/ltx-api.ts';
import { charonMigrations } from '../../src-main/charon/migrations/list.ts';
import { agentIdOf, principalIdOf } from '../../src-main/charon/rules/agent-id.ts';
import { signInMessage } from '../../src-main/charon/rules/passport-challenge.ts';
import { didOf, readPublicKey } from '../../src-main/charon/rules/passport-key.ts';
import { openStore } from '../../src-main/sqlite/open.ts';
import { principalIdSchema } from '../../src-preload/contract/ids.ts';
import type { LtxKeyKind, RegisterRequest } from '../../src-preload/contract/ltx.ts';
import { fakeClock, seededIds } from '../support/history-builder.ts';
import { tempFolder } from '../support/temp-home.ts';
import { type CharonWorld, codeOf, makePrincipal, openWorld, seededKey } from './charon-world.ts';

let world: CharonWorld;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.remove());

const signer = createSigner(seededKey('passport'));
const publicKey = Buffer.from(signer.publicKey, 'base64url').toString('base64');

function request(name: string, more: Partial<RegisterRequest> = {}): RegisterRequest {
  return { agent_name: name, owner_identifier: 'mia', agree_to_terms: true, ...more };
}

async function mint(
  name: string,
  kind: LtxKeyKind,
  profile: 'readonly' | 'propose' | 'review' = 'propose',
): Promise<MintedKey> {
  const { principal_id: principalId } = await makePrincipal(world, name, profile);
  return world.charon.ltx.mintKey({ principalId, kind });
}

/** An agent that was let in with a passport, and a session of it. */
async function signedIn() {
  const { ltx } = world.charon;
  const asked = await ltx.register(request('holder', { passport_public_key: publicKey }));
  const { principal_id: agent } = await ltx.approveRegistration(asked.registration.registration_id);
  const principalId = principalIdSchema.parse(agent);
  const challenge = await ltx.challenge(principalId);
  const signature = Buffer.from(signer.sign(signInMessage(challenge)), 'base64url').toString('base64');
  const session = await ltx.signIn(principalId, { challengeId: challenge.challenge_id, signature });
  return { asked, principalId, challenge, session };
}

test('C130 an agent id is a UUIDv4 of its principal, and of no other', () => {
  const ids = seededIds('agents');
  for (let count = 0; count < 200; count += 1) {
    const principalId = principalIdSchema.parse(`principal_${ids.randomBytes(8).toString('hex')}`);
    const agentId = agentIdOf(principalId);
    expect(agentId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect([principalIdOf(agentId), principalIdOf(agentId.toUpperCase()), principalIdOf(principalId)]).toEqual(
      Array(3).fill(principalId),
    );
    const last = agentId.endsWith('0') ? '1' : '0';
    expect(principalIdOf(`${agentId.slice(0, -1)}${last}`)).toBeUndefined();
  }
  for (const text of ['', 'x', 'principal_', '550e8400-e29b-41d4-a716-446655440000'])
    expect(principalIdOf(text)).toBeUndefined();
});

test('C131 no file holds a key, a session or a poll token; each opens what it was made for and nothing else', async () => {
  const { charon } = world;
  const { key, token } = await mint('one', 'root');
  const sub = await mint('two', 'memory');
  const { asked, principalId, session } = await signedIn();
  const poll = asked.kind === 'pending' ? asked.pollToken : '';
  const caller = charon.authenticate(token, 'agent');
  expect(caller).toMatchObject({
    principal: { name: 'one' },
    credential: { kind: 'ltx', id: key.key_id, key: 'root' },
  });
  expect(charon.authenticate(session.token, 'agent')).toMatchObject({
    principal: { principal_id: principalId },
    credential: { key: 'session' },
  });
  const bad = [
    '',
    'ltx_',
    `${token}x`,
    token.replace('ltx_', 'ltx_sub_'),
    sub.token.replace('ltx_sub_', 'ltx_'),
    session.token.replace('ltx_session_', 'ltx_'),
    poll,
    poll.replace('ltx_poll_', 'ltx_'),
    `ltx_${'0'.repeat(16)}_${'A'.repeat(43)}`,
  ];
  for (const text of bad) expect([text, charon.authenticate(text, 'agent')]).toEqual([text, undefined]);
  const elsewhere = await openWorld({ ids: seededIds('elsewhere') });
  expect(elsewhere.charon.authenticate(token, 'agent')).toBeUndefined();
  await elsewhere.remove();
  await charon.audit.flush();
  for (const file of [world.path, `${world.path}-wal`]) {
    const bytes = readFileSync(file).toString('latin1');
    for (const secret of [token, sub.token, session.token, poll]) expect(bytes.includes(secret.slice(-43))).toBe(false);
  }
});

test('C131 a revoked key and a disabled principal are as unknown as a bad key; only the holder hears of the revocation', async () => {
  const { charon } = world;
  const { key, token } = await mint('one', 'root');
  await charon.setPrincipalEnabled(key.principal_id, false);
  expect(charon.authenticate(token, 'agent')).toBeUndefined();
  expect(await codeOf(charon.ltx.mintKey({ principalId: key.principal_id, kind: 'root' }))).toBe('PRINCIPAL_DISABLED');
  await charon.setPrincipalEnabled(key.principal_id, true);
  expect(charon.ltx.wasRevoked(token)).toBe(false);
  const revoked = await charon.ltx.revokeKey(key.key_id);
  world.clock.advance(5_000);
  expect(await charon.ltx.revokeKey(key.key_id)).toEqual(revoked);
  expect([charon.authenticate(token, 'agent'), charon.ltx.wasRevoked(token)]).toEqual([undefined, true]);
  expect(charon.ltx.wasRevoked(`${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`)).toBe(false);
  expect(await codeOf(charon.ltx.mintKey({ principalId: charon.owner().principal_id, kind: 'root' }))).toBe(
    'OWNER_ONLY',
  );
});

test('C132 a key has what its kind and its profile both allow, and nothing but the ledger', async () => {
  const both = ['ledger.read', 'ledger.write'];
  const cases: readonly (readonly [LtxKeyKind, 'readonly' | 'propose' | 'review', readonly string[]])[] = [
    ['root', 'propose', both],
    ['full', 'propose', both],
    ['memory', 'propose', both],
    ['read', 'propose', ['ledger.read']],
    ['root', 'readonly', ['ledger.read']],
    ['root', 'review', ['ledger.read']],
  ];
  for (const [kind, profile, scopes] of cases) {
    const { token } = await mint(`${kind} ${profile}`, kind, profile);
    expect([kind, profile, world.charon.authenticate(token, 'agent')?.scopes]).toEqual([kind, profile, scopes]);
  }
});

test('C133 keys, passports and registrations stay what they are, also in the file', async () => {
  await mint('one', 'root');
  const { principalId } = await signedIn();
  await world.charon.ltx.revokePassport(principalId);
  const refused = [
    "UPDATE ltx_keys SET kind = 'read'",
    "UPDATE ltx_keys SET token_mac = substr(token_mac, 2) || '0'",
    'DELETE FROM ltx_keys',
    'UPDATE ltx_sessions SET expires_ms = 9e15',
    "UPDATE passports SET public_key = substr(public_key, 2) || '='",
    'UPDATE passports SET revoked_at = NULL',
    'DELETE FROM passports',
    'UPDATE passport_challenges SET burnt = 0',
    'UPDATE passport_challenges SET expires_ms = 9e15',
    "UPDATE registrations SET status = 'pending', principal_id = NULL, decided_at = NULL",
    "UPDATE registrations SET agent_name = 'other'",
    'DELETE FROM registrations',
  ];
  world.withDb((db) => {
    for (const sql of refused) expect(() => db.exec(sql), sql).toThrow();
  });
});

test('C134 a registration is decided once; a name that is taken gets a number', async () => {
  const { ltx } = world.charon;
  await makePrincipal(world, 'bot', 'propose');
  const names: string[] = [];
  for (const owner of ['mia', 'ana']) {
    const { registration } = await ltx.register(request('bot', { owner_identifier: owner }));
    expect(await codeOf(ltx.register(request('bot', { owner_identifier: owner })))).toBe('AGENT_ALREADY_EXISTS');
    const { principal_id: agent } = await ltx.approveRegistration(registration.registration_id);
    names.push(world.charon.findPrincipal(agent ?? '')?.name ?? '');
    for (const again of [ltx.approveRegistration, ltx.refuseRegistration])
      expect(await codeOf(again(registration.registration_id))).toBe('REGISTRATION_STATE');
    expect(await codeOf(ltx.register(request('bot', { owner_identifier: owner })))).toBe('AGENT_ALREADY_EXISTS');
  }
  expect(names).toEqual(['bot-2', 'bot-3']);
  for (let count = 4; count <= 9; count += 1) await makePrincipal(world, `bot-${count}`, 'propose');
  const more = await ltx.register(request('bot', { owner_identifier: 'zoe' }));
  const { principal_id: late } = await ltx.approveRegistration(more.registration.registration_id);
  expect(world.charon.findPrincipal(late ?? '')?.name).toMatch(/^bot-[0-9a-f]{12}$/);
  const all = ltx.listRegistrations({ waiting: false, limit: 1 });
  const rest = ltx.listRegistrations({ waiting: false, limit: 1, cursor: all.nextCursor });
  expect([...all.registrations, ...rest.registrations].map((row) => row.owner_identifier)).toEqual(['zoe', 'ana']);
  const last = ltx.listRegistrations({ waiting: false, limit: 1, cursor: rest.nextCursor });
  expect([last.registrations[0]?.owner_identifier, last.nextCursor]).toEqual(['mia', undefined]);
  expect(await codeOf(() => ltx.listRegistrations({ waiting: false, limit: 1, cursor: 'x' }))).toBe('CURSOR_INVALID');
});

test('C135 registering by oneself is off from the start, and off again when the setting was altered', async () => {
  const { ltx } = world.charon;
  expect(ltx.openRegistration()).toBe(false);
  await ltx.setOpenRegistration(true);
  expect((await ltx.register(request('open'))).kind).toBe('registered');
  await ltx.setOpenRegistration(false);
  world.withDb((db) => db.exec("UPDATE settings SET value = 'on' WHERE name = 'ledger_open_registration'"));
  expect(ltx.openRegistration()).toBe(false);
  expect((await ltx.register(request('asked'))).kind).toBe('pending');
});

test('C136 challenges and sessions that are over are let go with the next', async () => {
  await signedIn();
  const counts = () =>
    world.withDb((db) => [
      db.query<[], { n: number }>('SELECT count(*) AS n FROM passport_challenges').get()?.n,
      db.query<[], { n: number }>('SELECT count(*) AS n FROM ltx_sessions').get()?.n,
    ]);
  expect(counts()).toEqual([1, 1]);
  world.clock.advance(3_600_000);
  const { principal_id: agent } =
    world.charon.ltx.listRegistrations({ waiting: false, limit: 1 }).registrations[0] ?? {};
  const principalId = principalIdSchema.parse(agent);
  const challenge = await world.charon.ltx.challenge(principalId);
  const signature = Buffer.from(signer.sign(signInMessage(challenge)), 'base64url').toString('base64');
  await world.charon.ltx.signIn(principalId, { challengeId: challenge.challenge_id, signature });
  expect(counts()).toEqual([1, 1]);
});

test('C136 what is asked at every call is found by an index', () => {
  const plans: readonly (readonly [string, RegExp])[] = [
    ["SELECT * FROM ltx_keys WHERE key_id = 'x'", /USING INDEX sqlite_autoindex_ltx_keys/],
    ["SELECT * FROM ltx_keys WHERE principal_id = 'x' ORDER BY seq DESC", /USING INDEX ltx_keys_of_principal/],
    ["SELECT * FROM ltx_sessions WHERE session_id = 'x'", /USING INDEX sqlite_autoindex_ltx_sessions/],
    ['DELETE FROM ltx_sessions WHERE expires_ms <= 1', /ltx_sessions_by_end/],
    ['DELETE FROM passport_challenges WHERE expires_ms <= 1', /passport_challenges_by_end/],
    [
      "SELECT * FROM registrations WHERE agent_name = 'x' AND owner_identifier = 'y' AND status <> 'refused' ORDER BY seq DESC LIMIT 1",
      /USING INDEX registrations_of_agent/,
    ],
    [
      "SELECT * FROM registrations WHERE status = 'pending' AND expires_ms > 1 ORDER BY expires_ms DESC, seq DESC",
      /^SEARCH registrations USING INDEX registrations_pending \(expires_ms>\?\)$/,
    ],
    ["SELECT * FROM registrations WHERE principal_id = 'x'", /USING INDEX sqlite_autoindex_registrations/],
  ];
  world.withDb((db) => {
    for (const [sql, plan] of plans) {
      const steps = db.query<[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all();
      expect([sql, steps.map(({ detail }) => detail).join('; ')]).toEqual([sql, expect.stringMatching(plan)]);
    }
  });
});

test('C133 a home from before the ledger has its principals and tokens, and none of these', () => {
  const path = join(tempFolder(), 'charon.db');
  const older = openStore(path, charonMigrations.slice(0, 4), fakeClock());
  const owner = 'principal_00000000000000aa';
  older.exec(
    `INSERT INTO principals (principal_id, name, actor_id, actor_key, profile, enabled, created_at)
     VALUES ('${owner}', 'owner', '${owner}', '${owner}', 'owner', 1, '2026-11-30T12:00:00Z')`,
  );
  older.close();
  const db = openStore(path, charonMigrations, fakeClock());
  expect(db.query<[], { n: number }>('SELECT count(*) AS n FROM principals').get()?.n).toBe(1);
  for (const name of ['ltx_keys', 'ltx_sessions', 'passports', 'passport_challenges', 'registrations'])
    expect(db.query<[], { n: number }>(`SELECT count(*) AS n FROM ${name}`).get()?.n).toBe(0);
  db.close();
});

test('C131 a public key is read from PEM, SPKI or raw base64, and named by its did:key', async () => {
  const did = didOf(publicKey);
  expect(did).toMatch(/^did:key:z6Mk[1-9A-HJ-NP-Za-km-z]{44}$/);
  const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), Buffer.from(publicKey, 'base64')]);
  const pem = `-----BEGIN PUBLIC KEY-----\n${spki.toString('base64')}\n-----END PUBLIC KEY-----\n`;
  for (const text of [publicKey, spki.toString('base64'), pem, ` ${publicKey}\n`])
    expect(readPublicKey(text)).toBe(publicKey);
  for (const text of ['', 'x', publicKey.slice(4), pem.replace('PUBLIC', 'PRIVATE'), `${publicKey}AAAA`])
    expect(await codeOf(() => readPublicKey(text))).toBe('INPUT_INVALID');
});
