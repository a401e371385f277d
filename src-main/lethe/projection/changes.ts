import type { Place } from '../tables/chains.ts';
import { listLinkedTouches, type Touch } from '../tables/touches.ts';
import { rangesBeyond, type Sight } from './sight.ts';
import { findNewestTouch, isLive, isRetiredStatus, seesTouch } from './state.ts';
import { touchesInOrder } from './touch-runs.ts';

/** One difference in meaning between two states. */
export interface MemoryChange {
  /** Number of the op that made it so: changes are listed in this order. */
  readonly op: number;
  /** The active memory at base that was changed or came to be another; undefined when there was none. */
  readonly before: Touch | undefined;
  /** The active memory at target; undefined when it is gone there. */
  readonly after: Touch | undefined;
  /** The op that linked the two when they are of one lineage and not one memory. */
  readonly link: number | undefined;
  /** How both states hang together: one grew out of the other, or both out of an older one apart. */
  readonly relation: 'new' | 'grown' | 'apart' | 'gone';
}

interface Sides {
  readonly sight: Sight;
  readonly base: Place;
  readonly target: Place;
}

/** Links that are followed from one memory back to what it came from. */
const linksMax = 10_000;
/** Links of one memory that are looked at to find the one that started it. */
const linksOfOneMax = 64;

/**
 * What changed in meaning from a base to a target, by op number, after the op `after` (`L110`, `lethe.md` D4): for each memory
 * that changesets of only one side touched, its active states there and here. Nothing that both share is listed, a memory
 * that came and went is not either. Reads the touches of the sides, never the memory behind them.
 * @param side `target` takes only what changesets of the target's own side touched
 */
export function* listChanges(
  sight: Sight,
  base: Place,
  target: Place,
  side: 'both' | 'target',
  after: number,
): IterableIterator<MemoryChange> {
  const sides: Sides = { sight, base, target };
  const targetRanges = rangesBeyond(sight, target, base);
  const baseRanges = side === 'target' ? [] : rangesBeyond(sight, base, target);
  const targetChains = new Set(targetRanges.map((range) => range.chain));
  for (const touch of touchesInOrder(sight, [...targetRanges, ...baseRanges], after)) {
    const change = targetChains.has(touch.chain) ? changeByTarget(sides, touch) : changeByBase(sides, touch);
    if (change !== undefined) yield change;
  }
}

/** A change that the target's side made: looked at when its newest touch of the memory comes by. */
function changeByTarget(sides: Sides, touch: Touch): MemoryChange | undefined {
  const { sight, base, target } = sides;
  const newest = findNewestTouch(sight, [target], touch.memory);
  if (newest?.key !== touch.key) return undefined;
  const atBase = findNewestTouch(sight, [base], touch.memory);
  if (!isLive(touch)) return isLive(atBase) ? goneAtTarget(sides, touch, atBase) : undefined;
  if (isLive(atBase)) {
    const relation = seesTouch(sight, [target], atBase) ? 'grown' : 'apart';
    return { op: touch.key, before: atBase, after: touch, link: undefined, relation };
  }
  const origin = findOrigin(sides, touch);
  if (origin !== undefined)
    return { op: touch.key, before: origin.before, after: touch, link: origin.link, relation: 'grown' };
  return {
    op: touch.key,
    before: undefined,
    after: touch,
    link: undefined,
    relation: atBase === undefined || seesTouch(sight, [target], atBase) ? 'new' : 'apart',
  };
}

/** A memory that the base has and the target retired: listed here unless what it became is listed in its place. */
function goneAtTarget(sides: Sides, touch: Touch, atBase: Touch): MemoryChange | undefined {
  const { sight, target } = sides;
  if (findLiveHeir(sides, touch) !== undefined) return undefined;
  const relation = seesTouch(sight, [target], atBase) ? 'gone' : 'apart';
  return { op: touch.key, before: atBase, after: undefined, link: undefined, relation };
}

/**
 * A change that only the base's side made, told from base to target: the change from target to base, backwards. A memory
 * that the target's side touched is told with the target's op, so nothing is told here of what became of it.
 */
function changeByBase(sides: Sides, touch: Touch): MemoryChange | undefined {
  const { sight, base, target } = sides;
  if (isTouchedByTarget(sides, touch.memory)) return undefined;
  const heir = isLive(touch) ? undefined : findLiveHeir({ sight, base: target, target: base }, touch);
  if (heir !== undefined && isTouchedByTarget(sides, heir.memory)) {
    const newest = findNewestTouch(sight, [base], touch.memory);
    const after = findNewestTouch(sight, [target], touch.memory);
    if (newest?.key !== touch.key || !isLive(after)) return undefined;
    return { op: touch.key, before: undefined, after, link: undefined, relation: 'new' };
  }
  const forth = changeByTarget({ sight, base: target, target: base }, touch);
  if (forth === undefined) return undefined;
  const { op, before, after, link } = forth;
  if (before === undefined || isTouchedByTarget(sides, before.memory)) {
    return after === undefined ? undefined : { op, before: after, after: undefined, link: undefined, relation: 'gone' };
  }
  return { op, before: after, after: before, link, relation: after === undefined ? 'new' : 'grown' };
}

function isTouchedByTarget({ sight, base, target }: Sides, memory: number): boolean {
  const atTarget = findNewestTouch(sight, [target], memory);
  return atTarget !== undefined && !seesTouch(sight, [base], atTarget);
}

/** The active memory at base out of which one at target grew, over links that the target's side made. */
function findOrigin(sides: Sides, touch: Touch): { readonly before: Touch; readonly link: number } | undefined {
  const { sight, base } = sides;
  let start = findStart(sides, touch.memory, touch.key);
  const firstLink = start?.key;
  for (let followed = 0; start?.linked !== undefined && followed < linksMax; followed += 1) {
    const before = findNewestTouch(sight, [base], start.linked);
    if (isLive(before)) return { before, link: firstLink ?? start.key };
    start = findStart(sides, start.linked, start.key);
  }
  return undefined;
}

/** The touch by which the target's side made a memory out of another, at or before an op. */
function findStart(sides: Sides, memory: number, upTo: number): Touch | undefined {
  const { sight, base, target } = sides;
  return listLinkedTouches(sight.db, memory, upTo, linksOfOneMax).find(
    (touch) => !isRetiredStatus(touch.status) && seesTouch(sight, [target], touch) && !seesTouch(sight, [base], touch),
  );
}

/**
 * The active memory at target that a retired one became, over links that the target's side made. What was restored as
 * retired has a state of its own, and became nothing by that.
 */
function findLiveHeir(sides: Sides, retired: Touch): Touch | undefined {
  const { sight, base, target } = sides;
  let touch: Touch | undefined = retired;
  for (
    let followed = 0;
    touch?.linked !== undefined && touch.version !== touch.key && followed < linksMax;
    followed += 1
  ) {
    const heir = findNewestTouch(sight, [target], touch.linked);
    // An heir that the base has active too is a change of its own.
    if (isLive(heir)) return isLive(findNewestTouch(sight, [base], heir.memory)) ? undefined : heir;
    touch = heir;
  }
  return undefined;
}
