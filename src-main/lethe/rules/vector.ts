import { assert } from '../../base/assert.ts';

/** How many slots a node has; a power of two. Depth is the logarithm of the number of chains to this base. */
export const vectorFanOut = 32;

/** One slot of a node. In a leaf `value` is a changeset number; above it is the id of a lower node. */
export interface VectorEntry {
  readonly slot: number;
  readonly value: number;
  /** The greatest changeset number at or below this entry; equal to `value` in a leaf. */
  readonly max: number;
}

/**
 * A node of a vector: immutable once stored. Entries ascend by slot and there is at least one. A child may lie more than
 * one level lower; then every slot between is 0.
 */
export interface VectorNode {
  /** 0 for a leaf. A node of level n covers 32^(n+1) chains. */
  readonly level: number;
  readonly entries: readonly VectorEntry[];
}

/** Where nodes live. */
export interface VectorNodes {
  read(id: number): VectorNode;
}

/** Where new nodes go. The id it answers is positive and new. */
export interface WritableVectorNodes extends VectorNodes {
  write(node: VectorNode): number;
}

/** The root of a vector: a node's id, or undefined for the empty vector. */
export type VectorRoot = number | undefined;

/** One chain of which two vectors see a different prefix; 0 says that a side sees nothing of it. */
export interface VectorDifference {
  readonly chain: number;
  readonly left: number;
  readonly right: number;
}

/** The newest changeset number of a chain that the vector sees, or 0. Reads one node a level (`L81`). */
export function lookupVector(nodes: VectorNodes, root: VectorRoot, chain: number): number {
  let id = root;
  let within = chain;
  while (id !== undefined) {
    const node = nodes.read(id);
    if (within >= capacityOf(node.level)) return 0;
    const entry = entryAt(node.entries, slotOf(within, node.level));
    if (entry === undefined || node.level === 0) return entry?.value ?? 0;
    within %= capacityOf(node.level - 1);
    id = entry.value;
  }
  return 0;
}

/** The vector with one chain raised to `seq`; a chain that already is as far leaves the vector as it is (`L81`). */
export function raiseVector(nodes: WritableVectorNodes, root: VectorRoot, chain: number, seq: number): number {
  assert(Number.isSafeInteger(chain) && chain >= 0, 'a chain number is a natural number');
  assert(Number.isSafeInteger(seq) && seq > 0, 'a changeset number is positive');
  let level = root === undefined ? 0 : nodes.read(root).level;
  while (chain >= capacityOf(level)) level += 1;
  return raiseBelow(nodes, root, level, chain, seq);
}

/**
 * The greater of both, chain by chain. Subtrees that are the same node are not read, and a result that equals one side
 * is that side's node, so the cost follows the differences (`L82`).
 */
export function uniteVectors(nodes: WritableVectorNodes, left: VectorRoot, right: VectorRoot): VectorRoot {
  if (left === undefined) return right;
  if (right === undefined) return left;
  return uniteBelow(nodes, left, right, topLevel(nodes, left, right));
}

/** The chains of which both see a different prefix, ascending. Subtrees that are the same node are not read (`L82`). */
export function diffVectors(nodes: VectorNodes, left: VectorRoot, right: VectorRoot): readonly VectorDifference[] {
  const found: VectorDifference[] = [];
  diffBelow(nodes, left, right, topLevel(nodes, left, right), 0, found);
  return found;
}

/**
 * The greatest changeset number that both vectors see of one chain, or `atLeast` when that is greater. Parts that cannot
 * beat the best found so far are not read (`L83`).
 */
export function newestCommon(nodes: VectorNodes, left: VectorRoot, right: VectorRoot, atLeast: number): number {
  if (left === undefined || right === undefined) return atLeast;
  if (left === right) return Math.max(atLeast, maxOf(nodes.read(left).entries));
  return commonBelow(nodes, left, right, topLevel(nodes, left, right), atLeast);
}

/** How many chains a node of a level covers. */
function capacityOf(level: number): number {
  return vectorFanOut ** (level + 1);
}

function slotOf(chain: number, level: number): number {
  return Math.floor(chain / vectorFanOut ** level) % vectorFanOut;
}

function entryAt(entries: readonly VectorEntry[], slot: number): VectorEntry | undefined {
  return entries.find((entry) => entry.slot === slot);
}

function maxOf(entries: readonly VectorEntry[]): number {
  return entries.reduce((most, entry) => Math.max(most, entry.max), 0);
}

function topLevel(nodes: VectorNodes, left: VectorRoot, right: VectorRoot): number {
  const leftLevel = left === undefined ? 0 : nodes.read(left).level;
  return right === undefined ? leftLevel : Math.max(leftLevel, nodes.read(right).level);
}

/** The entries of a subtree as a node of `level` has them: a lower node stands in slot 0. */
function entriesOn(nodes: VectorNodes, id: VectorRoot, level: number): readonly VectorEntry[] {
  if (id === undefined) return [];
  const node = nodes.read(id);
  if (node.level === level) return node.entries;
  assert(node.level < level, 'a child lies below its parent');
  return [{ slot: 0, value: id, max: maxOf(node.entries) }];
}

function raiseBelow(nodes: WritableVectorNodes, id: VectorRoot, level: number, chain: number, seq: number): number {
  const entries = entriesOn(nodes, id, level);
  const slot = slotOf(chain, level);
  const existing = entryAt(entries, slot);
  const value =
    level === 0
      ? Math.max(seq, existing?.value ?? 0)
      : raiseBelow(nodes, existing?.value, level - 1, chain % capacityOf(level - 1), seq);
  if (id !== undefined && value === existing?.value) return id;
  const raised = { slot, value, max: Math.max(seq, existing?.max ?? 0) };
  const others = entries.filter((entry) => entry.slot !== slot);
  return nodes.write({ level, entries: [...others, raised].toSorted((one, other) => one.slot - other.slot) });
}

function uniteBelow(nodes: WritableVectorNodes, left: number, right: number, level: number): number {
  if (left === right) return left;
  const leftEntries = entriesOn(nodes, left, level);
  const rightEntries = entriesOn(nodes, right, level);
  const united = pairUp(leftEntries, rightEntries).map(([one, other]) => {
    if (one === undefined || other === undefined || one.value === other.value) return uniteOne(one, other);
    if (level === 0) return one.value > other.value ? one : other;
    const value = uniteBelow(nodes, one.value, other.value, level - 1);
    return { slot: one.slot, value, max: Math.max(one.max, other.max) };
  });
  if (sameValues(united, leftEntries)) return left;
  if (sameValues(united, rightEntries)) return right;
  return nodes.write({ level, entries: united });
}

function uniteOne(one: VectorEntry | undefined, other: VectorEntry | undefined): VectorEntry {
  const entry = one ?? other;
  assert(entry !== undefined, 'a pair of entries has at least one');
  return entry;
}

function diffBelow(
  nodes: VectorNodes,
  left: VectorRoot,
  right: VectorRoot,
  level: number,
  firstChain: number,
  found: VectorDifference[],
): void {
  if (left === right) return;
  for (const [one, other] of pairUp(entriesOn(nodes, left, level), entriesOn(nodes, right, level))) {
    if (one?.value === other?.value) continue;
    const chain = firstChain + uniteOne(one, other).slot * vectorFanOut ** level;
    if (level === 0) found.push({ chain, left: one?.value ?? 0, right: other?.value ?? 0 });
    else diffBelow(nodes, one?.value, other?.value, level - 1, chain, found);
  }
}

function commonBelow(nodes: VectorNodes, left: number, right: number, level: number, atLeast: number): number {
  const shared: { readonly bound: number; readonly one: VectorEntry; readonly other: VectorEntry }[] = [];
  for (const [one, other] of pairUp(entriesOn(nodes, left, level), entriesOn(nodes, right, level))) {
    if (one !== undefined && other !== undefined) shared.push({ bound: Math.min(one.max, other.max), one, other });
  }
  let best = atLeast;
  for (const { bound, one, other } of shared.toSorted((a, b) => b.bound - a.bound)) {
    if (bound <= best) break;
    if (level === 0 || one.value === other.value) best = bound;
    else best = commonBelow(nodes, one.value, other.value, level - 1, best);
  }
  return best;
}

type Pair = readonly [VectorEntry | undefined, VectorEntry | undefined];

/** The entries of two nodes side by side, ascending by slot. */
function pairUp(left: readonly VectorEntry[], right: readonly VectorEntry[]): readonly Pair[] {
  const pairs: Pair[] = [];
  let fromLeft = 0;
  let fromRight = 0;
  while (fromLeft < left.length || fromRight < right.length) {
    const one = left[fromLeft];
    const other = right[fromRight];
    const slot = Math.min(one?.slot ?? vectorFanOut, other?.slot ?? vectorFanOut);
    pairs.push([one?.slot === slot ? one : undefined, other?.slot === slot ? other : undefined]);
    if (one?.slot === slot) fromLeft += 1;
    if (other?.slot === slot) fromRight += 1;
  }
  return pairs;
}

function sameValues(left: readonly VectorEntry[], right: readonly VectorEntry[]): boolean {
  return (
    left.length === right.length &&
    left.every((entry, index) => entry.value === right[index]?.value && entry.slot === right[index]?.slot)
  );
}
