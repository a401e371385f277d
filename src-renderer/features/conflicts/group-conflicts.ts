import {
  type Conflict,
  type ConflictType,
  conflictTypes,
  type Severity,
} from '../../../src-preload/contract/conflict.ts';

export interface ConflictGroup {
  readonly severity: Severity;
  readonly type: ConflictType;
  readonly conflicts: readonly Conflict[];
}

const gravest: readonly Severity[] = ['blocking', 'warning', 'info'];

/** Conflicts by severity, the gravest first, then by type in the contract's order; within a group in the order given. */
export function groupConflicts(conflicts: readonly Conflict[]): readonly ConflictGroup[] {
  return gravest.flatMap((severity) =>
    conflictTypes.flatMap((type) => {
      const rows = conflicts.filter((conflict) => conflict.severity === severity && conflict.conflict_type === type);
      return rows.length === 0 ? [] : [{ severity, type, conflicts: rows }];
    }),
  );
}
