import type { Op } from '../../../src-preload/contract/changeset.ts';
import { assert } from '../../base/assert.ts';
import { Fault } from '../../base/fault.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';
import { raiseVector, uniteVectors, type VectorRoot, type WritableVectorNodes } from '../rules/vector.ts';
import { insertPlace, isTip, nextChain, type Place } from '../tables/chains.ts';
import { type AppliedOps, applyOps, writeApplied } from './apply.ts';
import { contestedNamedMax, listUndecided, memoriesIn, nameUndecided, type Undecided } from './contested.ts';
import { withMergeTouches } from './merge-touches.ts';
import { defaultPageOptions, type PageOptions, writePage } from './pages.ts';
import {
  countChangesetsOf,
  countTouchesOf,
  openWritableSight,
  rangesBeyond,
  type Sight,
  type WritableSight,
} from './sight.ts';
import { findNewestTouch, isLive } from './state.ts';

/** A changeset that has just been stored, with its ops. */
export interface ProjectedChangeset {
  readonly seq: number;
  readonly projectId: string;
  readonly changesetId: string;
  /** Numbers of its parents, in their order: none, one or two. */
  readonly parents: readonly number[];
  readonly ops: readonly Op[];
}

/**
 * What to do about a merge that leaves memories undecided: refuse it (`L23`), or take it in and make of each what the ops of its
 * second side, applied over the states of the first, make of it (`L151`). Only an import overrides: its merges were made
 * elsewhere. What comes in by a door is refused.
 */
export type WhenUndecided = 'refuse' | 'override';

export interface ExtendOptions {
  readonly pages?: PageOptions;
  readonly whenUndecided?: WhenUndecided;
}

/**
 * Extends the derived index by one changeset, in the transaction that stores it (`L108`): its place and vector, one touch for
 * each memory that an op changed, the version of each correction, the number of active memories, and the recency page
 * when one is due. Cost follows the ops; for a merge, what the smaller side has and what both changed. Throws
 * BOTH_SIDES_TOUCHED naming the memories that a merge leaves undecided.
 */
export function extendProjection(db: WritableDb, changeset: ProjectedChangeset, options: ExtendOptions = {}): void {
  assert(changeset.parents.length <= 2, 'a changeset has at most two parents');
  const { pages = defaultPageOptions, whenUndecided = 'refuse' } = options;
  const sight = openWritableSight(db);
  const parents = changeset.parents.map((parent) => sight.places.get(parent));
  const chain = chainFor(sight, parents[0]);
  const ops = applyOps(sight, changeset, parents, chain);
  const undecided = findUndecided(sight, parents, ops);
  if (whenUndecided === 'refuse') requireDecided(db, undecided);
  const applied = withMergeTouches(sight, changeset, parents, chain, ops, undecided.contested);
  const place = derivePlace(sight, changeset.seq, parents, chain, applied, pages);
  writeApplied(db, changeset.projectId, applied);
  insertPlace(db, place);
  if (place.steps === 0) writePage(db, changeset.seq, pages);
}

/** What a changeset with two parents leaves undecided. */
export function findUndecided(sight: Sight, parents: readonly Place[], { touches }: AppliedOps): Undecided {
  const [left, right] = parents;
  if (left === undefined || right === undefined) return { contested: [], bereft: [] };
  return listUndecided(sight, left.seq, right.seq, new Set(touches.map(({ memory }) => memory)));
}

function requireDecided(db: ReadableDb, undecided: Undecided): void {
  const { memoryIds, total } = nameUndecided(db, undecided, contestedNamedMax);
  if (total > 0) throw bothSidesTouched(memoryIds, total);
}

/** The refusal of a merge that leaves memories undecided, naming the first of them. */
function bothSidesTouched(memoryIds: readonly string[], total: number): Fault {
  return new Fault(
    'BOTH_SIDES_TOUCHED',
    'parent_ids: both sides changed the same memories to something different, or one retired what the other keeps in place of a duplicate, and no op of this changeset says what becomes of them. Correct or supersede each of them in the merge, or bring the target into the branch without them.',
    {
      memory_ids: memoryIds,
      total,
    },
  );
}

/** The place of a changeset below its parents; new nodes of its vector are written to the sight's nodes. */
export function derivePlace(
  sight: VectorSight,
  seq: number,
  parents: readonly Place[],
  chain: number,
  applied: { readonly touches: { readonly length: number }; readonly activeChange: number },
  options: PageOptions,
): Place {
  const merged = mergeParents(sight, parents);
  const steps = merged.steps + 1 + applied.touches.length;
  return {
    ...placeBelow(sight, seq, parents, chain),
    active: merged.active + applied.activeChange,
    touches: (parents[0]?.chain === chain ? parents[0].touches : 0) + applied.touches.length,
    steps: steps >= options.pageEvery ? 0 : steps,
  };
}

/** A sight whose nodes can grow, in the database or only in memory. */
export type VectorSight = Sight & { readonly nodes: WritableVectorNodes };

function chainFor(sight: WritableSight, first: Place | undefined): number {
  return first !== undefined && isTip(sight.db, first) ? first.chain : nextChain(sight.db);
}

type Rooted = Pick<Place, 'seq' | 'chain' | 'position' | 'firstParent' | 'secondParent' | 'depth' | 'jump' | 'vector'>;

function placeBelow(sight: VectorSight, seq: number, parents: readonly Place[], chain: number): Rooted {
  const [first, second] = parents;
  return {
    seq,
    chain,
    position: first?.chain === chain ? first.position + 1 : 0,
    firstParent: first?.seq ?? 0,
    secondParent: second?.seq ?? 0,
    depth: first === undefined ? 0 : first.depth + 1,
    jump: jumpBelow(sight, first),
    vector: vectorBelow(sight, parents, chain),
  };
}

/** The skew-binary rule: the jump of a child spans twice its parent's when the last two spans are equal. */
function jumpBelow(sight: Sight, first: Place | undefined): number {
  if (first === undefined) return 0;
  const jumped = first.jump === 0 ? first : sight.places.get(first.jump);
  const twice = jumped.jump === 0 ? jumped : sight.places.get(jumped.jump);
  return first.depth - jumped.depth === jumped.depth - twice.depth ? twice.seq : first.seq;
}

/** What the parents see of chains other than the child's own: nothing is written when that is one parent's vector. */
function vectorBelow(sight: VectorSight, parents: readonly Place[], chain: number): VectorRoot {
  let vector: VectorRoot;
  for (const parent of parents) {
    const own =
      parent.chain === chain ? parent.vector : raiseVector(sight.nodes, parent.vector, parent.chain, parent.seq);
    vector = uniteVectors(sight.nodes, vector, own);
  }
  return vector;
}

/** Active memories of all parents together, and the steps that the first one's line has without a page. */
function mergeParents(sight: Sight, parents: readonly Place[]): { readonly active: number; readonly steps: number } {
  const [first, second] = parents;
  if (first === undefined) return { active: 0, steps: 0 };
  if (second === undefined) return { active: first.active, steps: first.steps };
  const added = rangesBeyond(sight, second, first);
  const kept = rangesBeyond(sight, first, second);
  const fromSecond = countTouchesOf(added) <= countTouchesOf(kept);
  const [base, ranges] = fromSecond ? [first, added] : [second, kept];
  let active = base.active;
  for (const memory of memoriesIn(sight, ranges)) {
    const after = isLive(findNewestTouch(sight, parents, memory));
    const before = isLive(findNewestTouch(sight, [base], memory));
    active += Number(after) - Number(before);
  }
  return { active, steps: first.steps + countTouchesOf(added) + countChangesetsOf(added) };
}
