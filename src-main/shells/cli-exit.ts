import type { FaultKind } from '../../src-preload/contract/faults.ts';
import type { Fault } from '../base/fault.ts';

/** What a command line ends with (`charon.md` §8). */
export const exitCodes = { done: 0, refused: 1, usage: 2, unavailable: 3 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

const byKind = {
  denied: exitCodes.refused,
  conflict: exitCodes.refused,
  invalid: exitCodes.refused,
  not_found: exitCodes.refused,
  read_only: exitCodes.refused,
  unavailable: exitCodes.unavailable,
} as const satisfies Record<FaultKind, ExitCode>;

/** The exit code of a refusal: what was typed wrong is a matter of usage. */
export function exitCodeOf(fault: Fault): ExitCode {
  return fault.code === 'INPUT_INVALID' ? exitCodes.usage : byKind[fault.kind];
}
