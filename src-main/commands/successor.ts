import { type ChangesetId, changesetIdSchema, type ProjectId } from '../../src-preload/contract/ids.ts';
import { findReplacement, findTouchedMemory } from '../charon/rules/op-reach.ts';
import { findMemory } from './memory-at.ts';
import type { MemoryStore } from './memory-store.ts';

/** States that are followed back from a memory that was restored to being retired. */
const followedMax = 100;

/**
 * What came in the place of a memory that is retired at a changeset, or stays for it: named by the protocol's own reason for
 * its absence (`lethe.md` §5.6), or by the op of the changeset that the reason names.
 */
export async function findSuccessor(
  lethe: MemoryStore,
  projectId: ProjectId,
  memoryId: string,
  head: ChangesetId,
): Promise<string | undefined> {
  let at = head;
  for (let step = 0; step < followedMax; step += 1) {
    const reason = (await findMemory(lethe, projectId, memoryId, at))?.exclusionReason ?? '';
    const named = /^(?:corrected by|duplicate of) (.+)$/s.exec(reason)?.[1];
    if (named !== undefined) return named;
    const changesetId = changesetIdSchema.safeParse(/^superseded at (.+)$/.exec(reason)?.[1]);
    if (!changesetId.success) return undefined;
    const superseding = await lethe.findChangeset(changesetId.data);
    const retiring = superseding?.ops?.findLast((op) => findTouchedMemory(op) === memoryId);
    if (retiring === undefined) return undefined;
    const restored = changesetIdSchema.safeParse(retiring.payload?.restores);
    if (!restored.success) return findReplacement(changesetId.data, retiring, memoryId);
    at = restored.data;
  }
  return undefined;
}
