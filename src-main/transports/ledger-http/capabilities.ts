import { z } from 'zod';
import { ledgerKeyPattern, ledgerValueBytesMax, policyTemplate } from '../../../src-preload/contract/ledger.ts';
import { amendScheme } from '../../canonical/consolidation.ts';
import { rowOf } from '../../commands/bind.ts';

const memoryErrors = [
  'MEMORY_KEY_INVALID',
  'MEMORY_KEY_NOT_FOUND',
  'MEMORY_VALUE_TOO_LARGE',
  'MEMORY_STORAGE_LIMIT',
  'MEMORY_OPS_LIMIT',
  'RATE_LIMIT_EXCEEDED',
  'MEMORY_QUERY_REQUIRED',
  'MEMORY_SEARCH_UNAVAILABLE',
  'MEMORY_LEDGER_UNAVAILABLE',
  'MEMORY_LEDGER_VERSION_CONFLICT',
  'VALIDATION_ERROR',
  'INVALID_API_KEY',
  'KEY_REVOKED',
  'INSUFFICIENT_KEY_SCOPE',
] as const;

const policyErrors = [
  'CONSOLIDATION_POLICY_NOT_FOUND',
  'CONSOLIDATION_POLICY_PARAMS_INVALID',
  'CONSOLIDATION_POLICY_TEMPLATE_INVALID',
  'CONSOLIDATION_POLICY_AMEND_FORBIDDEN',
  'PASSPORT_SIGNATURE_REQUIRED',
  'PASSPORT_SIGNATURE_INVALID',
  'PASSPORT_NOT_FOUND',
  'PASSPORT_REVOKED',
  'ROOT_KEY_REQUIRED',
] as const;

/** What this door can do, for programs that ask before they use it (`ledger.md` §6). */
export function ledgerCapabilities(version: string): Readonly<Record<string, unknown>> {
  return {
    status: 'success',
    service: 'memory-git',
    version,
    memory_ledger: {
      append_only: true,
      reads: 'latest-live',
      version_scope: 'per-key',
      tombstone_delete: true,
      derived_from: { start_version: 'integer', end_version: 'integer', verified: false },
      public_version_list: false,
      billing: 'latest-live bytes',
      max_value_bytes: ledgerValueBytesMax,
      key_pattern: ledgerKeyPattern,
      error_codes: memoryErrors,
    },
    consolidation_policy: {
      template_ids: [policyTemplate],
      amend_signature_scheme: amendScheme,
      canonical_lines: [
        amendScheme,
        'challenge_id',
        'challenge_nonce',
        'template_id',
        'canonical_params',
        'issued_at',
        'expires_at',
      ],
      params_canonicalization:
        'compact JSON, keys sorted by code point, non-ASCII escaped as \\uXXXX in lower case, integers only',
      signature_encoding: 'standard base64 of the raw 64 bytes (Ed25519)',
      challenge_url: '/v1/auth/passport/challenge',
      amend_url: '/v1/me/consolidation-policy/amend',
      owner_read_url: '/v1/me/consolidation-policy',
      public_read_url_template: '/v1/agents/{agent_id}/consolidation-policy',
      request_schema: z.toJSONSchema(rowOf('ledger.amend_policy').input, { io: 'input' }),
      error_codes: policyErrors,
      engine: 'none',
    },
  };
}
