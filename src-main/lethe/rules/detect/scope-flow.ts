import { type Finding, noStates } from './finding.ts';
import { payloadText, type SideOp } from './side-op.ts';

const rankByVisibility: Readonly<Record<string, number>> = { private: 0, internal: 1, shared: 2, public: 3 };

/** An op that takes something from a narrower to a wider visibility (`lethe.md` §7 row 7); an unknown one counts as private. */
export function detectScopeFlow(op: SideOp): readonly Finding[] {
  const from = payloadText(op, 'from_visibility');
  const to = payloadText(op, 'to_visibility');
  if (from === '' || to === '' || rankOf(from) >= rankOf(to)) return [];
  return [
    {
      type: 'scope_flow',
      severity: 'warning',
      summary: `Memory moves to a wider visibility: ${from} → ${to}`,
      details: {
        changeset_id: op.changesetId,
        from_visibility: from,
        to_visibility: to,
        op_type: op.op.op_type,
      },
      memoryIds: op.memoryIds,
      left: noStates,
      right: noStates,
    },
  ];
}

function rankOf(visibility: string): number {
  return Object.hasOwn(rankByVisibility, visibility) ? (rankByVisibility[visibility] ?? 0) : 0;
}
