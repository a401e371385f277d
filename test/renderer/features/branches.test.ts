import { expect, test } from 'vitest';
import { refSchema } from '../../../src-preload/contract/changeset.ts';
import {
  type BranchRow,
  groupBranches,
  standsWords,
  whyNotProposed,
} from '../../../src-renderer/features/branches/group-branches.ts';
import { ids, noon } from '../fixtures.ts';

const row = (refName: string, rest: Partial<BranchRow> = {}): BranchRow => ({
  ref: refSchema.parse({
    ...{ project_id: 'demo', ref_name: refName, head_changeset_id: ids.head, created_at: noon, updated_at: noon },
    protected: refName.startsWith('refs/shared/'),
  }),
  ...{ ahead: 1, behind: 0, message: 'm', author_principal: ids.agent, proposalId: undefined },
  ...rest,
});

test('branches stand under their namespace, shared memory first, what belongs nowhere last', () => {
  const rows = ['refs/agents/a/main', 'refs/shared/main', 'refs/wild/x', 'refs/topics/t'].map((name) => row(name));
  expect(groupBranches(rows).map(({ words, rows: of }) => [words, of.map(({ ref }) => String(ref.ref_name))])).toEqual([
    ['Shared memory', ['refs/shared/main']],
    ['Agents', ['refs/agents/a/main']],
    ['Topics', ['refs/topics/t']],
    ['Others', ['refs/wild/x']],
  ]);
});

test('a branch says how far it stands from main', () => {
  expect(standsWords({ ahead: 1_200, behind: 3 })).toBe('1,200 ahead, 3 behind');
  expect(standsWords({ ahead: 0, behind: 3 })).toBe('3 behind');
  expect(standsWords({ ahead: 0, behind: 0 })).toBe('same as main');
});

test('what cannot be proposed says why', () => {
  expect(whyNotProposed(row('refs/topics/t'))).toBeNull();
  expect(whyNotProposed(row('refs/shared/main'))).toMatch(/shared memory itself/);
  expect(whyNotProposed(row('refs/topics/t', { ahead: 0, behind: 2 }))).toMatch(/already/);
  expect(whyNotProposed(row('refs/topics/t', { proposalId: ids.proposal }))).toMatch(/proposed/);
});
