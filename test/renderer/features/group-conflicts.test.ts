import { expect, test } from 'vitest';
import { groupConflicts, listOpen } from '../../../src-renderer/features/conflicts/group-conflicts.ts';
import { conflict, ids, proposal } from '../fixtures.ts';

const row = (rest: Record<string, unknown> = {}) => ({ conflict: conflict(rest), message: 'm' });

test('conflicts stand by severity, the gravest first, then by type', () => {
  const warning = row({ conflict_type: 'scope_flow', severity: 'warning' });
  const fact = row({ conflict_type: 'incompatible_fact' });
  const again = row({ conflict_id: 'e'.repeat(64) });
  expect(groupConflicts([warning, row(), fact, again]).map(({ type, rows }) => [type, rows.length])).toEqual([
    ['incompatible_fact', 1],
    ['concurrent_edit', 2],
    ['scope_flow', 1],
  ]);
});

test('open ones are those that proposals are listed with; what they are not listed with is counted', () => {
  const settled = conflict({ conflict_id: 'e'.repeat(64), status: 'resolved' });
  const listed = proposal({
    conflicts: [conflict(), settled],
    conflict_counts: { blocking: 30, warning: 2, info: 0, unresolved: 1 },
  });
  const open = listOpen([listed, proposal()]);
  expect(open.rows).toEqual([{ conflict: { ...conflict(), proposal_id: ids.proposal }, message: 'm' }]);
  expect(open.more).toBe(30);
});
