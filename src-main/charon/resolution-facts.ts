import type { Conflict } from '../../src-preload/contract/conflict.ts';
import type { ChangesetId, ProjectId } from '../../src-preload/contract/ids.ts';
import { type AcceptedMemory, acceptedMemorySchema } from '../../src-preload/contract/memory.ts';
import type { CharonContext } from './context.ts';
import { memoryIdsOf } from './rules/merge-shape.ts';
import { isLive, type MemorySides, type PlanFacts, type Succession } from './rules/resolution-writing.ts';
import type { StoredProposal } from './tables/proposals.ts';

/** Memories that are followed from a retired one to what came in its place. */
const followedMax = 100;

/**
 * What the two heads say of the memories that a conflict names, and of what came in the place of those that were retired.
 * Cost follows the memories that are named.
 */
export function readPlanFacts(
  context: CharonContext,
  stored: StoredProposal,
  targetHead: ChangesetId,
  conflict: Conflict,
): Promise<PlanFacts> {
  const key = `${stored.proposal_id} ${targetHead} ${conflict.conflict_id}`;
  return context.memos.facts.get(key, () => askPlanFacts(context, stored, targetHead, conflict));
}

async function askPlanFacts(
  context: CharonContext,
  stored: StoredProposal,
  targetHead: ChangesetId,
  conflict: Conflict,
): Promise<PlanFacts> {
  const isPick = stored.selected_ops !== null;
  const heads = { projectId: stored.project_id, left: targetHead, right: stored.head_changeset_id };
  const memories: MemorySides[] = [];
  for (const memoryId of namedMemories(conflict)) {
    const left = await findState(context, heads.projectId, memoryId, heads.left);
    const right = await findState(context, heads.projectId, memoryId, heads.right);
    memories.push({
      memoryId,
      left,
      right,
      leftSuccession: await follow(context, heads.projectId, memoryId, left, heads.left, heads.right),
      rightSuccession: await follow(context, heads.projectId, memoryId, right, heads.right, heads.left),
      liveAt: liveAt(conflict),
    });
  }
  return {
    proposalId: stored.proposal_id,
    targetHead,
    proposalHead: stored.head_changeset_id,
    isPick,
    memories,
  };
}

/** The memories of a conflict; of two that contradict each other the target's first. */
function namedMemories(conflict: Conflict): readonly string[] {
  const { details } = conflict;
  const named = (key: string): string | undefined => {
    const value = details?.[key];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const one = named('memory_id');
  if (one !== undefined) return [one];
  const [left, right] = [named('left_event'), named('right_event')];
  if (left !== undefined && right !== undefined) return [left, right];
  return memoryIdsOf(conflict);
}

/** Where the memory was live before the sides parted. */
function liveAt({ details }: Conflict): string | undefined {
  const base = acceptedMemorySchema.safeParse(details?.base);
  return base.success && isLive(base.data) ? base.data.last_changeset_id : undefined;
}

async function findState(
  { store }: CharonContext,
  projectId: ProjectId,
  memoryId: string,
  head: ChangesetId,
): Promise<AcceptedMemory | null> {
  return (await store.findMemory(projectId, memoryId, head)) ?? null;
}

/** What came in the place of a memory that one side retired, as far as that matters to the other side. */
async function follow(
  context: CharonContext,
  projectId: ProjectId,
  memoryId: string,
  state: AcceptedMemory | null,
  own: ChangesetId,
  other: ChangesetId,
): Promise<Succession> {
  const followed = new Set([memoryId]);
  let [oneId, one] = [memoryId, state];
  while (one !== null && !isLive(one) && followed.size < followedMax) {
    const nextId = await context.store.findSuccessor(projectId, oneId, own);
    if (nextId === undefined || followed.has(nextId)) break;
    followed.add(nextId);
    [oneId, one] = [nextId, await findState(context, projectId, nextId, own)];
    if (!isLive(one)) continue;
    const there = await findState(context, projectId, nextId, other);
    if (there === null) return { rivals: [nextId], kin: [] };
    if (!isLive(there)) return { rivals: [], kin: [nextId] };
  }
  return { rivals: [], kin: [] };
}
