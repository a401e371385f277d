import type { Relationship } from '../../../src-preload/contract/memory.ts';
import { assert } from '../../base/assert.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { lastOpOf, seqOf } from '../rules/numbers.ts';
import { isNonEmpty } from '../rules/op-fields.ts';
import type { Place } from '../tables/chains.ts';
import {
  findNextRelatingChain,
  findRelationship,
  listEndsOfChain,
  listEndsOfMemory,
  listRelatedMemories,
  listRelationshipsOfChain,
  type RelationshipEnd,
  type RelationshipRow,
} from '../tables/relationships.ts';
import type { AcceptedReader } from './accepted.ts';
import { inOrder } from './in-order.ts';
import { openShownRelationships, type ShownRelationships } from './shown-relationships.ts';
import { type ChainRange, rangesBeyond, type Sight, seenOf } from './sight.ts';
import { findNewestTouch, seesTouch } from './state.ts';
import { touchesInOrder } from './touch-runs.ts';

/**
 * The relationships that start or end at a memory and that a head shows, by op number, newest first, `limit` at most
 * (`L135`, `L147`). What was related elsewhere, however often, does not make them dearer to find; each one that a restore took
 * away costs a look.
 * @param below only those of earlier ops than this one
 */
export function listRelatedOps(
  sight: Sight,
  head: Place,
  memory: number,
  below: number,
  limit: number,
): readonly number[] {
  const shown = openShownRelationships(sight, head);
  const found: number[] = [];
  let from = below;
  for (let wanted = limit; found.length < limit; wanted = Math.min(2 * wanted, relationshipsPerReadMax)) {
    const seen = listSeenOps(sight, head, memory, from, wanted);
    found.push(...seen.filter((op) => shown.isShown(getRelationship(sight.db, op))));
    if (seen.length < wanted) break;
    from = seen.at(-1) ?? 0;
  }
  return found.slice(0, limit);
}

/** The same, what restores took away among them. */
function listSeenOps(sight: Sight, head: Place, memory: number, below: number, limit: number): readonly number[] {
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

/** A relationship that a target shows and a base does not, or only a place up to which there is none. */
export interface AddedRelationship {
  /** Number of the op that made the difference: they are listed in this order. */
  readonly by: number;
  readonly row: RelationshipRow | undefined;
}

/**
 * The relationships that a target shows and a base does not, in the order of the ops that made it so, after the op `after`
 * (`L138`): those that only the target sees, and of a memory that was restored on one side those that both see and only
 * the target shows (`L147`). Those that the base alone shows are not told.
 * Places without one are among them, so that who takes a few reads no further than they go.
 * @param side `target` takes only what changesets of the target's own side made so
 */
export function* listAddedRelationships(
  sight: Sight,
  base: Place,
  target: Place,
  side: 'both' | 'target',
  after: number,
): IterableIterator<AddedRelationship> {
  const atTarget = openShownRelationships(sight, target);
  const runs = [
    ...rangesBeyond(sight, target, base).map((range) => addedInRange(sight, range, after, atTarget)),
    shownAgain(sight, base, target, side, after, atTarget),
  ];
  yield* inOrder(runs, ({ by }) => by);
}

function* addedInRange(
  sight: Sight,
  range: ChainRange,
  after: number,
  atTarget: ShownRelationships,
): IterableIterator<AddedRelationship> {
  for (const row of relationshipsOfRange(sight, range, after))
    yield { by: row.op, row: atTarget.isShown(row) ? row : undefined };
}

/** Looked at when the newest touch of a memory comes by that only one side has. */
function* shownAgain(
  sight: Sight,
  base: Place,
  target: Place,
  side: 'both' | 'target',
  after: number,
  atTarget: ShownRelationships,
): IterableIterator<AddedRelationship> {
  const atBase = openShownRelationships(sight, base);
  const targetRanges = rangesBeyond(sight, target, base);
  const baseRanges = side === 'target' ? [] : rangesBeyond(sight, base, target);
  for (const { memory, key } of touchesInOrder(sight, [...targetRanges, ...baseRanges], after)) {
    yield { by: key, row: undefined };
    if (listRelatedMemories(sight.db, [memory]).length === 0) continue;
    if (atBase.findRestore(memory) === atTarget.findRestore(memory)) continue;
    const onTarget = findNewestTouch(sight, [target], memory);
    const isOfTarget = onTarget !== undefined && !seesTouch(sight, [base], onTarget);
    const newest = isOfTarget ? onTarget : findNewestTouch(sight, [base], memory);
    if (newest?.key !== key) continue;
    const rows = relationshipsFrom(sight.db, memory).filter(
      (row) => seenOf(sight, base, row.chain) >= seqOf(row.op) && atTarget.isShown(row) && !atBase.isShown(row),
    );
    yield* rows.map((row) => ({ by: key, row }));
  }
}

/** All relationships that start at a memory, visible or not, oldest first. */
function relationshipsFrom(db: ReadableDb, memory: number): readonly RelationshipRow[] {
  const found: RelationshipRow[] = [];
  for (let below = Number.MAX_SAFE_INTEGER, full = true; full; ) {
    const ends = listEndsOfMemory(db, memory, below - 1, relationshipsPerReadMax);
    found.push(...ends.map(({ op }) => getRelationship(db, op)).filter(({ from }) => from === memory));
    full = ends.length === relationshipsPerReadMax;
    below = ends.at(-1)?.op ?? 0;
  }
  return found.toReversed();
}

function getRelationship(db: ReadableDb, op: number): RelationshipRow {
  const row = findRelationship(db, op);
  assert(row !== undefined, 'an end of a relationship is that of a stored one');
  return row;
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
  const row = getRelationship(sight.db, op);
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
