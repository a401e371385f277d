import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';
import {
  diffVectors,
  lookupVector,
  newestCommon,
  type VectorDifference,
  type VectorNodes,
  type WritableVectorNodes,
} from '../rules/vector.ts';
import { openPlaces, type Place, type Places } from '../tables/chains.ts';
import { openVectorNodes, openWritableVectorNodes } from '../tables/vector-nodes.ts';

/** What one verb needs to tell who sees what. Places and nodes never change, so each is read at most once a verb. */
export interface Sight {
  readonly db: ReadableDb;
  readonly places: Places;
  readonly nodes: VectorNodes;
  /** Touches of a memory that nobody here sees and that are read before the search for its state goes chain by chain; at least 2. */
  readonly unseenTouchesMax: number;
}

/** Few enough to read at once, many enough that most memories never need more. */
const unseenTouchesMax = 16;

export interface WritableSight extends Sight {
  readonly db: WritableDb;
  readonly nodes: WritableVectorNodes;
}

/** Opens the sight of one reading verb. */
export function openSight(db: ReadableDb): Sight {
  return { db, places: openPlaces(db), nodes: openVectorNodes(db), unseenTouchesMax };
}

/** Opens the sight of one writing verb: nodes of new vectors are appended. */
export function openWritableSight(db: WritableDb): WritableSight {
  return { db, places: openPlaces(db), nodes: openWritableVectorNodes(db), unseenTouchesMax };
}

/** The newest changeset of a chain that a head sees, or 0: an ancestor set is a prefix of every chain (`L81`). */
export function seenOf(sight: Sight, head: Place, chain: number): number {
  return chain === head.chain ? head.seq : lookupVector(sight.nodes, head.vector, chain);
}

/** The same for several heads taken together, such as the parents of a merge. */
export function seenOfAny(sight: Sight, heads: readonly Place[], chain: number): number {
  return heads.reduce((most, head) => Math.max(most, seenOf(sight, head, chain)), 0);
}

/** Whether a changeset is the head or one of its ancestors (`L84`): no walk, one lookup. */
export function sees(sight: Sight, head: number, seq: number): boolean {
  if (seq >= head) return seq === head;
  return seenOf(sight, sight.places.get(head), sight.places.get(seq).chain) >= seq;
}

/** The chains of which two heads see a different prefix, by chain number; cost follows the differences (`L82`). */
export function diffSight(sight: Sight, left: Place, right: Place): readonly VectorDifference[] {
  const own = [...new Set([left.chain, right.chain])];
  const others = diffVectors(sight.nodes, left.vector, right.vector).filter(({ chain }) => !own.includes(chain));
  const owned = own.map((chain) => ({ chain, left: seenOf(sight, left, chain), right: seenOf(sight, right, chain) }));
  return [...others, ...owned.filter((one) => one.left !== one.right)].toSorted(
    (one, other) => one.chain - other.chain,
  );
}

/** The newest changeset that both heads see, or 0 when they share none (`L83`). */
export function newestCommonAncestor(sight: Sight, leftSeq: number, rightSeq: number): number {
  const left = sight.places.get(leftSeq);
  const right = sight.places.get(rightSeq);
  const own = [left.chain, right.chain].map((chain) =>
    Math.min(seenOf(sight, left, chain), seenOf(sight, right, chain)),
  );
  return newestCommon(sight.nodes, left.vector, right.vector, Math.max(...own));
}

/** A run of changesets of one chain that one head sees and another does not: `after` < seq ≤ `upTo`. */
export interface ChainRange {
  readonly chain: number;
  readonly after: number;
  readonly upTo: number;
  readonly changesets: number;
  readonly touches: number;
}

/** What a head sees beyond another one, in runs of chains. Reads two places a run, never the run itself (`L117`). */
export function rangesBeyond(sight: Sight, head: Place, other: Place): readonly ChainRange[] {
  return diffSight(sight, head, other)
    .filter(({ left, right }) => left > right)
    .map(({ chain, left, right }) => {
      const upTo = sight.places.get(left);
      const after = right === 0 ? undefined : sight.places.get(right);
      const changesets = upTo.position - (after?.position ?? -1);
      return { chain, after: right, upTo: left, changesets, touches: upTo.touches - (after?.touches ?? 0) };
    });
}

/** Changesets in runs of chains. */
export function countChangesetsOf(ranges: readonly ChainRange[]): number {
  return ranges.reduce((sum, range) => sum + range.changesets, 0);
}

/** Touches in runs of chains. */
export function countTouchesOf(ranges: readonly ChainRange[]): number {
  return ranges.reduce((sum, range) => sum + range.touches, 0);
}
