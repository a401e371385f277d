import { diffCategories } from '../../src-preload/contract/diff.ts';
import type { ChangesetId, RefName } from '../../src-preload/contract/ids.ts';
import { listLimitMax } from '../../src-preload/contract/limits.ts';
import { Fault } from '../base/fault.ts';
import { compareUtf8 } from '../canonical/text.ts';
import { isLive } from '../charon/rules/resolution-writing.ts';
import type { MemoryStorePort } from '../charon/store-port.ts';
import type { Lethe } from '../lethe/api.ts';
import { findMemory } from './memory-at.ts';
import { findSuccessor } from './successor.ts';

/**
 * The store of this process as the policy engine sees it. `lethe` is asked at every call, since the policy engine opens
 * first: it knows the owner's principal, which the store needs.
 */
export function letheAdapter(lethe: () => Lethe): MemoryStorePort {
  return {
    findRef: async (projectId, refName) => lethe().findRef(projectId, refName),
    findChangeset: async (changesetId) => lethe().findChangeset(changesetId),
    isAncestor: async (ancestor, descendant) => lethe().isAncestor(ancestor, descendant),
    mergePreview: async (input) => lethe().mergePreview(input),
    proposalDiff: async ({ base, head, limit, cursor }) =>
      lethe().diff({ baseChangesetId: base, targetChangesetId: head, side: 'target', limit, cursor }),
    originators: async (from, to) => lethe().originators(from, to),
    findMemory: async (projectId, memoryId, head) => findMemory(lethe(), projectId, memoryId, head)?.memory,
    findSuccessor: async (projectId, memoryId, head) => findSuccessor(lethe(), projectId, memoryId, head),
    changedSince: async (input) => changedSince(lethe(), input),
    changedBetween: async (from, to) => changedBetween(lethe(), from, to),
    commitDetached: (input) => lethe().commit({ ...input, advanceRef: false, mayRestore: true }),
    commitToNewRef: async (input) => {
      if (lethe().findRef(input.projectId, input.refName) !== undefined) throw refExists(input.refName);
      const [expectedHead] = input.parentIds;
      return lethe().commitCreatingRef({ ...input, expectedHead, advanceRef: true, mayRestore: true });
    },
    detectConflicts: async (sides) => lethe().detectConflicts(sides),
    persistConflicts: (input) => lethe().persistConflicts(input),
    resolveConflict: (input) => lethe().resolveConflict(input),
    retireConflicts: (input) => lethe().retireConflicts(input),
    listConflicts: async (input) => lethe().listConflicts(input),
    recordOutput: async ({ headChangesetId, ...input }) => {
      await lethe().recordOutputManifest({ ...input, headChangesetId, resultingChangesetId: headChangesetId });
    },
    advance: (input) => lethe().advance(input),
    findAdvance: async (by) => lethe().findAdvance(by),
    findChangesetByKey: async (projectId, authorPrincipal, idempotencyKey) =>
      lethe().findChangesetByKey(projectId, authorPrincipal, idempotencyKey),
  };
}

/** Cost follows the memories that are named and their newest relationships, never what happened since. */
function changedSince(
  lethe: Lethe,
  input: Parameters<MemoryStorePort['changedSince']>[0],
): Awaited<ReturnType<MemoryStorePort['changedSince']>> {
  const { projectId, memoryIds, from, to } = input;
  return memoryIds.filter((memoryId) => {
    const before = findMemory(lethe, projectId, memoryId, from);
    const after = findMemory(lethe, projectId, memoryId, to, listLimitMax);
    if (stampOf(before) !== stampOf(after)) return true;
    const related = after?.relationships ?? [];
    // There may be others behind so many: what cannot be ruled out counts as changed.
    if (related.length >= listLimitMax) return true;
    return related.some((one) => one.from_memory_id === memoryId && !lethe.isAncestor(one.changeset_id, from));
  });
}

/** What is another once something was said of a memory, or it was retired: retiring leaves its last change as it was. */
function stampOf(answer: ReturnType<typeof findMemory>): string {
  if (answer === undefined) return '';
  const { memory, exclusionReason = '' } = answer;
  return `${memory.last_changeset_id ?? ''} ${isLive(memory) ? memory.content : exclusionReason}`;
}

/** Memories of every change, before and after it, each once, in byte order. */
function changedBetween(lethe: Lethe, from: ChangesetId, to: ChangesetId): readonly string[] {
  const changed = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = lethe.diff({
      baseChangesetId: from,
      targetChangesetId: to,
      side: 'both',
      limit: listLimitMax,
      cursor,
    });
    for (const category of diffCategories) {
      for (const { memory_id: memoryId, before } of page[category]) {
        if (before !== null) changed.add(before.memory_id);
        changed.add(memoryId);
      }
    }
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return [...changed].toSorted(compareUtf8);
}

function refExists(refName: RefName): Fault {
  return new Fault('REF_EXISTS', 'The branch exists already. Try again: another name is taken then.', { ref: refName });
}
