import { expect } from 'vitest';
import { Fault } from '../../src-main/base/fault.ts';
import {
  needsState,
  normalizeOps,
  type StateView,
  validateAgainstState,
  validateStateless,
} from '../../src-main/lethe/rules/validate-ops.ts';
import type { OpDraft } from '../support/history-builder.ts';

/** The refusal of some ops, or `taken`; a state of active ids when pass 2 is meant too. */
export function judge(drafts: readonly OpDraft[], active: readonly string[] = []): string {
  const view: StateView = {
    isActive: (memoryId) => active.includes(memoryId),
    mustDecide: () => false,
    findPast: () => 'unseen',
  };
  try {
    const ops = normalizeOps(drafts.map((draft, ordinal) => ({ ordinal, ...draft })));
    validateStateless(ops);
    if (needsState(ops)) validateAgainstState(ops, view);
    return 'taken';
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
    expect(thrown.code).toBe('OP_INVALID');
    return thrown.message;
  }
}

/** The text of a refusal. */
export function refusal(opType: string, reason: string, index = 0): string {
  return `invalid semantic operation: ops[${index}] (${opType}): ${reason}`;
}
