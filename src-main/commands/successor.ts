import { type ChangesetId, changesetIdSchema, type ProjectId } from '../../src-preload/contract/ids.ts';
import { findReplacement, findTouchedMemory } from '../charon/rules/op-reach.ts';
import type { Lethe } from '../lethe/api.ts';
import { findMemory } from './memory-at.ts';

/** States that are followed back from a memory that was restored to being retired. */
const followedMax = 100;

/**
 * What came in the place of a memory that is retired at a changeset, or stays for it: named by the protocol's own reason for
 * its absence (`lethe.md` §5.6), or by the op of the changeset that the reason names.
 */
export function findSuccessor(
  lethe: Lethe,
  projectId: ProjectId,
  memoryId: string,
  head: ChangesetId,
): string | undefined {
  let at = head;
  for (let step = 0; step < followedMax; step += 1) {
    const reason = findMemory(lethe, projectId, memoryId, at)?.exclusionReason ?? '';
    const named = /^(?:corrected by|duplicate of) (.+)$/s.exec(reason)?.[1];
    if (named !== undefined) return named;
    const changesetId = changesetIdSchema.safeParse(/^superseded at (.+)$/.exec(reason)?.[1]);
    if (!changesetId.success) return undefined;
    const retiring = lethe.findChangeset(changesetId.data)?.ops?.findLast((op) => findTouchedMemory(op) === memoryId);
    if (retiring === undefined) return undefined;
    const restored = changesetIdSchema.safeParse(retiring.payload?.restores);
    if (!restored.success) return findReplacement(changesetId.data, retiring, memoryId);
    at = restored.data;
  }
  return undefined;
}
