import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  type Amendment,
  amendmentText,
  canonicalParams,
  verifyPassportSignature,
} from '../../src-main/canonical/consolidation.ts';
import { createSigner } from '../../src-main/canonical/signature.ts';
import type { JsonValue } from '../../src-preload/contract/json.ts';

const recordedSchema = z.object({ pairs: z.array(z.tuple([z.string(), z.string()])) });
const recorded = recordedSchema.parse(
  JSON.parse(readFileSync(new URL('../fixtures/canonical/python-json.json', import.meta.url), 'utf8')),
);

test('K16 what Python wrote is written again, byte for byte', () => {
  expect(recorded.pairs.length).toBeGreaterThan(400);
  for (const [given, written] of recorded.pairs) expect(canonicalParams(JSON.parse(given))).toBe(written);
});

test('K16 the text is printable ASCII, means what it was made from, and does not depend on the order of names', () => {
  const value: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constant(null),
      fc.boolean(),
      fc.maxSafeInteger(),
      fc.string({ unit: 'binary' }),
      fc.array(tie('value')),
      fc.dictionary(fc.string({ unit: 'binary' }), tie('value')),
    ),
  })).value;
  const turned = (given: JsonValue): JsonValue =>
    typeof given === 'object' && given !== null && !Array.isArray(given)
      ? Object.fromEntries(Object.entries(given).reverse())
      : given;
  fc.assert(
    fc.property(value, (given) => {
      const text = canonicalParams(given);
      expect(text).toMatch(/^[ -~]*$/);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(given)));
      expect(canonicalParams(turned(given))).toBe(text);
    }),
  );
});

test.each([0.5, 1e21, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY])('K16 the number %s is refused', (number) => {
  expect(() => canonicalParams({ a: [{ b: number }] })).toThrow(
    expect.objectContaining({ code: 'CONSOLIDATION_POLICY_PARAMS_INVALID' }),
  );
});

const signer = createSigner(Buffer.from('0123456789abcdef'.repeat(4), 'hex'));
const amendment: Amendment = {
  challengeId: '550e8400-e29b-41d4-a716-446655440000',
  challengeNonce: 'a1b2c3d4-e5f6-7890-abcd-ef1234567890',
  templateId: 'consolidation-v1',
  params: {
    schema_version: 1,
    compression: { strategy: 'importance_weighted' },
    weighting: { boost_sources: ['owner'] },
    fade_rules: { allow_ttl_expiry: true },
    declared_at: '2026-09-11T00:00:00Z',
  },
  issuedAt: '2026-09-11T00:00:00Z',
  expiresAt: '2026-09-11T00:01:00Z',
};
const signature = 'KPFE8Laa/yd88joKcRlHnFRz9UlltsHGHARO5snRueV01oAKPj+fHsE2j6ds1n4gsLUd9gwMA97WO5ipHRC5AA==';

test('K17 the vector of the protocol: text, key and signature', () => {
  const text = amendmentText(amendment);
  expect(Buffer.byteLength(text)).toBe(350);
  expect(signer.publicKey).toBe(
    Buffer.from('MCowBQYDK2VwAyEAIHoGeJKCHiXXcPH7oMR8Ef9LgT5UFi7Onrg54HYjGrY=', 'base64')
      .subarray(12)
      .toString('base64url'),
  );
  expect(Buffer.from(signer.sign(text), 'base64url').toString('base64')).toBe(signature);
  expect(verifyPassportSignature(signer.publicKey, text, signature)).toBe(true);
});

test('K17 nothing else verifies', () => {
  const changed: Partial<Amendment>[] = [
    { challengeId: '550e8400-e29b-41d4-a716-446655440001' },
    { challengeNonce: '' },
    { templateId: 'consolidation-v2' },
    { params: { ...amendment.params, schema_version: 2 } },
    { issuedAt: '2026-09-11T00:00:01Z' },
    { expiresAt: '2026-09-11T00:01:01Z' },
  ];
  for (const change of changed)
    expect(verifyPassportSignature(signer.publicKey, amendmentText({ ...amendment, ...change }), signature)).toBe(
      false,
    );
  const text = amendmentText(amendment);
  const other = createSigner(Buffer.alloc(32, 1)).publicKey;
  for (const [key, signed, sig] of [
    [other, text, signature],
    ['', text, signature],
    [signer.publicKey, `${text}\n`, signature],
    [signer.publicKey, text, ''],
    [signer.publicKey, text, signature.replace('==', '')],
    [signer.publicKey, text, signature.replace('/', '_')],
    [signer.publicKey, text, `${signature}\n`],
  ] as const)
    expect(verifyPassportSignature(key, signed, sig)).toBe(false);
});
