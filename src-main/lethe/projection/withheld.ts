import type { Digest, ProjectId } from '../../../src-preload/contract/ids.ts';
import type { Place } from '../tables/chains.ts';
import { listNamedByBlocking, listOpenOfPair, listOpenPairs, type OpenPair } from '../tables/open-conflicts.ts';
import { type Sight, sees } from './sight.ts';

/** Open conflicts that a reply lists, the oldest; the others are found by listing conflicts. */
export const unresolvedListedMax = 100;

/** What open conflicts keep back at a head. */
export interface Withheld {
  /** Open conflicts of whatever severity of which the head sees a side, oldest first, `unresolvedListedMax` at most. */
  readonly conflictIds: readonly Digest[];
  /** Numbers of the memories that are kept back, each with the oldest conflict that does. */
  readonly memories: ReadonlyMap<number, Digest>;
}

/**
 * What is kept back at a head (`lethe.md` §5.8 with D2): the memories that open blocking conflicts name both of whose
 * sides the head sees. Cost follows the pairs of changesets between which conflicts are open, and what is kept back.
 */
export function findWithheld(sight: Sight, head: Place, projectId: ProjectId): Withheld {
  const pairs = [...listOpenPairs(sight.db, projectId)];
  const memories = new Map<number, Digest>();
  const inside = pairs.filter(({ left, right }) => sees(sight, head.seq, left) && sees(sight, head.seq, right));
  const named = inside.map((pair) => listNamedByBlocking(sight.db, projectId, pair));
  for (const { memory, conflict_id } of named.flat().toSorted((one, other) => one.number - other.number))
    if (!memories.has(memory)) memories.set(memory, conflict_id);
  const listed = pairs.filter(({ left, right }) => sees(sight, head.seq, left) || sees(sight, head.seq, right));
  return { conflictIds: oldestOf(sight, projectId, listed), memories };
}

/**
 * The open conflicts that are between a base and a target, oldest first, `unresolvedListedMax` at most: of which the two
 * together see both sides, and the base alone does not. Cost follows the pairs.
 */
export function listUnresolvedBetween(
  sight: Sight,
  base: Place,
  target: Place,
  projectId: ProjectId,
): readonly Digest[] {
  const either = (seq: number): boolean => sees(sight, target.seq, seq) || sees(sight, base.seq, seq);
  const isBetween = ({ left, right }: OpenPair): boolean =>
    either(left) && either(right) && !(sees(sight, base.seq, left) && sees(sight, base.seq, right));
  return oldestOf(sight, projectId, [...listOpenPairs(sight.db, projectId)].filter(isBetween));
}

function oldestOf(sight: Sight, projectId: ProjectId, pairs: readonly OpenPair[]): readonly Digest[] {
  return pairs
    .flatMap((pair) => listOpenOfPair(sight.db, projectId, pair, unresolvedListedMax))
    .toSorted((one, other) => one.number - other.number)
    .slice(0, unresolvedListedMax)
    .map(({ conflict_id }) => conflict_id);
}
