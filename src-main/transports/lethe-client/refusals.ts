import { z } from 'zod';
import type { FaultCode } from '../../../src-preload/contract/faults.ts';
import { Fault } from '../../base/fault.ts';
import { findFault } from '../fault-status.ts';

const errorSchema = z.object({ error: z.string() });

/** What the texts of the protocol mean (`lethe.md` §1), where a refusal comes without its code. */
const codeByText: readonly (readonly [RegExp, FaultCode])[] = [
  [/^project not found/, 'PROJECT_NOT_FOUND'],
  [/^ref not found/, 'REF_NOT_FOUND'],
  [/changeset not found$/, 'CHANGESET_NOT_FOUND'],
  [/^manifest not found/, 'MANIFEST_NOT_FOUND'],
  [/^conflict not found/, 'CONFLICT_NOT_FOUND'],
  [/^idempotency (?:mismatch|key already used)/, 'IDEMPOTENCY_MISMATCH'],
  [/nonce already consumed/, 'NONCE_CONSUMED'],
  [/^protected ref requires/, 'PROTECTED_REF'],
  [/^invalid merge authorization/, 'MERGE_AUTHORIZATION_REFUSED'],
  [/compare-and-swap conflict/, 'REF_MOVED'],
  [/^open blocking conflict/, 'OPEN_CONFLICT'],
  [/^invalid semantic operation/, 'OP_INVALID'],
  [/is not reachable from ref/, 'HEAD_NOT_REACHABLE'],
  [/^invalid request body/, 'BODY_INVALID'],
  [/^read-only recovery/, 'READ_ONLY'],
];

/**
 * The fault that a store refused with: by its code, else by the words of the protocol. A key that the store
 * does not take, and whatever is no answer of a store, is STORE_UNAVAILABLE: no caller can do anything about it.
 */
export function faultOfAnswer({ status, value }: { readonly status: number; readonly value: unknown }): Fault {
  if (status === 401)
    return new Fault('STORE_UNAVAILABLE', 'The store of CHARON_UPSTREAM does not take the key of LETHE_API_KEY.', {
      status,
    });
  const told = findFault(value);
  if (told !== undefined) return told;
  const text = errorSchema.safeParse(value).data?.error;
  const code = text === undefined ? undefined : codeOf(status, text);
  if (status === 403 && code === undefined)
    return new Fault(
      'STORE_UNAVAILABLE',
      'The store of CHARON_UPSTREAM refuses to be asked this way. Its key, its LETHE_TRUST, or the Host that a proxy sets may be wrong.',
      { status },
    );
  if (text === undefined || code === undefined)
    return new Fault('STORE_UNAVAILABLE', 'The store of CHARON_UPSTREAM does not answer as one.', { status });
  return new Fault(code, text);
}

function codeOf(status: number, text: string): FaultCode | undefined {
  return codeByText.find(([pattern]) => pattern.test(text))?.[1] ?? (status === 400 ? 'INPUT_INVALID' : undefined);
}
