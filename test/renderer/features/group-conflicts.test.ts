import { expect, test } from 'vitest';
import { groupConflicts } from '../../../src-renderer/features/conflicts/group-conflicts.ts';
import { conflict } from '../fixtures.ts';

test('conflicts stand by severity, the gravest first, then by type', () => {
  const warning = conflict({ conflict_type: 'scope_flow', severity: 'warning' });
  const edit = conflict();
  const fact = conflict({ conflict_type: 'incompatible_fact' });
  const again = conflict({ conflict_id: 'e'.repeat(64) });
  expect(groupConflicts([warning, edit, fact, again]).map(({ type, conflicts }) => [type, conflicts.length])).toEqual([
    ['incompatible_fact', 1],
    ['concurrent_edit', 2],
    ['scope_flow', 1],
  ]);
});
