import { afterEach, beforeEach, expect, test } from 'vitest';
import { amendmentText } from '../../src-main/canonical/consolidation.ts';
import { createSigner } from '../../src-main/canonical/signature.ts';
import type { AmendInput } from '../../src-main/ledger/api.ts';
import { timestampSchema } from '../../src-preload/contract/ids.ts';
import type { JsonObject } from '../../src-preload/contract/json.ts';
import { agent, openTempLedger, other, type TempLedger } from './temp-ledger.ts';

let temp: TempLedger;
beforeEach(() => {
  temp = openTempLedger();
});
afterEach(() => temp.discard());

const signer = createSigner(Buffer.from('0123456789abcdef'.repeat(4), 'hex'));
const params: JsonObject = {
  schema_version: 1,
  compression: { strategy: 'importance_weighted' },
  weighting: { boost_sources: ['owner'] },
  fade_rules: { allow_ttl_expiry: true },
  declared_at: '2026-09-11T00:00:00Z',
};

function amendment(changed: Partial<AmendInput> = {}): AmendInput {
  const unsigned = {
    agentId: agent,
    templateId: 'consolidation-v1',
    params,
    challengeId: '550e8400-e29b-41d4-a716-446655440000',
    challengeNonce: 'a1b2c3d4-e5f6-7890-abcd-ef1234567890',
    issuedAt: timestampSchema.parse('2026-09-11T00:00:00Z'),
    expiresAt: timestampSchema.parse('2026-09-11T00:01:00Z'),
    publicKey: signer.publicKey,
    ...changed,
  };
  const sign = (): string => Buffer.from(signer.sign(amendmentText(unsigned)), 'base64url').toString('base64');
  return { signature: changed.params === undefined || changed.params.odd === undefined ? sign() : '', ...unsigned };
}

test('G40 each amendment is a version that supersedes the one before and edits nothing', async () => {
  expect(() => temp.ledger.getPolicy(agent)).toThrow(
    expect.objectContaining({ code: 'CONSOLIDATION_POLICY_NOT_FOUND' }),
  );
  await temp.ledger.openCustody(agent, 'owner');
  const first = await temp.ledger.appendPolicy(amendment());
  expect(first).toMatchObject({ version: 1, supersedes: null, custody_epoch: 1, params });
  await temp.ledger.closeCustody(agent);
  await temp.ledger.openCustody(agent, 'owner');
  temp.clock.advance(1_000);
  const second = await temp.ledger.appendPolicy(amendment({ params: { ...params, weighting: {} } }));
  expect(second).toMatchObject({ version: 2, supersedes: first.policy_id, custody_epoch: 2 });
  expect(temp.ledger.getPolicy(agent)).toEqual(second);
  const page = temp.ledger.listPolicies({ agentId: agent, limit: 1 });
  expect(page.policies).toEqual([second]);
  expect(temp.ledger.listPolicies({ agentId: agent, limit: 1, cursor: page.nextCursor })).toEqual({
    policies: [first],
  });
  expect(temp.ledger.listPolicies({ agentId: other, limit: 1 })).toEqual({ policies: [] });
  expect(() => temp.db.exec('UPDATE ledger_policies SET template_id = template_id')).toThrow(/immutable/);
  expect(() => temp.db.exec('DELETE FROM ledger_custody')).toThrow(/immutable/);
  expect(await temp.ledger.verify()).toMatchObject({ ok: true });
});

test.each<[string, Partial<AmendInput>, string]>([
  ['another template', { templateId: 'consolidation-v2' }, 'CONSOLIDATION_POLICY_TEMPLATE_INVALID'],
  ['an unknown name', { params: { ...params, more: 1 } }, 'CONSOLIDATION_POLICY_PARAMS_INVALID'],
  ['another schema', { params: { ...params, schema_version: 2 } }, 'CONSOLIDATION_POLICY_PARAMS_INVALID'],
  ['a list for an object', { params: { ...params, weighting: [] } }, 'CONSOLIDATION_POLICY_PARAMS_INVALID'],
  ['no time', { params: { ...params, declared_at: 'today' } }, 'CONSOLIDATION_POLICY_PARAMS_INVALID'],
  ['too much', { params: { ...params, weighting: { a: 'x'.repeat(8_192) } } }, 'CONSOLIDATION_POLICY_PARAMS_INVALID'],
  ['a fraction', { params: { ...params, odd: 1, weighting: { a: 0.5 } } }, 'CONSOLIDATION_POLICY_PARAMS_INVALID'],
])('G40 %s is refused and nothing is written', async (_, changed, code) => {
  await temp.ledger.openCustody(agent, 'owner');
  await expect(temp.ledger.appendPolicy(amendment(changed))).rejects.toMatchObject({ code });
  expect(temp.ledger.listPolicies({ agentId: agent, limit: 1 }).policies).toEqual([]);
});

test('G40 without an open epoch an amendment is refused, and one that is not signed is never kept', async () => {
  const refused = { code: 'CONSOLIDATION_POLICY_AMEND_FORBIDDEN' };
  await expect(temp.ledger.appendPolicy(amendment())).rejects.toMatchObject(refused);
  await temp.ledger.openCustody(agent, 'owner');
  await temp.ledger.closeCustody(agent);
  await expect(temp.ledger.appendPolicy(amendment())).rejects.toMatchObject(refused);
  await temp.ledger.openCustody(agent, 'owner');
  const signed = amendment();
  await expect(temp.ledger.appendPolicy({ ...signed, challengeNonce: 'another' })).rejects.toThrow(/verified/);
  expect(temp.ledger.listPolicies({ agentId: agent, limit: 1 }).policies).toEqual([]);
});

test('G41 epochs of custody open and close in turn, counted from 1', async () => {
  expect(temp.ledger.findCustody(agent)).toBeUndefined();
  await expect(temp.ledger.closeCustody(agent)).rejects.toMatchObject({ code: 'CUSTODY_STATE' });
  expect(await temp.ledger.openCustody(agent, 'owner')).toEqual({
    state: 'open',
    current_epoch: 1,
    current_custodian: 'owner',
    since: '2026-11-30T12:00:00Z',
    transfer_count: 0,
  });
  await expect(temp.ledger.openCustody(agent, 'owner')).rejects.toMatchObject({ code: 'CUSTODY_STATE' });
  temp.clock.advance(1_000);
  expect(await temp.ledger.closeCustody(agent)).toMatchObject({ state: 'closed', current_epoch: 1 });
  await expect(temp.ledger.closeCustody(agent)).rejects.toMatchObject({ code: 'CUSTODY_STATE' });
  await temp.ledger.openCustody(agent, 'somebody else');
  expect(temp.ledger.findCustody(agent)).toMatchObject({
    state: 'open',
    current_epoch: 2,
    current_custodian: 'somebody else',
    transfer_count: 1,
  });
});
