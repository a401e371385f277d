import { z } from 'zod';
import { type FaultCode, type FaultWire, faultKindByCode } from '../../src-preload/contract/faults.ts';
import { Fault } from '../base/fault.ts';

/** Fault → HTTP status at every door that speaks HTTP. Complete by its type. */
export const httpStatusByFault = {
  UNAUTHENTICATED: 401,
  PRINCIPAL_DISABLED: 403,
  SCOPE_MISSING: 403,
  GRANT_MISSING: 403,
  OWNER_ONLY: 403,
  NOT_REF_OWNER: 403,
  PROTECTED_REF: 403,
  SELF_REVIEW: 403,
  SELF_APPROVAL: 403,
  ATTRIBUTION_FORGED: 403,
  MERGE_AUTHORIZATION_REFUSED: 403,
  ORIGINATOR_MAY_NOT_MERGE: 403,
  NOT_ORIGINATOR: 403,
  CONSOLIDATION_POLICY_AMEND_FORBIDDEN: 403,
  ROOT_KEY_REQUIRED: 403,
  INSUFFICIENT_KEY_SCOPE: 403,
  KEY_REVOKED: 401,
  PASSPORT_SIGNATURE_REQUIRED: 403,
  PASSPORT_SIGNATURE_INVALID: 403,
  PASSPORT_REVOKED: 403,
  REGISTRATION_REFUSED: 403,
  DESK_ONLY: 403,
  OWNER_REFUSED: 403,
  OWNER_REQUEST_EXPIRED: 403,
  OWNER_REQUEST_CANCELED: 403,
  OWNER_REQUEST_CLOSED: 403,
  OWNER_REQUESTS_FULL: 403,
  DESK_CLOSED: 403,
  CONFIRMATION_REQUIRED: 403,
  CONFIRMATION_REFUSED: 403,
  CONFIRMATION_UNVERIFIED: 403,
  HOST_REFUSED: 403,
  ORIGIN_REFUSED: 403,

  REF_MOVED: 409,
  REF_EXISTS: 409,
  REF_ARCHIVED: 409,
  NOT_A_DESCENDANT: 409,
  IDEMPOTENCY_MISMATCH: 409,
  NONCE_CONSUMED: 409,
  MERGE_SHAPE: 409,
  NOTHING_TO_MERGE: 409,
  BOTH_SIDES_TOUCHED: 409,
  OPEN_CONFLICT: 409,
  PROPOSAL_STATE: 409,
  PROPOSAL_STALE: 409,
  NOT_APPROVED: 409,
  CHANGES_REQUESTED: 409,
  PRINCIPAL_EXISTS: 409,
  OBOL_REVOKED: 409,
  MEMORY_LEDGER_VERSION_CONFLICT: 409,
  CUSTODY_STATE: 409,
  AGENT_ALREADY_EXISTS: 409,
  REGISTRATION_STATE: 409,

  INPUT_INVALID: 400,
  COMMAND_UNKNOWN: 404,
  OP_INVALID: 400,
  REF_NAME_INVALID: 400,
  CURSOR_INVALID: 400,
  KEY_RESERVED: 400,
  HEAD_NOT_REACHABLE: 400,
  MERGE_AUTHORIZATION_MALFORMED: 400,
  BODY_INVALID: 400,
  BODY_TOO_LARGE: 413,
  BODY_TOO_DEEP: 400,
  METHOD_NOT_ALLOWED: 405,
  CONTENT_TYPE_REFUSED: 415,
  QUOTA: 429,
  IMPORT_REFUSED: 400,
  BACKUP_REFUSED: 400,
  MEMORY_KEY_INVALID: 422,
  MEMORY_VALUE_TOO_LARGE: 413,
  MEMORY_QUERY_REQUIRED: 422,
  CONSOLIDATION_POLICY_PARAMS_INVALID: 400,
  CONSOLIDATION_POLICY_TEMPLATE_INVALID: 400,

  PROJECT_NOT_FOUND: 404,
  REF_NOT_FOUND: 404,
  CHANGESET_NOT_FOUND: 404,
  MEMORY_NOT_FOUND: 404,
  MANIFEST_NOT_FOUND: 404,
  PROPOSAL_NOT_FOUND: 404,
  PRINCIPAL_NOT_FOUND: 404,
  OBOL_NOT_FOUND: 404,
  STATE_NOT_FOUND: 404,
  CONFLICT_NOT_FOUND: 404,
  SESSION_NOT_FOUND: 404,
  MEMORY_KEY_NOT_FOUND: 404,
  CONSOLIDATION_POLICY_NOT_FOUND: 404,
  PASSPORT_NOT_FOUND: 404,
  LTX_KEY_NOT_FOUND: 404,
  REGISTRATION_NOT_FOUND: 404,
  REGISTRATION_EXPIRED: 410,
  OWNER_REQUEST_NOT_FOUND: 404,

  READ_ONLY: 403,

  STORE_BUSY: 503,
  STORE_UNAVAILABLE: 503,
  DISK_FULL: 507,
  AUDIT_UNAVAILABLE: 503,
  HOME_LOCKED: 503,
  HOME_INVALID: 503,
  KEYS_INVALID: 503,
  KEYS_SEALED: 503,
  KEYCHAIN_UNAVAILABLE: 503,
  PORT_TAKEN: 503,
  RATE_LIMITED: 429,
  TIMED_OUT: 408,
  CLOSED: 503,
  MEMORY_LEDGER_UNAVAILABLE: 503,
  MEMORY_SEARCH_UNAVAILABLE: 503,
  INTEGRITY_MISMATCH: 500,
  INTERNAL: 500,
} as const satisfies Record<FaultCode, number>;

/** Reasons that the protocol spells in other words than the code's own (`charon.md` §3, §4). */
const reasonByCode: Partial<Record<FaultCode, string>> = { PROPOSAL_STALE: 'stale' };

/** A fault in the few words of a tool error's first line, after its kind: `self review`, `stale`, `ref moved`. */
export function reasonOf(code: FaultCode): string {
  return reasonByCode[code] ?? code.toLowerCase().replaceAll('_', ' ');
}

const knownCodes = new Set<string>(Object.keys(faultKindByCode));
const faultCodeSchema = z.custom<FaultCode>((value) => typeof value === 'string' && knownCodes.has(value));
const faultBodySchema = z.object({
  code: faultCodeSchema,
  message: z.string(),
  data: z.record(z.string(), z.unknown()),
});

/** The fault that another Memory Git process sent as a body, or undefined when the body is none. */
export function findFault(body: unknown): Fault | undefined {
  const parsed = faultBodySchema.safeParse(body);
  return parsed.success ? new Fault(parsed.data.code, parsed.data.message, parsed.data.data) : undefined;
}

/** Status and body with which a door refuses. */
export function refusalOf(fault: Fault): { readonly status: number; readonly body: FaultWire } {
  return { status: httpStatusByFault[fault.code], body: fault.toWire() };
}
