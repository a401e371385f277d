import type { Op } from '../../../src-preload/contract/changeset.ts';
import type { MergeStrategy } from '../../../src-preload/contract/proposal.ts';
import { assertNever } from '../../base/assert.ts';
import { Fault } from '../../base/fault.ts';
import { isNonEmpty } from './op-fields.ts';

/** What the shape of a protected move is judged by. */
export interface ShapeFacts {
  readonly strategy: MergeStrategy;
  readonly expectedHead: string;
  readonly newHead: {
    readonly changesetId: string;
    readonly parentIds: readonly string[];
    readonly author: string;
    readonly ops: readonly Op[];
  };
  readonly merger: string;
  /** Whether a changeset of the project has that id. */
  exists(changesetId: string): boolean;
  /** Whether a changeset is `head` itself or among its ancestors. */
  contains(head: string, changesetId: string): boolean;
}

/**
 * Why a new head is not the merge that the strategy says, as a refusal (`lethe.md` §8, §0.1, D3, D9); undefined when it is.
 * fast_forward: a true descendant. merge_commit: two parents, the expected head first, the second bringing something in,
 * written by the merger. cherry_pick: the expected head for its only parent, every op picked from a changeset that there
 * is, written by the merger.
 */
export function findShapeFault(facts: ShapeFacts): Fault | undefined {
  switch (facts.strategy) {
    case 'fast_forward':
      return findFastForwardFault(facts);
    case 'merge_commit':
      return findMergeCommitFault(facts);
    case 'cherry_pick':
      return findCherryPickFault(facts);
    default:
      return assertNever(facts.strategy, 'every merge strategy has a shape');
  }
}

function findFastForwardFault(facts: ShapeFacts): Fault | undefined {
  if (facts.newHead.changesetId === facts.expectedHead) return nothingToMerge();
  if (facts.contains(facts.newHead.changesetId, facts.expectedHead)) return undefined;
  return shapeFault('a fast_forward goes to a descendant of expected_head: not a descendant');
}

function findMergeCommitFault(facts: ShapeFacts): Fault | undefined {
  const [first, second] = facts.newHead.parentIds;
  if (facts.newHead.parentIds.length !== 2 || first !== facts.expectedHead || second === undefined) {
    return shapeFault('a merge_commit has two parents, expected_head first');
  }
  if (facts.newHead.author !== facts.merger) return shapeFault('a merge_commit is authored by its merger');
  return facts.contains(facts.expectedHead, second) ? nothingToMerge() : undefined;
}

function findCherryPickFault({ newHead, expectedHead, merger, exists }: ShapeFacts): Fault | undefined {
  if (newHead.parentIds.length !== 1 || newHead.parentIds[0] !== expectedHead)
    return shapeFault('a cherry_pick has expected_head for its only parent');
  if (newHead.author !== merger) return shapeFault('a cherry_pick is authored by its merger');
  for (const op of newHead.ops) {
    const source = op.payload?.cherrypicked_from;
    if (isNonEmpty(source) && exists(source)) continue;
    return shapeFault(`ops[${op.ordinal}] must name a changeset of the project in cherrypicked_from`);
  }
  return undefined;
}

/** The changesets that the ops of a cherry_pick were picked from, each once. */
export function listPicked(ops: readonly Op[]): readonly string[] {
  const sources = ops.map((op) => op.payload?.cherrypicked_from);
  return [...new Set(sources.filter((source) => isNonEmpty(source)))];
}

/** The refusal of a wrong shape. */
export function shapeFault(reason: string): Fault {
  return new Fault('MERGE_SHAPE', `new_head does not fit the strategy: ${reason}.`, { reason });
}

function nothingToMerge(): Fault {
  return new Fault('NOTHING_TO_MERGE', 'new_head: the target contains all of it already. There is nothing to merge.');
}

/**
 * The refusal of a reviewer or merger who wrote what the move brings in (`lethe.md` §0.1); undefined when neither did, or
 * when both are the owner.
 */
export function findSeparationFault(facts: {
  readonly originators: readonly string[];
  readonly reviewer: string;
  readonly merger: string;
  readonly owner: string | undefined;
}): Fault | undefined {
  if (facts.owner !== undefined && facts.reviewer === facts.owner && facts.merger === facts.owner) return undefined;
  for (const role of ['reviewer', 'merger'] as const) {
    if (!facts.originators.includes(facts[role])) continue;
    return new Fault(
      'ORIGINATOR_MAY_NOT_MERGE',
      `${role}: it wrote some of what this merge brings in. Another principal has to review and merge it.`,
      { role },
    );
  }
  return undefined;
}
