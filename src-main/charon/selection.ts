import type { Changeset } from '../../src-preload/contract/changeset.ts';
import type { ChangesetId, ProjectId } from '../../src-preload/contract/ids.ts';
import type { SelectedOp } from '../../src-preload/contract/proposal.ts';
import { Fault } from '../base/fault.ts';
import type { CharonContext } from './context.ts';
import { nameOfPick, type PickedOp, readPicks, retiredEnd, selectedOf } from './picks.ts';
import { findMadeMemory, findTouchedMemory, listNeededMemories } from './rules/op-reach.ts';
import { isLive } from './rules/resolution-writing.ts';

/** Where the ops of a cherry-pick are taken from, and where they go. */
export interface SelectionPlace {
  readonly projectId: ProjectId;
  readonly head: ChangesetId;
  readonly targetHead: ChangesetId;
}

/**
 * The ops that a cherry-pick takes, each once, in the order of history; a bare number is an op of the head. Throws
 * `INPUT_INVALID` for an op that is not there, not of the proposed history, or in the target already, for one whose memory only an
 * op makes that is not selected, naming that in `needs`, and for one that leads to a memory which the target retired.
 */
export async function selectOps(
  context: CharonContext,
  place: SelectionPlace,
  selected: readonly (number | SelectedOp)[],
): Promise<readonly SelectedOp[]> {
  const named = new Map<string, SelectedOp>();
  for (const one of selected) {
    const op = typeof one === 'number' ? { changeset_id: place.head, ordinal: one } : one;
    named.set(`${op.changeset_id} ${op.ordinal}`, op);
  }
  const changesets = new Map<string, Changeset>();
  for (const { changeset_id: id } of named.values()) {
    if (!changesets.has(id)) changesets.set(id, await getPickable(context, place, id));
  }
  const madeAt = (op: SelectedOp): string => changesets.get(op.changeset_id)?.created_at ?? '';
  const inOrder = [...named.values()].toSorted(
    (one, other) =>
      compare(madeAt(one), madeAt(other)) ||
      compare(one.changeset_id, other.changeset_id) ||
      one.ordinal - other.ordinal,
  );
  await requireWhole(context, place, (await readPicks(context, inOrder)) ?? []);
  return inOrder;
}

async function getPickable(context: CharonContext, place: SelectionPlace, id: ChangesetId): Promise<Changeset> {
  const { store } = context;
  const changeset = await store.findChangeset(id);
  if (changeset?.project_id !== place.projectId || !(await store.isAncestor(id, place.head)))
    throw refuse(`selected_ops: changeset ${id} is not in the history of head_changeset_id.`, { changeset_id: id });
  if (await store.isAncestor(id, place.targetHead))
    throw refuse(`selected_ops: the target contains changeset ${id} already.`, { changeset_id: id });
  return changeset;
}

/** Every memory that the ops are about is the target's, or made by one of them before. */
async function requireWhole(context: CharonContext, place: SelectionPlace, picks: readonly PickedOp[]): Promise<void> {
  const made = new Set<string>();
  const needs = new Map<string, SelectedOp>();
  // What stands between the two sides about a memory that a picked op changes is a conflict, which can bring it back.
  const touched = new Set(picks.map(({ op }) => findTouchedMemory(op)));
  let first: SelectedOp | undefined;
  for (const pick of picks) {
    for (const memoryId of listNeededMemories(pick.op)) {
      if (made.has(memoryId)) continue;
      const there = await context.store.findMemory(place.projectId, memoryId, place.targetHead);
      if (there !== undefined) {
        if (touched.has(memoryId) || isLive(there)) continue;
        throw retiredEnd(pick);
      }
      const maker = await findMaker(context, place, memoryId);
      first ??= selectedOf(pick);
      if (maker !== undefined) needs.set(memoryId, maker);
    }
    const makes = findMadeMemory(pick.changeset.changeset_id, pick.op);
    if (makes === undefined) continue;
    const there = await context.store.findMemory(place.projectId, makes, place.targetHead);
    if (isLive(there ?? null) && !made.has(makes))
      throw refuse(`selected_ops: the target has the memory of ${nameOfPick(selectedOf(pick))} already.`, {
        op: selectedOf(pick),
      });
    made.add(makes);
  }
  if (first === undefined) return;
  const needed = [...needs.values()];
  const which = needed.map(nameOfPick).join(', ') || 'an op';
  throw refuse(
    `selected_ops: ${nameOfPick(first)} is about a memory that ${which} makes, which is not selected. Select it too.`,
    { op: first, needs: needed },
  );
}

/** The op of the proposed history that made a memory. */
async function findMaker(
  context: CharonContext,
  place: SelectionPlace,
  memoryId: string,
): Promise<SelectedOp | undefined> {
  const memory = await context.store.findMemory(place.projectId, memoryId, place.head);
  if (memory?.introduced_changeset_id === undefined) return undefined;
  const changeset = await context.store.findChangeset(memory.introduced_changeset_id);
  const op = changeset?.ops?.find((one) => findMadeMemory(changeset.changeset_id, one) === memoryId);
  return changeset === undefined || op === undefined ? undefined : selectedOf({ changeset, op });
}

function refuse(message: string, data: Readonly<Record<string, unknown>>): Fault {
  return new Fault('INPUT_INVALID', message, { field: 'selected_ops', ...data });
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
