import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { conflictId } from '../../src-main/canonical/conflict-digest.ts';
import {
  type DigestedRequest,
  integrityDigest,
  integrityPreimage,
  requestDigest,
  requestPreimage,
  sha256Hex,
} from '../../src-main/canonical/digest.ts';
import { mergeEnvelopeBytes, signMergeEnvelope, verifyMergeEnvelope } from '../../src-main/canonical/signature.ts';
import { jsonObjectSchema } from '../../src-preload/contract/json.ts';

const text = z.string();
const requestSchema = z.object({
  project_id: text,
  ref_name: text,
  parent_ids: z.array(text).default([]),
  author_principal: text,
  persona_id: text.optional(),
  actor_id: text.optional(),
  surface: text.optional(),
  model: text.optional(),
  environment: text.optional(),
  session_id: text.optional(),
  topic_id: text.optional(),
  context_manifest_id: text.optional(),
  message: text.default(''),
  idempotency_key: text,
  ops: z.array(
    z.object({
      op_type: text,
      target_event_id: text.optional(),
      resulting_event_id: text.optional(),
      payload: jsonObjectSchema.optional(),
    }),
  ),
  evidence: z.array(jsonObjectSchema).optional(),
  verification: z.array(jsonObjectSchema).optional(),
  expected_head: text.optional(),
  advance_ref: z.boolean().optional(),
});
const conflictSchema = z.object({
  project_id: text,
  base_changeset_id: text.optional(),
  left_changeset_id: text,
  right_changeset_id: text,
  conflict_type: text,
  summary: text,
  details: jsonObjectSchema.optional(),
});
const vectorSchema = z.union([
  z.object({
    name: text,
    integrity_digest: text,
    integrity_preimage: text,
    request_digest: text,
    request_json: text,
    request_preimage: text,
  }),
  z.object({ name: text, conflict_id: text, input: conflictSchema }),
  z.object({ name: text, hmac_key_ascii: text, signature_hex: text, signing_bytes: text }),
  z.object({ name: text, preimage: text, sha256: text }),
]);

const path = new URL('../fixtures/vectors/lethe.json', import.meta.url);
const vectors = z.array(vectorSchema).parse(JSON.parse(readFileSync(path, 'utf8')));

/** The request as the store normalises it: ordinals reassigned. */
function normalisedRequest(requestJson: string): DigestedRequest {
  const request = requestSchema.parse(JSON.parse(requestJson));
  const ops = request.ops.map((op, ordinal) => ({ ...op, ordinal }));
  return { ...request, schema_version: 'memory_git/v1', ops };
}

const envelopeSchema = z.object({
  version: text,
  project_id: text,
  ref_name: text,
  expected_head: text,
  new_head: text,
  proposal_id: text,
  proposal_digest: text,
  reviewer_principal: text,
  merger_principal: text,
  strategy: text,
  issued_at: text,
  expires_at: text,
  nonce: text,
  key_id: text,
});

describe('the golden vectors of lethe.md §3', () => {
  test('K7 all fifteen are read', () => {
    expect(vectors).toHaveLength(15);
    expect(vectors.filter((vector) => 'request_json' in vector)).toHaveLength(4);
    expect(vectors.filter((vector) => 'conflict_id' in vector)).toHaveLength(9);
  });

  for (const [index, vector] of vectors.entries()) {
    if ('request_json' in vector) {
      test(`K7 §3.1 ${vector.name}: integrity digest`, () => {
        const request = normalisedRequest(vector.request_json);
        expect(integrityPreimage(request)).toBe(vector.integrity_preimage);
        expect(integrityDigest(request)).toBe(vector.integrity_digest);
      });
      test(`K7 §3.2 ${vector.name}: request digest`, () => {
        const request = normalisedRequest(vector.request_json);
        expect(requestPreimage(request)).toBe(vector.request_preimage);
        expect(requestDigest(request)).toBe(vector.request_digest);
      });
    } else if ('conflict_id' in vector) {
      test(`K7 §3.3 ${vector.name} (${index})`, () => {
        expect(conflictId(vector.input)).toBe(vector.conflict_id);
      });
    } else if ('signing_bytes' in vector) {
      test(`K7 §3.4 ${vector.name}`, () => {
        const key = Buffer.from(vector.hmac_key_ascii, 'ascii');
        const fields = Object.entries(envelopeSchema.parse(JSON.parse(vector.signing_bytes)));
        const envelope = envelopeSchema.parse(Object.fromEntries(fields.toReversed()));
        expect(mergeEnvelopeBytes(envelope)).toBe(vector.signing_bytes);
        expect(signMergeEnvelope(key, envelope)).toBe(vector.signature_hex);
        expect(verifyMergeEnvelope(key, envelope, vector.signature_hex)).toBe(true);
        expect(verifyMergeEnvelope(key, envelope, vector.signature_hex.toUpperCase())).toBe(true);
      });
    } else {
      test(`K7 §3.5 ${vector.name}`, () => {
        expect(sha256Hex(vector.preimage)).toBe(vector.sha256);
        const root = {
          schema_version: 'memory_git/v1',
          project_id: 'demo',
          ref_name: 'refs/shared/main',
          parent_ids: [],
          author_principal: 'system',
          actor_id: 'system',
          message: 'legacy-root: baseline for pre-Memory-Git events (no rewrite)',
          idempotency_key: 'legacy-root',
          evidence: [{ kind: 'legacy_baseline', note: 'pre-existing events remain readable without ID rewrite' }],
        };
        expect(integrityPreimage(root)).toBe(vector.preimage);
        expect(integrityDigest(root)).toBe(vector.sha256);
      });
    }
  }

  test('K7 §3.3 the worked example of a contradictory decision', () => {
    const conflict = {
      project_id: 'demo',
      base_changeset_id: 'B',
      left_changeset_id: 'L',
      right_changeset_id: 'R',
      conflict_type: 'contradictory_decision',
      summary: 'any',
      details: { scope: 'net', left_event: 'zeta', right_event: 'alpha' },
    };
    const expected = '9d287218013533ef2cb03d81218af26de45c91475bb34ade58a114e215d2e9df';
    expect(conflictId(conflict)).toBe(expected);
    expect(conflictId({ ...conflict, left_changeset_id: 'R', right_changeset_id: 'L' })).not.toBe(expected);
  });
});
