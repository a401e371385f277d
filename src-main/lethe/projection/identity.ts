import type { Op } from '../../../src-preload/contract/changeset.ts';
import { type ChangesetId, type MemoryId, memoryIdSchema } from '../../../src-preload/contract/ids.ts';
import { assert } from '../../base/assert.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { opNumber, opsPerChangeset, ordinalOf, seqOf } from '../rules/numbers.ts';
import type { Place } from '../tables/chains.ts';
import { findChangesetId, findChangesetSeq, findChosenId, findChosenNumber } from '../tables/memory-ids.ts';
import { findTouch } from '../tables/touches.ts';
import { type Sight, seenOfAny } from './sight.ts';

const madeIdPattern = /^mem:([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}):(0|[1-9][0-9]{0,4})$/;

/** The id that the store makes for a memory whose op names none. */
export function madeMemoryId(changesetId: string, ordinal: number): MemoryId {
  return memoryIdSchema.parse(`mem:${changesetId}:${ordinal}`);
}

/** The id that an add or a replacement gives its memory, if it gives one: resulting, then memory_id, then event_id. */
export function chosenIdOf(op: Op): string | undefined {
  return [op.resulting_event_id, op.payload?.memory_id, op.payload?.event_id].find(
    (id): id is string => typeof id === 'string' && id !== '',
  );
}

/**
 * The number of a memory of a project: that of the op which first named it, on whatever branch. Undefined when no op ever
 * did. An id of the form `mem:<changeset>:<ordinal>` is read, not looked up, when the store made it (`L80`).
 */
export function findMemoryNumber(db: ReadableDb, projectId: string, memoryId: string): number | undefined {
  return findMadeNumber(db, projectId, memoryId) ?? findChosenNumber(db, projectId, memoryId);
}

function findMadeNumber(db: ReadableDb, projectId: string, memoryId: string): number | undefined {
  const [, changesetId, ordinalText] = madeIdPattern.exec(memoryId) ?? [];
  if (changesetId === undefined || ordinalText === undefined || Number(ordinalText) >= opsPerChangeset)
    return undefined;
  const seq = findChangesetSeq(db, projectId, changesetId);
  if (seq === undefined) return undefined;
  const number = opNumber(seq, Number(ordinalText));
  const introduced = findTouch(db, number, number) !== undefined && findChosenId(db, number) === undefined;
  return introduced ? number : undefined;
}

/** The place of a changeset of a project that one of the heads is or descends from, by its public id: no walk. */
export function findSeen(
  sight: Sight,
  projectId: string,
  heads: readonly Place[],
  changesetId: string,
): Place | undefined {
  const seq = findChangesetSeq(sight.db, projectId, changesetId);
  if (seq === undefined) return undefined;
  const place = sight.places.get(seq);
  return seenOfAny(sight, heads, place.chain) < seq ? undefined : place;
}

/** The public id of a changeset number that history holds. */
export function changesetIdOf(db: ReadableDb, seq: number): ChangesetId {
  const changesetId = findChangesetId(db, seq);
  assert(changesetId !== undefined, 'a number of a changeset in the index stands for a stored changeset');
  return changesetId;
}

/**
 * The id of a memory number.
 * @param changesetId where changeset ids come from, for readers that keep them
 */
export function memoryIdOf(
  db: ReadableDb,
  number: number,
  changesetId: (seq: number) => ChangesetId = (seq) => changesetIdOf(db, seq),
): MemoryId {
  return findChosenId(db, number) ?? madeIdOf(number, changesetId);
}

/** The id that the store made for the memory which an op named without choosing one. */
export function madeIdOf(number: number, changesetId: (seq: number) => ChangesetId): MemoryId {
  return madeMemoryId(changesetId(seqOf(number)), ordinalOf(number));
}
