import type { FaultCode } from '../../../src-preload/contract/faults.ts';
import type { Fault } from '../../base/fault.ts';
import { httpStatusByFault } from '../fault-status.ts';
import { type Answer, refusal } from './answer.ts';

/** Where this protocol has another status than the other doors (`lethe.md` §0 statuses, §1.0, §1.5). */
const ownStatus: Partial<Record<FaultCode, number>> = {
  BODY_TOO_LARGE: 400,
  BODY_TOO_DEEP: 400,
  ORIGINATOR_MAY_NOT_MERGE: 409,
  READ_ONLY: 503,
};

type Texts = Partial<Record<FaultCode, (field: (name: string) => string, message: string) => string>>;

/** Words of the protocol; a fault that is not here says what it says everywhere. */
const ownText: Texts = {
  BODY_INVALID: () => 'invalid request body',
  BODY_TOO_LARGE: () => 'invalid request body',
  BODY_TOO_DEEP: () => 'invalid request body',
  PROJECT_NOT_FOUND: () => 'project not found',
  REF_NOT_FOUND: () => 'ref not found',
  MANIFEST_NOT_FOUND: () => 'manifest not found',
  CONFLICT_NOT_FOUND: () => 'conflict not found',
  OPEN_CONFLICT: (field) => `open blocking conflict ${field('conflict_id')}`,
  CHANGESET_NOT_FOUND: (field) =>
    field('field') === 'new_head' ? 'load new head: changeset not found' : 'changeset not found',
  PROTECTED_REF: () => 'protected ref requires merge path',
  REF_MOVED: (field) => `ref compare-and-swap conflict: expected ${field('expected')}, current ${field('actual')}`,
  NOT_A_DESCENDANT: (field, message) => (field('head') === '' ? message : `${message} Its head: ${field('head')}`),
  REF_EXISTS: (field) => `ref already exists: current ${field('head')}`,
  IDEMPOTENCY_MISMATCH: () => 'idempotency mismatch: this key was used for another request',
  HEAD_NOT_REACHABLE: (field) =>
    `head changeset ${field('head_changeset_id')} is not reachable from ref ${field('ref')}`,
  MERGE_AUTHORIZATION_REFUSED: () => 'invalid merge authorization',
  MERGE_AUTHORIZATION_MALFORMED: (_, message) =>
    message.startsWith(mergeNeeds) ? mergeNeeds : 'invalid merge authorization',
  READ_ONLY: () => recoveryText,
  STORE_UNAVAILABLE: () => 'store unavailable',
};

/** What a merge is told that lacks a protected ref, a reviewer, a proposal or an authorization (`lethe.md` §8). */
export const mergeNeeds = 'protected ref and signed merge authorization required';
/** What every mutation is told while the store is open for recovery. */
export const recoveryText = 'read-only recovery: mutations are disabled until reconciliation succeeds';

/** A fault in the words and with the status of this protocol. */
export function refusalOfFault(fault: Fault): Answer {
  const field = (name: string): string => {
    const value = fault.data[name];
    return typeof value === 'string' ? value : '';
  };
  const text = ownText[fault.code]?.(field, fault.message) ?? fault.message;
  return { ...refusal(ownStatus[fault.code] ?? httpStatusByFault[fault.code], text), fault };
}
