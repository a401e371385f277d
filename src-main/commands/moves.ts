import type { ChangesetId } from '../../src-preload/contract/ids.ts';
import { Fault } from '../base/fault.ts';
import type { MemoryStore } from './memory-store.ts';

/** The chain digest of the head that a ref moved to, for the audit: outcomes of moves carry it (`lethe.md` §0.2). */
export async function chainOf(lethe: MemoryStore, head: ChangesetId): Promise<readonly string[]> {
  try {
    const changeset = await lethe.findChangeset(head);
    return changeset === undefined ? [] : [changeset.chain_digest];
  } catch (thrown) {
    // The ref has moved: a store that cannot be asked a moment later does not make that a refusal.
    if (thrown instanceof Fault && thrown.kind === 'unavailable') return [];
    throw thrown;
  }
}
