import { seqOf } from '../rules/numbers.ts';
import { restoredAt } from '../rules/op-fields.ts';
import type { Place } from '../tables/chains.ts';
import { findChangesetRowBySeq } from '../tables/changesets.ts';
import { findChangesetSeq } from '../tables/memory-ids.ts';
import { decodeOp, findOpRow } from '../tables/ops.ts';
import type { RelationshipRow } from '../tables/relationships.ts';
import { findVersion } from '../tables/versions.ts';
import { type Sight, seenOf, seenOfAny } from './sight.ts';
import { findNewestTouch } from './state.ts';

/** Which relationships a head shows; what it has asked once it knows. */
export interface ShownRelationships {
  /**
   * Whether the head sees a relationship and no restore took it away (`L147`, `lethe.md` §0.4): one that the newest restore of the
   * memory where it starts found there is shown when it was shown at the changeset whose state was restored.
   */
  isShown(relationship: RelationshipRow): boolean;
  /** The op that restored the memory last, as far as its state at the head knows. */
  findRestore(memory: number): number | undefined;
}

/** Opens the relationships of one head. Each memory where one starts costs its newest touch and its state. */
export function openShownRelationships(sight: Sight, head: Place): ShownRelationships {
  const known = new Map<string, Restore | undefined>();
  const restoreAt = (place: Place, memory: number): Restore | undefined => {
    const key = `${place.seq} ${memory}`;
    if (!known.has(key)) known.set(key, findRestore(sight, place, memory));
    return known.get(key);
  };
  return {
    findRestore: (memory) => restoreAt(head, memory)?.op,
    isShown: (relationship) => {
      for (let place = head; ; ) {
        if (seenOf(sight, place, relationship.chain) < seqOf(relationship.op)) return false;
        const restore = restoreAt(place, relationship.from);
        if (restore === undefined || !isFound(sight, restore, relationship)) return true;
        place = restore.at;
      }
    },
  };
}

interface Restore {
  readonly op: number;
  readonly parents: readonly Place[];
  /** The changeset whose state it brought back. */
  readonly at: Place;
}

function findRestore(sight: Sight, place: Place, memory: number): Restore | undefined {
  const touch = findNewestTouch(sight, [place], memory);
  const op = touch === undefined ? undefined : findVersion(sight.db, touch.version)?.restored;
  const row = op === undefined ? undefined : findOpRow(sight.db, op);
  if (op === undefined || row === undefined) return undefined;
  const changeset = findChangesetRowBySeq(sight.db, seqOf(op));
  const restored = restoredAt(decodeOp(row));
  const at =
    changeset === undefined || restored === undefined
      ? undefined
      : findChangesetSeq(sight.db, changeset.project_id, restored);
  if (at === undefined) return undefined;
  const { firstParent, secondParent } = sight.places.get(seqOf(op));
  const parents = [firstParent, secondParent].filter((seq) => seq !== 0).map((seq) => sight.places.get(seq));
  return { op, parents, at: sight.places.get(at) };
}

/** Whether the relationship was there before the restore. */
function isFound(sight: Sight, { op, parents }: Restore, relationship: RelationshipRow): boolean {
  if (seqOf(relationship.op) === seqOf(op)) return relationship.op < op;
  return seenOfAny(sight, parents, relationship.chain) >= seqOf(relationship.op);
}
