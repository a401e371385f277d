import type { VerifyReport } from '../../src-preload/contract/audit.ts';
import { AssertionFailed } from './assert.ts';
import { Fault } from './fault.ts';

/** Most findings that are listed; the rest are counted. */
export const findingsMax = 200;

/** What a verification found so far, the first first. */
export interface Findings {
  /** `where` names a row by its public id, `problem` says in one sentence what does not hold. */
  add(where: string, problem: string): void;
  /** Adds all that another list found, listed or counted. */
  absorb(other: Findings): void;
  readonly list: VerifyReport['findings'];
  /** Findings beyond `findingsMax`. */
  readonly omitted: number;
}

/** An empty list of findings. */
export function openFindings(): Findings {
  const list: { where: string; problem: string }[] = [];
  let omitted = 0;
  const add = (where: string, problem: string): void => {
    if (list.length < findingsMax) list.push({ where, problem });
    else omitted += 1;
  };
  return {
    add,
    absorb: (other) => {
      for (const { where, problem } of other.list) add(where, problem);
      omitted += other.omitted;
    },
    list,
    get omitted() {
      return omitted;
    },
  };
}

/**
 * Runs one check. What a damaged row makes it throw (a text that is no JSON, a row that should be there, a promise of the
 * index that does not hold) becomes a finding; a store that is busy or gone does not.
 * @param where the row by its public id, or how to find that when there is something to say
 */
export function checking(findings: Pick<Findings, 'add'>, where: string | (() => string), check: () => void): void {
  try {
    check();
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.kind === 'unavailable' && thrown.code !== 'INTEGRITY_MISMATCH') throw thrown;
    const named = typeof where === 'string' ? where : where();
    if (thrown instanceof Fault || thrown instanceof AssertionFailed) findings.add(named, thrown.message);
    else findings.add(named, 'it cannot be read: what is stored there is not in the form that was written');
  }
}
