import type { FaultCode } from '../../../src-preload/contract/faults.ts';
import { ledgerValueBytesMax } from '../../../src-preload/contract/ledger.ts';
import type { Fault } from '../../base/fault.ts';
import { httpStatusByFault } from '../fault-status.ts';

/** How this door names a refusal: its code and status (`ledger.md` §4). */
interface Named {
  readonly code: string;
  readonly status: number;
}

const unavailable: Named = { code: 'MEMORY_LEDGER_UNAVAILABLE', status: 503 };
const invalid: Named = { code: 'VALIDATION_ERROR', status: 422 };
const scope: Named = { code: 'INSUFFICIENT_KEY_SCOPE', status: 403 };
const tooFast: Named = { code: 'RATE_LIMIT_EXCEEDED', status: 429 };

/** Faults that this door knows by another name than their own; every other one keeps its code and status. */
const namedByFault: Partial<Record<FaultCode, Named>> = {
  UNAUTHENTICATED: { code: 'INVALID_API_KEY', status: 401 },
  SCOPE_MISSING: scope,
  OWNER_ONLY: scope,
  PRINCIPAL_DISABLED: { code: 'INVALID_API_KEY', status: 401 },
  RATE_LIMITED: tooFast,
  QUOTA: tooFast,
  INPUT_INVALID: invalid,
  BODY_INVALID: invalid,
  BODY_TOO_DEEP: invalid,
  CONTENT_TYPE_REFUSED: { ...invalid, status: 415 },
  BODY_TOO_LARGE: { code: 'MEMORY_VALUE_TOO_LARGE', status: 413 },
  STATE_NOT_FOUND: { code: 'NOT_FOUND', status: 404 },
  DISK_FULL: unavailable,
  STORE_BUSY: unavailable,
  STORE_UNAVAILABLE: unavailable,
  READ_ONLY: unavailable,
  AUDIT_UNAVAILABLE: unavailable,
  CLOSED: unavailable,
};

/** Fields that other servers of this surface have and this one does not: said plainly, never stored in silence. */
const foreignFields: Readonly<Record<string, string>> = {
  access_policy:
    'access_policy: memory here is the agent’s own and has no access policy. Leave the field out; to share a memory, commit it to a branch and propose it (memory_changeset_create, memory_merge_propose).',
  is_commons:
    'is_commons: there is no commons here, memory is the agent’s own. Leave the field out; to share a memory, commit it to a branch and propose it (memory_changeset_create, memory_merge_propose).',
};

/** A refusal as this door words it. The remedy is in `message` too: many clients pass on nothing else. */
export interface LedgerRefusal {
  readonly status: number;
  readonly body: {
    readonly status: 'error';
    readonly error_code: string;
    readonly message: string;
    readonly what?: string;
    readonly fix?: string;
    readonly fields?: readonly unknown[];
  };
}

/** The refusal of a fault in the words of this door. */
export function ledgerRefusalOf(fault: Fault): LedgerRefusal {
  const { code, status } = namedQuota(fault) ??
    namedByFault[fault.code] ?? { code: fault.code, status: httpStatusByFault[fault.code] };
  const message = messageOf(fault);
  const end = message.search(/\.(?= )/) + 1;
  const parts = end === 0 ? {} : { what: message.slice(0, end), fix: message.slice(end).trim() };
  const { fields } = fault.data;
  const named = code === 'VALIDATION_ERROR' ? { fields: Array.isArray(fields) ? fields : fieldOf(fault) } : {};
  return { status, body: { status: 'error', error_code: code, message, ...parts, ...named } };
}

/** What an agent has written today is a limit of its operations; other quotas are those of asking. */
function namedQuota({ data }: Fault): Named | undefined {
  return data.quota === 'payload_bytes_per_day' ? { code: 'MEMORY_OPS_LIMIT', status: 429 } : undefined;
}

function messageOf(fault: Fault): string {
  if (fault.code === 'BODY_TOO_LARGE')
    return `The body is over 4 MiB, and a value may have ${ledgerValueBytesMax} bytes as compact JSON. Keep it in several keys.`;
  const { keys } = fault.data;
  const foreign = Array.isArray(keys) ? keys.find((key) => Object.hasOwn(foreignFields, key)) : undefined;
  return (foreign === undefined ? undefined : foreignFields[foreign]) ?? fault.message;
}

function fieldOf(fault: Fault): readonly unknown[] {
  const { field } = fault.data;
  return typeof field === 'string' ? [{ field, message: fault.message }] : [];
}
