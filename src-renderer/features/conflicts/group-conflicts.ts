import {
  type Conflict,
  type ConflictType,
  conflictTypes,
  type Severity,
} from '../../../src-preload/contract/conflict.ts';
import type { Proposal } from '../../../src-preload/contract/proposal.ts';

/** One conflict with what its proposal says of itself, when that is known. */
export interface ConflictRow {
  readonly conflict: Conflict;
  readonly message: string | undefined;
}

interface ConflictGroup {
  readonly severity: Severity;
  readonly type: ConflictType;
  readonly rows: readonly ConflictRow[];
}

const gravest: readonly Severity[] = ['blocking', 'warning', 'info'];

/** Conflicts by severity, the gravest first, then by type in the contract's order; within a group in the order given. */
export function groupConflicts(rows: readonly ConflictRow[]): readonly ConflictGroup[] {
  return gravest.flatMap((severity) =>
    conflictTypes.flatMap((type) => {
      const members = rows.filter(({ conflict }) => conflict.severity === severity && conflict.conflict_type === type);
      return members.length === 0 ? [] : [{ severity, type, rows: members }];
    }),
  );
}

/** The open conflicts that proposals are listed with, and how many more they have than they are listed with. */
export function listOpen(proposals: readonly Proposal[]): {
  readonly rows: readonly ConflictRow[];
  readonly more: number;
} {
  const rows = proposals.flatMap(({ proposal_id: proposalId, conflicts, message }) =>
    conflicts
      .filter(({ status }) => status === 'open')
      .map((conflict) => ({ conflict: { ...conflict, proposal_id: proposalId }, message })),
  );
  const more = proposals.reduce((sum, { conflicts, conflict_counts: { blocking, warning, info } }) => {
    return sum + Math.max(0, blocking + warning + info - conflicts.length);
  }, 0);
  return { rows, more };
}
