import type { Changeset, Op } from '../../src-preload/contract/changeset.ts';
import type { ChangesetId } from '../../src-preload/contract/ids.ts';
import type { SelectedOp } from '../../src-preload/contract/proposal.ts';
import { Fault } from '../base/fault.ts';
import type { CharonContext } from './context.ts';
import { findMadeMemory, listNeededMemories } from './rules/op-reach.ts';
import type { StoredProposal } from './tables/proposals.ts';

/** An op that a cherry-pick takes, with the changeset that it stands in. */
export interface PickedOp {
  readonly changeset: Changeset;
  readonly op: Op;
}

/** The ops that a cherry-pick takes, in its order; undefined for a proposal of a whole head. Throws `INPUT_INVALID` for one that is not there. */
export async function readPicks(
  context: CharonContext,
  selected: readonly SelectedOp[] | null,
): Promise<readonly PickedOp[] | undefined> {
  if (selected === null) return undefined;
  const changesets = new Map<ChangesetId, Changeset>();
  const picks: PickedOp[] = [];
  for (const { changeset_id: changesetId, ordinal } of selected) {
    const changeset = changesets.get(changesetId) ?? (await context.store.findChangeset(changesetId));
    const op = changeset?.ops?.[ordinal];
    if (changeset === undefined || op === undefined) throw noSuchOp({ changeset_id: changesetId, ordinal });
    changesets.set(changesetId, changeset);
    picks.push({ changeset, op });
  }
  return picks;
}

/** The picked ops that a head of the target does not contain; an op whose changeset has been merged since is not taken again. */
export async function listMissingPicks(
  context: CharonContext,
  stored: StoredProposal,
  targetHead: ChangesetId,
): Promise<readonly PickedOp[]> {
  const contained = new Map<ChangesetId, boolean>();
  const missing: PickedOp[] = [];
  for (const pick of (await readPicks(context, stored.selected_ops)) ?? []) {
    const { changeset_id: id } = pick.changeset;
    const isThere = contained.get(id) ?? (await context.store.isAncestor(id, targetHead));
    contained.set(id, isThere);
    if (!isThere) missing.push(pick);
  }
  return missing;
}

/** Every memory that the ops change, retire, or make. */
export function memoriesOfPicks(picks: readonly PickedOp[]): ReadonlySet<string> {
  return new Set(
    picks.flatMap(({ changeset, op }) => {
      const made = findMadeMemory(changeset.changeset_id, op);
      return [...listNeededMemories(op), ...(made === undefined ? [] : [made])];
    }),
  );
}

/**
 * Who wrote what a proposal brings in (`lethe.md` §0.1): of a cherry-pick, the authors of the changesets that it takes from, named
 * as the store names them. Cost follows what is brought in.
 */
export async function listAuthors(
  context: CharonContext,
  stored: StoredProposal,
  targetHead: ChangesetId,
): Promise<readonly string[]> {
  const picks = await readPicks(context, stored.selected_ops);
  if (picks === undefined) return context.store.originators(targetHead, stored.head_changeset_id);
  const authors = new Set<string>();
  for (const changeset of new Set(picks.map((pick) => pick.changeset)))
    for (const author of await namesOfAuthor(context, changeset)) authors.add(author);
  return [...authors];
}

/**
 * Who wrote a changeset, as the store tells it of what the changeset brings beside its first parent: of one that came from a file it
 * is nobody here, whatever the name. A merge may bring both; then both count.
 */
async function namesOfAuthor({ store }: CharonContext, changeset: Changeset): Promise<readonly string[]> {
  const { author_principal: author, changeset_id: changesetId, parent_ids: parentIds } = changeset;
  const [parent] = parentIds;
  if (parent === undefined) return [author];
  const brought = await store.originators(parent, changesetId);
  return brought.filter((name) => name === author || name === `imported:${author}`);
}

/** A picked op as it is named in a proposal. */
export function selectedOf({ changeset, op }: PickedOp): SelectedOp {
  return { changeset_id: changeset.changeset_id, ordinal: op.ordinal };
}

/** The refusal of an op that leads to a memory which the target has retired. */
export function retiredEnd(pick: PickedOp): Fault {
  const op = selectedOf(pick);
  return new Fault(
    'INPUT_INVALID',
    `selected_ops: ${nameOfPick(op)} leads to a memory that the target has retired. Propose the others without it.`,
    { field: 'selected_ops', op },
  );
}

/** How an op is called where it is refused. */
export function nameOfPick({ changeset_id: changesetId, ordinal }: SelectedOp): string {
  return `op ${ordinal} of changeset ${changesetId}`;
}

/** The refusal of an op that its changeset does not have. */
function noSuchOp(named: SelectedOp): Fault {
  return new Fault('INPUT_INVALID', `selected_ops: there is no ${nameOfPick(named)}. Take ordinals from memory.show.`, {
    field: 'selected_ops',
    op: named,
  });
}
