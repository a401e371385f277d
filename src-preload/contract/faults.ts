/**
 * Every way in which the product refuses, listed once. HTTP statuses, MCP results, exit codes and the words of the
 * desk are tables over this list, complete by `satisfies`.
 */

/** The six kinds an agent sees in the first line of a tool error (`charon.md` §3), and what each one means. */
export const faultKinds = ['denied', 'conflict', 'invalid', 'not_found', 'read_only', 'unavailable'] as const;
export type FaultKind = (typeof faultKinds)[number];

/** Code → kind. A code is pinned: once released it never changes its meaning. */
export const faultKindByCode = {
  // who you are and what you may do
  UNAUTHENTICATED: 'denied',
  PRINCIPAL_DISABLED: 'denied',
  SCOPE_MISSING: 'denied',
  GRANT_MISSING: 'denied',
  OWNER_ONLY: 'denied',
  NOT_REF_OWNER: 'denied',
  PROTECTED_REF: 'denied',
  SELF_REVIEW: 'denied',
  SELF_APPROVAL: 'denied',
  NOT_ORIGINATOR: 'denied',
  CONSOLIDATION_POLICY_AMEND_FORBIDDEN: 'denied',
  ROOT_KEY_REQUIRED: 'denied',
  INSUFFICIENT_KEY_SCOPE: 'denied',
  KEY_REVOKED: 'denied',
  PASSPORT_SIGNATURE_REQUIRED: 'denied',
  PASSPORT_SIGNATURE_INVALID: 'denied',
  PASSPORT_REVOKED: 'denied',
  REGISTRATION_REFUSED: 'denied',
  ATTRIBUTION_FORGED: 'denied',
  MERGE_AUTHORIZATION_REFUSED: 'denied',
  ORIGINATOR_MAY_NOT_MERGE: 'denied',
  DESK_ONLY: 'denied',
  OWNER_REFUSED: 'denied',
  OWNER_REQUEST_EXPIRED: 'denied',
  OWNER_REQUEST_CANCELED: 'denied',
  OWNER_REQUEST_CLOSED: 'denied',
  OWNER_REQUESTS_FULL: 'denied',
  DESK_CLOSED: 'denied',
  CONFIRMATION_REQUIRED: 'denied',
  CONFIRMATION_REFUSED: 'denied',
  CONFIRMATION_UNVERIFIED: 'denied',
  HOST_REFUSED: 'denied',
  ORIGIN_REFUSED: 'denied',

  // the world moved, or already is that way
  REF_MOVED: 'conflict',
  REF_EXISTS: 'conflict',
  REF_ARCHIVED: 'conflict',
  NOT_A_DESCENDANT: 'conflict',
  IDEMPOTENCY_MISMATCH: 'conflict',
  NONCE_CONSUMED: 'conflict',
  MERGE_SHAPE: 'conflict',
  NOTHING_TO_MERGE: 'conflict',
  BOTH_SIDES_TOUCHED: 'conflict',
  OPEN_CONFLICT: 'conflict',
  PROPOSAL_STATE: 'conflict',
  PROPOSAL_STALE: 'conflict',
  NOT_APPROVED: 'conflict',
  CHANGES_REQUESTED: 'conflict',
  PRINCIPAL_EXISTS: 'conflict',
  OBOL_REVOKED: 'conflict',
  MEMORY_LEDGER_VERSION_CONFLICT: 'conflict',
  CUSTODY_STATE: 'conflict',
  AGENT_ALREADY_EXISTS: 'conflict',
  REGISTRATION_STATE: 'conflict',

  // what was sent cannot be used
  INPUT_INVALID: 'invalid',
  COMMAND_UNKNOWN: 'invalid',
  OP_INVALID: 'invalid',
  REF_NAME_INVALID: 'invalid',
  CURSOR_INVALID: 'invalid',
  KEY_RESERVED: 'invalid',
  HEAD_NOT_REACHABLE: 'invalid',
  MERGE_AUTHORIZATION_MALFORMED: 'invalid',
  BODY_INVALID: 'invalid',
  BODY_TOO_LARGE: 'invalid',
  BODY_TOO_DEEP: 'invalid',
  METHOD_NOT_ALLOWED: 'invalid',
  CONTENT_TYPE_REFUSED: 'invalid',
  QUOTA: 'invalid',
  IMPORT_REFUSED: 'invalid',
  BACKUP_REFUSED: 'invalid',
  MEMORY_KEY_INVALID: 'invalid',
  MEMORY_VALUE_TOO_LARGE: 'invalid',
  MEMORY_QUERY_REQUIRED: 'invalid',
  CONSOLIDATION_POLICY_PARAMS_INVALID: 'invalid',
  CONSOLIDATION_POLICY_TEMPLATE_INVALID: 'invalid',

  // no such thing, or none that the caller may see
  PROJECT_NOT_FOUND: 'not_found',
  REF_NOT_FOUND: 'not_found',
  CHANGESET_NOT_FOUND: 'not_found',
  MEMORY_NOT_FOUND: 'not_found',
  MANIFEST_NOT_FOUND: 'not_found',
  PROPOSAL_NOT_FOUND: 'not_found',
  PRINCIPAL_NOT_FOUND: 'not_found',
  OBOL_NOT_FOUND: 'not_found',
  STATE_NOT_FOUND: 'not_found',
  CONFLICT_NOT_FOUND: 'not_found',
  SESSION_NOT_FOUND: 'not_found',
  MEMORY_KEY_NOT_FOUND: 'not_found',
  CONSOLIDATION_POLICY_NOT_FOUND: 'not_found',
  PASSPORT_NOT_FOUND: 'not_found',
  LTX_KEY_NOT_FOUND: 'not_found',
  REGISTRATION_NOT_FOUND: 'not_found',
  REGISTRATION_EXPIRED: 'not_found',
  OWNER_REQUEST_NOT_FOUND: 'not_found',

  READ_ONLY: 'read_only',

  // not now, or not on this machine
  STORE_BUSY: 'unavailable',
  STORE_UNAVAILABLE: 'unavailable',
  DISK_FULL: 'unavailable',
  AUDIT_UNAVAILABLE: 'unavailable',
  HOME_LOCKED: 'unavailable',
  HOME_INVALID: 'unavailable',
  KEYS_INVALID: 'unavailable',
  KEYS_SEALED: 'unavailable',
  KEYCHAIN_UNAVAILABLE: 'unavailable',
  PORT_TAKEN: 'unavailable',
  RATE_LIMITED: 'unavailable',
  TIMED_OUT: 'unavailable',
  CLOSED: 'unavailable',
  MEMORY_LEDGER_UNAVAILABLE: 'unavailable',
  MEMORY_SEARCH_UNAVAILABLE: 'unavailable',
  INTEGRITY_MISMATCH: 'unavailable',
  INTERNAL: 'unavailable',
} as const satisfies Record<string, FaultKind>;

export type FaultCode = keyof typeof faultKindByCode;

/** What crosses a door when a command is refused: for programs `code` and `data`, for people `message`. */
export interface FaultWire {
  readonly code: FaultCode;
  readonly kind: FaultKind;
  readonly message: string;
  readonly data: Readonly<Record<string, unknown>>;
}
