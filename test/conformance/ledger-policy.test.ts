import { createPrivateKey, sign } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { amendmentText } from '../../src-main/canonical/consolidation.ts';
import { type LedgerDoor, openLedgerDoor, type Seen } from './ledger-door.ts';

/** The protocol's vector (`ledger.md` §5). */
const vector = {
  publicKey: 'MCowBQYDK2VwAyEAIHoGeJKCHiXXcPH7oMR8Ef9LgT5UFi7Onrg54HYjGrY=',
  challengeId: '550e8400-e29b-41d4-a716-446655440000',
  challengeNonce: 'a1b2c3d4-e5f6-7890-abcd-ef1234567890',
  issuedAt: '2026-09-11T00:00:00Z',
  expiresAt: '2026-09-11T00:01:00Z',
  templateId: 'consolidation-v1',
  params: {
    weighting: { boost_sources: ['owner'] },
    schema_version: 1,
    fade_rules: { allow_ttl_expiry: true },
    declared_at: '2026-09-11T00:00:00Z',
    compression: { strategy: 'importance_weighted' },
  },
  signature: 'KPFE8Laa/yd88joKcRlHnFRz9UlltsHGHARO5snRueV01oAKPj+fHsE2j6ds1n4gsLUd9gwMA97WO5ipHRC5AA==',
};

function privateKey(seedHex: string) {
  const prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
  return createPrivateKey({ key: Buffer.concat([prefix, Buffer.from(seedHex, 'hex')]), format: 'der', type: 'pkcs8' });
}
const own = privateKey('0123456789abcdef'.repeat(4));
const foreign = privateKey('ff'.repeat(32));

function signed(text: string, key = own): string {
  return sign(null, Buffer.from(text), key).toString('base64');
}

/** Status and code of a refusal; the last answer, when it was none. */
function refused(seen: Seen): readonly [number, string] {
  return [seen.status, seen.value.error_code ?? 'none'];
}

/** An agent with the vector's passport, and what it does with it. */
async function passportHolder(door: LedgerDoor, name = 'holder') {
  await door.owner('registration.set_open', { open: true });
  const { value } = await door.ask('', 'POST', '/v1/register', {
    ...{ agent_name: name, owner_identifier: 'mia', agree_to_terms: true },
    passport_public_key: vector.publicKey,
  });
  const { agent_id: agentId, api_key: token } = value;
  const challenge = async (agent = agentId) =>
    (await door.ask('', 'POST', '/v1/auth/passport/challenge', { agent_id: agent })).value;
  const amendBody = async (more: Record<string, unknown> = {}, key = own): Promise<Record<string, unknown>> => {
    const asked = await challenge();
    const body = { template_id: vector.templateId, params: vector.params, challenge_id: asked.challenge_id, ...more };
    const text = amendmentText({
      challengeId: asked.challenge_id,
      challengeNonce: asked.nonce,
      templateId: vector.templateId,
      params: body.params,
      issuedAt: asked.issued_at,
      expiresAt: asked.expires_at,
    });
    return { passport_signature: signed(text, key), ...body };
  };
  const amend = (body: unknown, by = token) => door.ask(by, 'POST', '/v1/me/consolidation-policy/amend', body);
  return { agentId, token, challenge, amendBody, amend };
}

describe('challenges', () => {
  test('T144 a challenge has whole seconds and a minute, and a signed one opens a session of an hour', async () => {
    const door = await openLedgerDoor();
    door.clock.advance(123);
    const { agentId, token, challenge } = await passportHolder(door);
    const asked = await challenge();
    expect(asked).toMatchObject({
      ...{ agent_id: agentId, issued_at: '2026-11-30T12:00:00Z', expires_at: '2026-11-30T12:01:00Z', expires_in: 60 },
      ...{ algorithm: 'ed25519', challenge_nonce: asked.nonce },
    });
    const verify = (signature: string, id = asked.challenge_id) =>
      door.ask('', 'POST', '/v1/auth/passport/verify', { agent_id: agentId, challenge_id: id, signature });
    const { status, value } = await verify(signed(asked.sign_payload));
    expect([status, value.expires_in, value.agent_id]).toEqual([200, 3_600, agentId]);
    const session = value.session_token;
    expect(session).toMatch(/^ltx_session_[0-9a-f]{16}_/);
    expect((await door.ask(session, 'PUT', '/v1/memory/k', { value: 1 })).status).toBe(200);
    expect((await door.ask(session, 'GET', '/v1/me')).value.key.kind).toBe('session');
    expect(refused(await door.ask(session, 'POST', '/v1/keys/rotate'))).toEqual([403, 'ROOT_KEY_REQUIRED']);
    expect(refused(await verify(signed(asked.sign_payload)))).toEqual([403, 'PASSPORT_SIGNATURE_INVALID']);
    door.clock.advance(3_599_999);
    expect((await door.ask(session, 'GET', '/v1/memory/k')).status).toBe(200);
    door.clock.advance(1);
    expect(refused(await door.ask(session, 'GET', '/v1/memory/k'))).toEqual([401, 'INVALID_API_KEY']);
    expect((await door.ask(token, 'GET', '/v1/memory/k')).status).toBe(200);
  });

  test('T144 burnt by any failed signature, over after a minute, of one agent, signed by one key', async () => {
    const door = await openLedgerDoor();
    const [one, other] = [await passportHolder(door), await passportHolder(door, 'other')];
    const verify = async (
      asked: { challenge_id: string; sign_payload: string },
      signature: string,
      agent = one.agentId,
    ) =>
      refused(
        await door.ask('', 'POST', '/v1/auth/passport/verify', {
          ...{ agent_id: agent, challenge_id: asked.challenge_id, signature },
        }),
      );
    const invalid = [403, 'PASSPORT_SIGNATURE_INVALID'];
    const wrong = await one.challenge();
    expect(await verify(wrong, signed(wrong.sign_payload, foreign))).toEqual(invalid);
    expect(await verify(wrong, signed(wrong.sign_payload))).toEqual(invalid);
    for (const bad of ['AAAA', 'x', `${signed(wrong.sign_payload)} `, signed(wrong.sign_payload).replaceAll('=', '')]) {
      expect(await verify(await one.challenge(), bad)).toEqual(invalid);
    }
    const theirs = await one.challenge();
    expect(await verify(theirs, signed(theirs.sign_payload), other.agentId)).toEqual(invalid);
    expect(await verify(theirs, signed(theirs.sign_payload))).toEqual([200, 'none']);
    const late = await one.challenge();
    door.clock.advance(60_000);
    expect(await verify(late, signed(late.sign_payload))).toEqual(invalid);
    const unknown = { challenge_id: vector.challengeId, sign_payload: 'x' };
    expect(await verify(unknown, signed('x'))).toEqual(invalid);
  });

  test('T144 an agent without a passport is 404; a revoked passport signs nothing and its sessions end', async () => {
    const door = await openLedgerDoor();
    const plain = await door.agent('plain');
    const ask = (agent: string) => door.ask('', 'POST', '/v1/auth/passport/challenge', { agent_id: agent });
    for (const agent of [plain.principalId, vector.challengeId, 'nobody']) {
      expect(refused(await ask(agent))).toEqual([404, 'PASSPORT_NOT_FOUND']);
      expect(refused(await door.ask('', 'GET', `/v1/agents/${agent}/passport`))).toEqual([404, 'PASSPORT_NOT_FOUND']);
    }
    const { agentId, challenge, amendBody, amend } = await passportHolder(door);
    const asked = await challenge();
    const sent = { agent_id: agentId, challenge_id: asked.challenge_id, signature: signed(asked.sign_payload) };
    const session = (await door.ask('', 'POST', '/v1/auth/passport/verify', sent)).value.session_token;
    const body = await amendBody();
    await door.owner('passport.revoke', { agent: agentId });
    expect(refused(await door.ask(session, 'GET', '/v1/memory'))).toEqual([401, 'INVALID_API_KEY']);
    expect(refused(await ask(agentId))).toEqual([403, 'PASSPORT_REVOKED']);
    expect(refused(await amend(body))).toEqual([403, 'PASSPORT_REVOKED']);
    expect((await door.ask('', 'GET', `/v1/agents/${agentId}/passport`)).value.revoked).toBe(true);
  });
});

describe('consolidation policy', () => {
  test('T145 the vector: 350 bytes, and the signature of the protocol', () => {
    const text = amendmentText(vector);
    expect(Buffer.byteLength(text)).toBe(350);
    expect(signed(text)).toBe(vector.signature);
  });

  test('T145 an amendment supersedes the one before; everybody reads its template, its agent the whole', async () => {
    const door = await openLedgerDoor();
    const { agentId, token, amendBody, amend } = await passportHolder(door);
    const mine = () => door.ask(token, 'GET', '/v1/me/consolidation-policy');
    const open = () => door.ask('', 'GET', `/v1/agents/${agentId}/consolidation-policy`);
    for (const none of [await mine(), await open()])
      expect(refused(none)).toEqual([404, 'CONSOLIDATION_POLICY_NOT_FOUND']);
    const first = await amend(await amendBody());
    expect([first.status, first.value]).toEqual([
      200,
      {
        ...{
          status: 'success',
          template_id: vector.templateId,
          params: expect.objectContaining({ schema_version: 1 }),
        },
        ...{ policy_id: expect.any(String), version: 1, supersedes: null, custody_epoch: 1 },
        amended_at: '2026-11-30T12:00:00Z',
      },
    ]);
    await door.owner('custody.close', { agent: agentId });
    const custody = await door.owner('custody.open', { agent: agentId, custodian: 'ana' });
    expect(custody).toMatchObject({ current_epoch: 2, current_custodian: 'ana', transfer_count: 1 });
    const second = await amend(await amendBody({ params: { ...vector.params, compression: {} } }));
    expect(second.value).toMatchObject({ version: 2, supersedes: first.value.policy_id, custody_epoch: 2 });
    expect((await mine()).value).toMatchObject({ template_id: vector.templateId, params: { compression: {} } });
    expect((await open()).value).toEqual({ status: 'success', template_id: vector.templateId });
    const { policies } = await door.owner('ledger.policies', { agent: agentId });
    expect(policies.map(({ version }) => version)).toEqual([2, 1]);
  });

  test('T145 each check comes before the next: key, root, body, template, params, custody, signature', async () => {
    const door = await openLedgerDoor();
    const { agentId, token, amendBody, amend } = await passportHolder(door);
    const sub = (await door.owner('ltx.mint', { agent: agentId, kind: 'full' })).token;
    const badParams = { schema_version: 2 };
    const everythingWrong = { template_id: 'x', params: badParams };
    expect(refused(await amend('{', 'ltx_bad'))).toEqual([401, 'INVALID_API_KEY']);
    expect(refused(await amend('{', sub))).toEqual([403, 'ROOT_KEY_REQUIRED']);
    await door.owner('custody.close', { agent: agentId });
    for (const body of [
      '{',
      [],
      {},
      { template_id: 'x' },
      { ...everythingWrong, more: 1 },
      { template_id: 'x', params: [] },
    ])
      expect(refused(await amend(body))).toEqual([422, 'VALIDATION_ERROR']);
    expect(refused(await amend(everythingWrong))).toEqual([400, 'CONSOLIDATION_POLICY_TEMPLATE_INVALID']);
    const params = vector.params;
    for (const bad of [
      badParams,
      { ...params, more: 1 },
      { ...params, weighting: [] },
      { ...params, declared_at: 'yesterday' },
      { ...params, weighting: { factor: 1.5 } },
      { ...params, compression: { text: 'x'.repeat(8_192) } },
    ])
      expect(refused(await amend({ template_id: vector.templateId, params: bad }))).toEqual([
        400,
        'CONSOLIDATION_POLICY_PARAMS_INVALID',
      ]);
    const unsigned = { template_id: vector.templateId, params };
    expect(refused(await amend(unsigned))).toEqual([403, 'CONSOLIDATION_POLICY_AMEND_FORBIDDEN']);
    await door.owner('custody.open', { agent: agentId });
    expect(refused(await amend(unsigned))).toEqual([403, 'PASSPORT_SIGNATURE_REQUIRED']);
    const { challenge_id: id, passport_signature: signature } = await amendBody();
    for (const half of [{ challenge_id: id }, { passport_signature: signature }])
      expect(refused(await amend({ ...unsigned, ...half }))).toEqual([403, 'PASSPORT_SIGNATURE_REQUIRED']);
    expect(refused(await amend(await amendBody({}, foreign)))).toEqual([403, 'PASSPORT_SIGNATURE_INVALID']);
    const changed = { ...(await amendBody()), params: { ...params, fade_rules: {} } };
    expect(refused(await amend(changed))).toEqual([403, 'PASSPORT_SIGNATURE_INVALID']);
    expect(refused(await amend({ ...changed, params }))).toEqual([403, 'PASSPORT_SIGNATURE_INVALID']);
    const good = await amendBody();
    const both = await Promise.all([amend(good), amend(good)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 403]);
    expect((await door.owner('ledger.policies', { agent: agentId })).policies).toHaveLength(1);
    expect((await door.ask(token, 'GET', '/v1/me/consolidation-policy')).status).toBe(200);
  });
});

test('T146 the owner reads versions, values of any moment and their differences; no agent does', async () => {
  const door = await openLedgerDoor();
  const agent = await door.agent('one');
  await agent.put('/memory/k', { value: { a: 1, b: 2 } });
  door.clock.advance(60_000);
  await agent.put('/memory/k', { value: { a: 1, b: 3 }, importance: 'high' });
  door.clock.advance(60_000);
  await agent.del('/memory/k');
  const ofKey = { agent: agent.principalId, key: 'k' };
  const { agents } = await door.owner('ledger.agents', {});
  expect(agents).toMatchObject([
    { principal_id: agent.principalId, name: 'one', usage: { ledger_rows: 3 }, passport: null },
  ]);
  const agentId = agents[0]?.agent_id ?? '';
  expect((await door.owner('ledger.keys', { agent: agentId })).keys).toMatchObject([
    { key: 'k', version: 3, state: 'deleted' },
  ]);
  const { versions } = await door.owner('ledger.history', ofKey);
  expect(versions.map(({ kind, version }) => [kind, version])).toEqual([
    ['delete', 3],
    ['put', 2],
    ['put', 1],
  ]);
  const at = (point: { version: number } | { at: string }) => door.owner('ledger.value_at', { ...ofKey, point });
  expect(await at({ version: 1 })).toMatchObject({ kind: 'value', value: { a: 1, b: 2 } });
  expect(await at({ at: '2026-11-30T12:01:30Z' })).toMatchObject({ kind: 'value', value: { a: 1, b: 3 } });
  expect(await at({ at: '2026-11-30T12:02:00Z' })).toMatchObject({ kind: 'absent', reason: 'deleted' });
  expect(await door.owner('ledger.diff', { ...ofKey, from: { version: 1 }, to: { version: 2 } })).toMatchObject({
    fields: ['importance'],
    changes: [{ kind: 'changed', path: '/b', before: 2, after: 3 }],
  });
  expect((await agent.get('/memory/k/versions')).value.error_code).toBe('MEMORY_KEY_INVALID');
});
