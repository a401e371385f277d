import { z } from 'zod';
import type { Op } from '../../src-preload/contract/changeset.ts';
import {
  type ChangesetId,
  changesetIdSchema,
  type MemoryId,
  mainRefName,
  memoryIdSchema,
  type ProjectId,
  type RefName,
  type Timestamp,
} from '../../src-preload/contract/ids.ts';
import { listLimitMax } from '../../src-preload/contract/limits.ts';
import type { AcceptedMemory, LineageStep, Relationship } from '../../src-preload/contract/memory.ts';
import { assert } from '../base/assert.ts';
import { Fault } from '../base/fault.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import { changesetNotFound, getChangesetRow } from './changeset-rows.ts';
import { type SelectedHead, selectHead } from './head.ts';
import { type AcceptedReader, openAccepted } from './projection/accepted.ts';
import { findMemoryNumber } from './projection/identity.ts';
import { listLineage, readLineagePage } from './projection/lineage.ts';
import { readMadeBy } from './projection/made-by.ts';
import { listRelatedOps, readRelationship } from './projection/relationships.ts';
import { openSight, type Sight, sees } from './projection/sight.ts';
import { findNewestTouch, isLive, isRetiredStatus } from './projection/state.ts';
import { findWithheld } from './projection/withheld.ts';
import { findRetiredReason } from './retired-reason.ts';
import { cursorInvalid, decodeCursor, encodeCursor } from './rules/cursor.ts';
import { findSecondEnd } from './rules/op-ends.ts';
import { restoredAt } from './rules/op-fields.ts';
import type { Place } from './tables/chains.ts';
import { findChangesetRow } from './tables/changesets.ts';
import type { Touch } from './tables/touches.ts';
import { withheldReason } from './withheld.ts';

export interface MemoryInput {
  readonly projectId: ProjectId;
  readonly memoryId: MemoryId;
  /** Any changeset of the project; else where `refName` stands, or stood `at` a moment. */
  readonly headChangesetId?: ChangesetId | undefined;
  /** `refs/shared/main` by default. */
  readonly refName?: RefName | undefined;
  readonly at?: Timestamp | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

export interface MemoryAnswer {
  readonly headChangesetId: ChangesetId;
  readonly memory: AcceptedMemory;
  /** Why a context of that head does not show it: retired, or withheld by a conflict. */
  readonly exclusionReason?: string | undefined;
  readonly lineage: readonly LineageStep[];
  readonly relationships: readonly Relationship[];
  readonly nextCursor?: string | undefined;
}

/**
 * One memory in its state at a head, active or not, with the reason when a context does not show it (`L216`), and the life
 * that led there and on from there (`L103`, `L104`): every op that the head sees on it, on what it came from and on what
 * became of it, oldest first, in pages. Cost follows the page and the number of ids in the lineage. Throws what `selectHead`
 * throws, MEMORY_NOT_FOUND when the head has never known it, CURSOR_INVALID.
 */
export function readMemory(db: ReadableDb, input: MemoryInput): MemoryAnswer {
  assert(input.limit >= 1 && input.limit <= listLimitMax, 'the limit of a lineage is checked at the door');
  const sight = openSight(db);
  const cursor = input.cursor === undefined ? undefined : readCursor(input.memoryId, input.cursor);
  const { seq, changesetId: headChangesetId } = findHead(db, sight, input, cursor?.head);
  if (cursor !== undefined && cursor.head !== headChangesetId) throw cursorInvalid();
  const head = sight.places.get(seq);
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
  const start: Position = cursor ?? { after: 0, below: Number.MAX_SAFE_INTEGER };
  const page =
    start.after === null
      ? { ops: new Map<number, readonly Touch[]>(), next: undefined }
      : readLineagePage(sight, head, listLineage(sight, head, touch.memory), start.after, input.limit);
  const lineage = [...page.ops].map(([op, touches]) => toStep(sight, head, accepted, op, touches));
  const related = start.below === null ? [] : listRelatedOps(sight, head, touch.memory, start.below, input.limit + 1);
  const shown = related.slice(0, input.limit);
  const next = { after: page.next ?? null, below: related.length > shown.length ? (shown.at(-1) ?? null) : null };
  const withheldBy = isLive(touch) ? findWithheld(sight, head, input.projectId).memories.get(touch.memory) : undefined;
  const reason = withheldBy === undefined ? findRetiredReason(db, accepted, touch) : withheldReason(withheldBy);
  const memory = accepted.read(touch);
  return {
    headChangesetId,
    memory: withheldBy === undefined ? memory : { ...memory, status: 'conflicted' },
    ...(reason === undefined ? {} : { exclusionReason: reason }),
    lineage,
    relationships: shown.map((op) => readRelationship(sight, accepted, op)),
    ...(next.after === null && next.below === null
      ? {}
      : { nextCursor: writeCursor(input.memoryId, headChangesetId, next) }),
  };
}

/** The head that is asked for; without one the ref's, or the earlier one of the ref that a cursor pins. */
function findHead(
  db: ReadableDb,
  sight: Sight,
  input: MemoryInput,
  pinned: ChangesetId | undefined,
): Pick<SelectedHead, 'seq' | 'changesetId'> {
  const { projectId, headChangesetId, refName = mainRefName, at } = input;
  if (headChangesetId !== undefined && at === undefined) {
    const row = getChangesetRow(db, headChangesetId, 'head_changeset_id');
    if (row.project_id !== projectId) throw changesetNotFound(headChangesetId, 'head_changeset_id');
    return { seq: row.seq, changesetId: headChangesetId };
  }
  const selected = selectHead(db, { projectId, refName, headChangesetId, at }, sight);
  const row = at !== undefined || pinned === undefined ? undefined : findChangesetRow(db, pinned);
  if (pinned === undefined || row?.project_id !== projectId || !sees(sight, selected.seq, row.seq)) return selected;
  return { seq: row.seq, changesetId: pinned };
}

/** What one op did: before it the memory that it retired or changed, if that was active; after it the one that lives on. */
function toStep(
  sight: Sight,
  head: Place,
  accepted: AcceptedReader,
  op: number,
  touches: readonly Touch[],
): LineageStep {
  const after =
    touches.find((touch) => isLive(touch)) ??
    touches.find(({ version, status }) => version === op && !isRetiredStatus(status));
  const retired = touches.find((touch) => touch !== after);
  const subject = after ?? retired;
  assert(subject !== undefined, 'an op of a lineage touched a memory of it');
  const before = findNewestTouch(sight, [head], (retired ?? subject).memory, op);
  const { op: made, ...attribution } = readMadeBy(sight.db, op);
  return {
    ...attribution,
    ordinal: made.ordinal,
    op_type: made.op_type,
    memory_id: accepted.memoryId(subject.memory),
    ...marksOf(made),
    before: isLive(before) ? accepted.read(before) : null,
    after: after === undefined ? null : accepted.read(after),
  };
}

/** What an op says that no state holds: of a mark, a proposal, an attachment or a restore its payload, of a duplicate what stays. */
function marksOf(op: Op): Pick<LineageStep, 'payload' | 'duplicate_of'> {
  const isText = op.op_type === 'add_memory' || op.op_type === 'correct_memory' || op.op_type === 'supersede_memory';
  if (isText && restoredAt(op) === undefined) return {};
  const stays = op.op_type === 'mark_duplicate' ? findSecondEnd(op) : undefined;
  return {
    ...(op.payload === undefined ? {} : { payload: op.payload }),
    ...(stays === undefined ? {} : { duplicate_of: memoryIdSchema.parse(stays) }),
  };
}

/** Where a page goes on: in the lineage after an op, in the relationships below one; null where all is told. */
interface Position {
  readonly after: number | null;
  readonly below: number | null;
}

function writeCursor(memory: MemoryId, head: ChangesetId, { after, below }: Position): string {
  return encodeCursor({ of: 'memory', memory, head, after, below });
}

function readCursor(memory: MemoryId, cursor: string): Position & { readonly head: ChangesetId } {
  const schema = z.strictObject({
    of: z.literal('memory'),
    memory: z.literal<string>(memory),
    head: changesetIdSchema,
    after: z.int().min(1).nullable(),
    below: z.int().min(1).nullable(),
  });
  return decodeCursor(cursor, schema);
}
