import { diffCategories, type SemanticDiff } from '../../../src-preload/contract/diff.ts';
import type { ProposalDetail } from '../../../src-preload/contract/proposal.ts';

/**
 * The pages of a proposal as one, with every conflict and change read so far in the order of the pages; its diff has a `next_cursor`
 * while there are more. Undefined for no page.
 */
export function joinProposalPages(pages: readonly ProposalDetail[]): ProposalDetail | undefined {
  const [first] = pages;
  const last = pages.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const joined: SemanticDiff = { ...first.diff, next_cursor: last.diff.next_cursor };
  for (const category of diffCategories) joined[category] = pages.flatMap((page) => page.diff[category]);
  return {
    ...first,
    conflicts: pages.flatMap((page) => page.conflicts),
    resolutions: pages.flatMap((page) => page.resolutions),
    diff: joined,
  };
}
