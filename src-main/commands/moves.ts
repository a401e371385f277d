import type { ChangesetId } from '../../src-preload/contract/ids.ts';
import type { Lethe } from '../lethe/api.ts';

/** The chain digest of the head that a ref moved to, for the audit: outcomes of moves carry it (`lethe.md` §0.2). */
export function chainOf(lethe: Lethe, head: ChangesetId): readonly string[] {
  const changeset = lethe.findChangeset(head);
  return changeset === undefined ? [] : [changeset.chain_digest];
}
