import type { Finding } from './finding.ts';

/** The declared base and the two sides, by their changesets. */
export interface DeclaredBase {
  readonly baseChangesetId: string;
  readonly isInLeft: boolean;
  readonly isInRight: boolean;
  readonly leftParents: readonly string[];
  readonly rightParents: readonly string[];
}

/** A base that is no ancestor of both sides (`lethe.md` §7 row 1). It blocks nothing: the base decides nothing (§0.3). */
export function detectStaleBase(base: DeclaredBase): readonly Finding[] {
  if (base.isInLeft && base.isInRight) return [];
  const missing = [base.isInLeft ? undefined : 'left', base.isInRight ? undefined : 'right'].filter(
    (side) => side !== undefined,
  );
  const said = new Map([[base.baseChangesetId, null]]);
  return [
    {
      type: 'stale_base',
      severity: 'warning',
      summary: `The declared base is not in the history of the ${missing.join(' and ')} side`,
      details: {
        left_parents: [...base.leftParents],
        right_parents: [...base.rightParents],
        expected_base: base.baseChangesetId,
      },
      memoryIds: [],
      // No memory says anything here: the key tells one declared base from another.
      left: said,
      right: said,
    },
  ];
}
