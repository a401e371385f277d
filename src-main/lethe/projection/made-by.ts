import type { Op } from '../../../src-preload/contract/changeset.ts';
import { changesetIdSchema, timestampSchema } from '../../../src-preload/contract/ids.ts';
import type { LineageStep } from '../../../src-preload/contract/memory.ts';
import { assert } from '../../base/assert.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { opNumber, ordinalOf, seqOf } from '../rules/numbers.ts';
import { findRootOfSeq, listBaselineSeqs } from '../tables/baselines.ts';
import { type ChangesetRow, findChangesetRowBySeq } from '../tables/changesets.ts';
import { listEventsOfMemories } from '../tables/events.ts';
import { decodeOp, findOpRow } from '../tables/ops.ts';

/** An op with the changeset that it stands in, as far as what it did is told to people. */
export interface MadeBy
  extends Pick<LineageStep, 'changeset_id' | 'author_principal' | 'actor_id' | 'model' | 'message' | 'created_at'> {
  readonly op: Op;
}

/**
 * The op of a number with its changeset's attribution. A baseline event is told as an addition by its project's root, what a
 * merge made without an op (`L151`) as a correction by it.
 */
export function readMadeBy(db: ReadableDb, number: number): MadeBy {
  const stored = findOpRow(db, number);
  if (stored === undefined) return readBaselined(db, number) ?? readMerged(db, number);
  return { op: decodeOp(stored), ...attributionOf(getChangeset(db, seqOf(number))) };
}

/** At the moment of the event: its place among the root's is told as the ordinal. */
function readBaselined(db: ReadableDb, number: number): MadeBy | undefined {
  const [event] = listEventsOfMemories(db, [number]);
  if (event === undefined) return undefined;
  const rootSeq = findRootOfSeq(db, seqOf(number)) ?? seqOf(number);
  const first = listBaselineSeqs(db, rootSeq)[0] ?? rootSeq;
  return {
    op: { ordinal: number - opNumber(first, 0), op_type: 'add_memory', resulting_event_id: event.event_id },
    ...attributionOf(getChangeset(db, rootSeq)),
    created_at: timestampSchema.parse(event.created_at),
  };
}

function readMerged(db: ReadableDb, number: number): MadeBy {
  const changeset = getChangeset(db, seqOf(number));
  const payload = { summary: 'what both sides of the merge made of it' };
  return { op: { ordinal: ordinalOf(number), op_type: 'correct_memory', payload }, ...attributionOf(changeset) };
}

function getChangeset(db: ReadableDb, seq: number): ChangesetRow {
  const changeset = findChangesetRowBySeq(db, seq);
  assert(changeset !== undefined, 'an op number of the index stands for an op of a stored changeset');
  return changeset;
}

function attributionOf(changeset: ChangesetRow): Omit<MadeBy, 'op'> {
  return {
    changeset_id: changesetIdSchema.parse(changeset.changeset_id),
    author_principal: changeset.author_principal,
    ...(changeset.actor_id === '' ? {} : { actor_id: changeset.actor_id }),
    ...(changeset.model === '' ? {} : { model: changeset.model }),
    message: changeset.message,
    created_at: timestampSchema.parse(changeset.created_at),
  };
}
