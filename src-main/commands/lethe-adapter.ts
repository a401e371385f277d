import { diffCategories, type SemanticDiff } from '../../src-preload/contract/diff.ts';
import type { ChangesetId, RefName } from '../../src-preload/contract/ids.ts';
import { listLimitMax } from '../../src-preload/contract/limits.ts';
import { Fault } from '../base/fault.ts';
import { compareUtf8 } from '../canonical/text.ts';
import { isLive } from '../charon/rules/resolution-writing.ts';
import type { MemoryStorePort } from '../charon/store-port.ts';
import type { MemoryAnswer } from '../lethe/memory.ts';
import { findMemory } from './memory-at.ts';
import type { MemoryStore } from './memory-store.ts';
import { findSuccessor } from './successor.ts';

/**
 * A store as the policy engine sees it, in this process or over HTTP. It is asked for at every call, since the policy engine
 * opens first: it knows the owner's principal, which the store of this process needs.
 */
export function letheAdapter(lethe: () => MemoryStore): MemoryStorePort {
  return {
    findRef: async (projectId, refName) => lethe().findRef(projectId, refName),
    findChangeset: async (changesetId) => lethe().findChangeset(changesetId),
    isAncestor: async (ancestor, descendant) => lethe().isAncestor(ancestor, descendant),
    mergePreview: async (input) => lethe().mergePreview(input),
    proposalDiff: async ({ base, head, limit, cursor }) =>
      lethe().diff({ baseChangesetId: base, targetChangesetId: head, side: 'target', limit, cursor }),
    originators: async (from, to) => lethe().originators(from, to),
    findMemory: async (projectId, memoryId, head) => (await findMemory(lethe(), projectId, memoryId, head))?.memory,
    findSuccessor: async (projectId, memoryId, head) => findSuccessor(lethe(), projectId, memoryId, head),
    changedSince: async (input) => changedSince(lethe(), input),
    changedBetween: async (from, to) => changedBetween(lethe(), from, to),
    commitDetached: async (input) => lethe().commit({ ...input, advanceRef: false, mayRestore: true }),
    commitToNewRef: async (input) => {
      if ((await lethe().findRef(input.projectId, input.refName)) !== undefined) throw refExists(input.refName);
      const [expectedHead] = input.parentIds;
      return lethe().commitCreatingRef({ ...input, expectedHead, advanceRef: true, mayRestore: true });
    },
    detectConflicts: async (sides) => lethe().detectConflicts(sides),
    persistConflicts: async (input) => lethe().persistConflicts(input),
    resolveConflict: async (input) => lethe().resolveConflict(input),
    retireConflicts: async (input) => lethe().retireConflicts(input),
    listConflicts: async (input) => lethe().listConflicts(input),
    recordOutput: async ({ headChangesetId, ...input }) => {
      await lethe().recordOutputManifest({ ...input, headChangesetId, resultingChangesetId: headChangesetId });
    },
    advance: async (input) => lethe().advance(input),
    findAdvance: async (by) => lethe().findAdvance(by),
    findChangesetByKey: async (projectId, authorPrincipal, idempotencyKey) =>
      lethe().findChangesetByKey(projectId, authorPrincipal, idempotencyKey),
  };
}

/** Cost follows the memories that are named and their newest relationships, never what happened since. */
async function changedSince(
  lethe: MemoryStore,
  input: Parameters<MemoryStorePort['changedSince']>[0],
): ReturnType<MemoryStorePort['changedSince']> {
  const changed: string[] = [];
  for (const memoryId of input.memoryIds) if (await hasChanged(lethe, { ...input, memoryId })) changed.push(memoryId);
  return changed;
}

async function hasChanged(
  lethe: MemoryStore,
  asked: Omit<Parameters<MemoryStorePort['changedSince']>[0], 'memoryIds'> & { readonly memoryId: string },
): Promise<boolean> {
  const { projectId, memoryId, from, to } = asked;
  const before = await findMemory(lethe, projectId, memoryId, from);
  const after = await findMemory(lethe, projectId, memoryId, to, listLimitMax);
  if (stampOf(before) !== stampOf(after)) return true;
  const related = after?.relationships ?? [];
  // There may be others behind so many: what cannot be ruled out counts as changed.
  if (related.length >= listLimitMax) return true;
  for (const one of related)
    if (one.from_memory_id === memoryId && !(await lethe.isAncestor(one.changeset_id, from))) return true;
  return false;
}

/** What is another once something was said of a memory, or it was retired: retiring leaves its last change as it was. */
function stampOf(answer: MemoryAnswer | undefined): string {
  if (answer === undefined) return '';
  const { memory, exclusionReason = '' } = answer;
  return `${memory.last_changeset_id ?? ''} ${isLive(memory) ? memory.content : exclusionReason}`;
}

/** Memories of every change, before and after it, each once, in byte order. */
async function changedBetween(lethe: MemoryStore, from: ChangesetId, to: ChangesetId): Promise<readonly string[]> {
  const changed = new Set<string>();
  let cursor: string | undefined;
  do {
    const page: SemanticDiff = await lethe.diff({
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
