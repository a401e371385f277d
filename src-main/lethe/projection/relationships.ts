import type { Relationship } from '../../../src-preload/contract/memory.ts';
import { assert } from '../../base/assert.ts';
import { lastOpOf, seqOf } from '../rules/numbers.ts';
import { isNonEmpty } from '../rules/op-fields.ts';
import type { Place } from '../tables/chains.ts';
import {
  findNextRelatingChain,
  findRelationship,
  listEndsOfChain,
  listEndsOfMemory,
  listRelationshipsOfChain,
  type RelationshipEnd,
  type RelationshipRow,
} from '../tables/relationships.ts';
import type { AcceptedReader } from './accepted.ts';
import { inOrder } from './in-order.ts';
import { type ChainRange, rangesBeyond, type Sight, seenOf } from './sight.ts';

/**
 * The relationships that start or end at a memory and that a head sees, by op number, newest first, `limit` at most
 * (`L135`). What was related elsewhere, however often, does not make them dearer to find.
 * @param below only those of earlier ops than this one
 */
export function listRelatedOps(
  sight: Sight,
  head: Place,
  memory: number,
  below: number,
  limit: number,
): readonly number[] {
  const upTo = Math.min(below - 1, lastOpOf(head.seq));
  const wanted = limit + sight.unseenTouchesMax;
  const newest = listEndsOfMemory(sight.db, memory, upTo, wanted);
  const seen = newest.filter((end) => seesEnd(sight, head, end));
  if (seen.length >= limit || newest.length < wanted) return seen.slice(0, limit).map(({ op }) => op);
  return listByChains(sight, head, memory, upTo, limit);
}

function seesEnd(sight: Sight, head: Place, end: RelationshipEnd): boolean {
  return seenOf(sight, head, end.chain) >= seqOf(end.op);
}

function listByChains(sight: Sight, head: Place, memory: number, upTo: number, limit: number): readonly number[] {
  let newest: readonly number[] = [];
  for (
    let chain = findNextRelatingChain(sight.db, memory, -1);
    chain !== undefined;
    chain = findNextRelatingChain(sight.db, memory, chain)
  ) {
    const seen = seenOf(sight, head, chain);
    if (seen === 0) continue;
    const above = newest[limit - 1] ?? 0;
    const ends = listEndsOfChain(sight.db, memory, chain, above, Math.min(upTo, lastOpOf(seen)), limit);
    newest = [...newest, ...ends.map(({ op }) => op)].toSorted((one, other) => other - one).slice(0, limit);
  }
  return newest;
}

const relationshipsPerReadMax = 512;

/**
 * The relationships that a target has and a base has not, by op number, after the op `after` (`L138`). Relationships are
 * never removed: those that only the base has are not told.
 */
export function* listAddedRelationships(
  sight: Sight,
  base: Place,
  target: Place,
  after: number,
): IterableIterator<RelationshipRow> {
  const runs = rangesBeyond(sight, target, base).map((range) => relationshipsOfRange(sight, range, after));
  yield* inOrder(runs, (relationship) => relationship.op);
}

function* relationshipsOfRange(sight: Sight, range: ChainRange, after: number): IterableIterator<RelationshipRow> {
  let from = Math.max(after, range.after === 0 ? 0 : lastOpOf(range.after));
  for (let limit = 8; ; limit = Math.min(limit * 2, relationshipsPerReadMax)) {
    const rows = listRelationshipsOfChain(sight.db, range.chain, from, lastOpOf(range.upTo), limit);
    yield* rows;
    if (rows.length < limit) return;
    from = rows.at(-1)?.op ?? from;
  }
}

/** A relationship of an op in the form in which it crosses the border. */
export function readRelationship(sight: Sight, accepted: AcceptedReader, op: number): Relationship {
  const row = findRelationship(sight.db, op);
  assert(row !== undefined, 'an end of a relationship is that of a stored one');
  const payload = accepted.payloadOf(op);
  const { kind } = payload;
  return {
    from_memory_id: accepted.memoryId(row.from),
    to_memory_id: accepted.memoryId(row.to),
    ...(isNonEmpty(kind) ? { kind } : {}),
    ...(Object.keys(payload).length === 0 ? {} : { payload }),
    changeset_id: accepted.changesetId(seqOf(op)),
  };
}
