import { z } from 'zod';
import type { ChangesetId, MemoryId, ProjectId } from '../../src-preload/contract/ids.ts';
import { listLimitMax } from '../../src-preload/contract/limits.ts';
import type { AcceptedMemory, LineageStep, Relationship } from '../../src-preload/contract/memory.ts';
import { assert } from '../base/assert.ts';
import { Fault } from '../base/fault.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import { changesetNotFound, getChangesetRow } from './changeset-rows.ts';
import { type AcceptedReader, openAccepted } from './projection/accepted.ts';
import { findMemoryNumber } from './projection/identity.ts';
import { listLineage, readLineagePage } from './projection/lineage.ts';
import { readMadeBy } from './projection/made-by.ts';
import { openSight, type Sight } from './projection/sight.ts';
import { findNewestTouch, isLive } from './projection/state.ts';
import { decodeCursor, encodeCursor } from './rules/cursor.ts';
import type { Place } from './tables/chains.ts';
import type { Touch } from './tables/touches.ts';

export interface MemoryInput {
  readonly projectId: ProjectId;
  readonly memoryId: MemoryId;
  readonly headChangesetId: ChangesetId;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

export interface MemoryAnswer {
  readonly memory: AcceptedMemory;
  readonly lineage: readonly LineageStep[];
  readonly relationships: readonly Relationship[];
  readonly nextCursor?: string | undefined;
}

/**
 * One memory in its state at a head, active or not, and the life that led there and on from there (`L103`, `L104`): every op
 * that the head sees on it, on what it came from and on what became of it, oldest first, in pages. Cost follows the page and
 * the number of ids in the lineage. Throws CHANGESET_NOT_FOUND, MEMORY_NOT_FOUND when the head has never known it,
 * CURSOR_INVALID.
 */
export function readMemory(db: ReadableDb, input: MemoryInput): MemoryAnswer {
  assert(input.limit >= 1 && input.limit <= listLimitMax, 'the limit of a lineage is checked at the door');
  const row = getChangesetRow(db, input.headChangesetId, 'head_changeset_id');
  if (row.project_id !== input.projectId) throw changesetNotFound(input.headChangesetId, 'head_changeset_id');
  const sight = openSight(db);
  const head = sight.places.get(row.seq);
  const number = findMemoryNumber(db, input.projectId, input.memoryId);
  const touch = number === undefined ? undefined : findNewestTouch(sight, [head], number);
  if (touch === undefined) {
    throw new Fault(
      'MEMORY_NOT_FOUND',
      'memory_id: this head has never known such a memory. Look at another head, or search for it.',
      {
        memory_id: input.memoryId,
      },
    );
  }
  const accepted = openAccepted(db);
  const after = input.cursor === undefined ? 0 : readCursor(input, input.cursor);
  const page = readLineagePage(sight, head, listLineage(sight, head, touch.memory), after, input.limit);
  const lineage = [...page.ops].map(([op, touches]) => toStep(sight, head, accepted, op, touches));
  const next = { of: 'memory', memory: input.memoryId, head: input.headChangesetId };
  return {
    memory: accepted.read(touch),
    lineage,
    relationships: [],
    ...(page.next === undefined ? {} : { nextCursor: encodeCursor({ ...next, after: page.next }) }),
  };
}

/** What one op did: before it the memory that it retired or changed, if that was active; after it the one that lives on. */
function toStep(
  sight: Sight,
  head: Place,
  accepted: AcceptedReader,
  op: number,
  touches: readonly Touch[],
): LineageStep {
  const after = touches.find((touch) => isLive(touch)) ?? touches.find((touch) => touch.version === op);
  const retired = touches.find((touch) => touch !== after);
  const subject = after ?? retired;
  assert(subject !== undefined, 'an op of a lineage touched a memory of it');
  const before = findNewestTouch(sight, [head], (retired ?? subject).memory, op);
  const { op: made, ...attribution } = readMadeBy(sight.db, op);
  return {
    ...attribution,
    ordinal: made.ordinal,
    op_type: made.op_type,
    memory_id: accepted.read(subject).memory_id,
    before: isLive(before) ? accepted.read(before) : null,
    after: after === undefined ? null : accepted.read(after),
  };
}

function readCursor(input: MemoryInput, cursor: string): number {
  const schema = z.strictObject({
    of: z.literal('memory'),
    memory: z.literal<string>(input.memoryId),
    head: z.literal<string>(input.headChangesetId),
    after: z.int().min(1),
  });
  return decodeCursor(cursor, schema).after;
}
