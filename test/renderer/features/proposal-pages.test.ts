import { expect, test } from 'vitest';
import { summariseProposal } from '../../../src-renderer/features/inbox/decide.ts';
import { joinProposalPages } from '../../../src-renderer/features/inbox/proposal-pages.ts';
import { conflict, diff, proposal } from '../fixtures.ts';

const first = proposal({ diff: diff({ memories_added: [{ memory_id: 'a' }] }, { next_cursor: 'c' }) });
const second = proposal({
  diff: diff({ memories_added: [{ memory_id: 'b' }], corrections_proposed: [{ memory_id: 'm' }] }),
});

test('a proposal counts the changes of every page that was read, and says while there are more', () => {
  const half = joinProposalPages([first]);
  const whole = joinProposalPages([first, second]);
  if (half === undefined || whole === undefined) throw new Error('there is a proposal where there are pages');
  expect(summariseProposal(half)).toBe('1 added and more');
  expect(summariseProposal(whole)).toBe('2 added, 1 corrected');
  expect(whole.diff.memories_added.map((item) => item.memory_id)).toEqual(['a', 'b']);
  expect(whole.proposal_digest).toBe(first.proposal_digest);
});

test('conflicts that stand on several pages are all there', () => {
  const [one, other] = [conflict(), conflict({ conflict_id: 'e'.repeat(64) })];
  const joined = joinProposalPages([proposal({ conflicts: [one] }), proposal({ conflicts: [other] })]);
  expect(joined?.conflicts).toEqual([one, other]);
});

test('without a page there is no proposal', () => {
  expect(joinProposalPages([])).toBeUndefined();
});
