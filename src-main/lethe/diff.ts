import { z } from 'zod';
import type { OpType } from '../../src-preload/contract/changeset.ts';
import {
  type DiffCategory,
  type DiffItem,
  diffCategories,
  type SemanticDiff,
} from '../../src-preload/contract/diff.ts';
import { type ChangesetId, type ProjectId, projectIdSchema } from '../../src-preload/contract/ids.ts';
import { listLimitMax } from '../../src-preload/contract/limits.ts';
import { assert } from '../base/assert.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import { changesetNotFound, getChangesetRow } from './changeset-rows.ts';
import { type AcceptedReader, openAccepted } from './projection/accepted.ts';
import { listChanges, type MemoryChange } from './projection/changes.ts';
import { inOrder } from './projection/in-order.ts';
import { type MadeBy, readMadeBy } from './projection/made-by.ts';
import { listAddedRelationships } from './projection/relationships.ts';
import { openSight, type Sight } from './projection/sight.ts';
import { findNewestTouch, isLive, seesTouch } from './projection/state.ts';
import { listUnresolvedBetween } from './projection/withheld.ts';
import { type AttachmentList, attachmentLists } from './rules/attachments.ts';
import { decodeCursor, encodeCursor } from './rules/cursor.ts';
import { categoriesOf, summarize } from './rules/diff-categories.ts';
import { meansSame } from './rules/meaning.ts';
import { saysSame } from './rules/overlay.ts';
import type { Place } from './tables/chains.ts';
import type { Touch } from './tables/touches.ts';

export interface DiffInput {
  readonly baseChangesetId: ChangesetId;
  readonly targetChangesetId: ChangesetId;
  readonly side: 'both' | 'target';
  readonly limit: number;
  readonly cursor?: string | undefined;
}

type KindNote = NonNullable<SemanticDiff['kind_notes']>[number];

/** One change as it is told, in every list that it belongs to. */
interface Told {
  readonly item: DiffItem;
  readonly note: KindNote | undefined;
  readonly categories: readonly DiffCategory[];
}

/**
 * What changed in meaning from base to target (`L110` to `L116`, `lethe.md` §6 with D4), in pages of `limit` changes in the
 * order of the ops. Cost follows the changes of the two sides. Throws CHANGESET_NOT_FOUND (also for two projects),
 * CURSOR_INVALID.
 */
export function readDiff(db: ReadableDb, input: DiffInput): SemanticDiff {
  assert(input.limit >= 1 && input.limit <= listLimitMax, 'the limit of a diff is checked at the door');
  const base = getChangesetRow(db, input.baseChangesetId, 'base_changeset_id');
  const target = getChangesetRow(db, input.targetChangesetId, 'target_changeset_id');
  if (base.project_id !== target.project_id) throw changesetNotFound(input.baseChangesetId, 'base_changeset_id');
  const after = input.cursor === undefined ? 0 : readCursor(input, input.cursor);
  const projectId = projectIdSchema.parse(base.project_id);
  const sight = openSight(db);
  const accepted = openAccepted(db);
  const told: Told[] = [];
  let last = after;
  let next: string | undefined;
  for (const found of listFound(
    sight,
    accepted,
    sight.places.get(base.seq),
    sight.places.get(target.seq),
    input.side,
    after,
  )) {
    if (found.kind === 'passed') continue;
    // An op may make two changes: a page ends between ops.
    if (told.length >= input.limit && found.op !== last) {
      next = encodeCursor({ ...cursorOf(input), after: last });
      break;
    }
    told.push(found.kind === 'memory' ? tell(db, accepted, found.change) : tellRelationship(accepted, found));
    last = found.op;
  }
  return {
    ...emptyDiff(projectId, input),
    ...listed(told),
    unresolved_conflicts: [
      ...listUnresolvedBetween(sight, sight.places.get(base.seq), sight.places.get(target.seq), projectId),
    ],
    ...(next === undefined ? {} : { next_cursor: next }),
  };
}

interface FoundRelationship {
  readonly kind: 'relationship';
  /** Number of the op by which it is in this place of the list. */
  readonly op: number;
  /** The op that related the two. */
  readonly made: MadeBy;
  /** Where it starts: the memory at base and at target, as far as it is active there. */
  readonly memory: number;
  readonly before: Touch | undefined;
  readonly after: Touch | undefined;
}

type Found =
  | { readonly kind: 'memory'; readonly op: number; readonly change: MemoryChange }
  | FoundRelationship
  /** Nothing is told here: only how far the search has come. */
  | { readonly kind: 'passed'; readonly op: number };

/** Changed memories and added relationships together, in the order of the ops. */
function listFound(
  sight: Sight,
  accepted: AcceptedReader,
  base: Place,
  target: Place,
  side: DiffInput['side'],
  after: number,
): IterableIterator<Found> {
  const runs = [
    findMemories(sight, accepted, base, target, side, after),
    findRelationships(sight, base, target, side, after),
  ];
  return inOrder(runs, ({ op }) => op);
}

function* findMemories(
  sight: Sight,
  accepted: AcceptedReader,
  base: Place,
  target: Place,
  side: DiffInput['side'],
  after: number,
): IterableIterator<Found> {
  for (const change of listChanges(sight, base, target, side, after))
    if (isMeant(accepted, change)) yield { kind: 'memory', op: change.op, change };
}

/** Whether the memory means something else after a change: not when it was changed back, or to the same on both sides. */
function isMeant(accepted: AcceptedReader, { before, after }: MemoryChange): boolean {
  return before === undefined || after === undefined || !meansSame(accepted.read(before), accepted.read(after));
}

function* findRelationships(
  sight: Sight,
  base: Place,
  target: Place,
  side: DiffInput['side'],
  after: number,
): IterableIterator<Found> {
  for (const { by, row } of listAddedRelationships(sight, base, target, side, after)) {
    if (row === undefined) {
      yield { kind: 'passed', op: by };
      continue;
    }
    const { op, from } = row;
    const atBase = findNewestTouch(sight, [base], from);
    const atTarget = findNewestTouch(sight, [target], from);
    // A merge leaves a memory that the target's side did not touch as the base has it.
    const isLeft = side === 'target' && atTarget !== undefined && seesTouch(sight, [base], atTarget);
    const states = { before: liveOnly(atBase), after: liveOnly(isLeft ? atBase : atTarget) };
    yield { kind: 'relationship', op: by, made: readMadeBy(sight.db, op), memory: from, ...states };
  }
}

function liveOnly(touch: Touch | undefined): Touch | undefined {
  return isLive(touch) ? touch : undefined;
}

function tell(db: ReadableDb, accepted: AcceptedReader, change: MemoryChange): Told {
  const made = readMadeBy(db, change.op);
  const subject = change.after ?? change.before;
  assert(subject !== undefined, 'a change has a state before or after');
  const before = readState(accepted, change.before);
  const after = readState(accepted, change.after);
  const linkType = linkTypeOf(db, made, change);
  const categories = categoriesOf({
    opType: linkType,
    relation: change.relation,
    before,
    after,
    isCorrected: isCorrected(accepted, change),
    isAttachedTo: attachmentLists.some(
      (list) => newestAttached(accepted, change.before, list) !== newestAttached(accepted, change.after, list),
    ),
  });
  const kind = kindOf(change, categories);
  const item = {
    ...itemOf(made, before, after),
    memory_id: accepted.memoryId(subject.memory),
    ...(kind === undefined ? {} : { kind }),
  };
  const left = change.before === undefined ? item.memory_id : accepted.memoryId(change.before.memory);
  const note = kind && { left, right: item.memory_id, kind, reason: reasonOf(change, linkType) };
  return { item, note, categories };
}

/** A relationship is told with the memory that it starts at, which it does not change. */
function tellRelationship(accepted: AcceptedReader, found: FoundRelationship): Told {
  const before = readState(accepted, found.before);
  const after = readState(accepted, found.after);
  const item = {
    ...itemOf(found.made, before, after),
    memory_id: accepted.memoryId(found.memory),
    summary: summarize(found.made.op, null),
  };
  return { item, note: undefined, categories: ['relationships_added'] };
}

function itemOf(made: MadeBy, before: DiffItem['before'], after: DiffItem['after']): Omit<DiffItem, 'memory_id'> {
  return {
    op_ordinal: made.op.ordinal,
    op_type: made.op.op_type,
    changeset_id: made.changeset_id,
    author_principal: made.author_principal,
    ...idsOf(made),
    summary: summarize(made.op, after ?? before),
    ...(made.op.payload === undefined ? {} : { payload: made.op.payload }),
    before,
    after,
  };
}

function readState(accepted: AcceptedReader, touch: Touch | undefined): DiffItem['before'] {
  return touch === undefined ? null : accepted.read(touch);
}

/** The op that led from before to after: a last op that only marked the memory came after the one that corrected it. */
function linkTypeOf(db: ReadableDb, made: MadeBy, change: MemoryChange): OpType {
  if (change.link !== undefined && change.link !== change.op) return readMadeBy(db, change.link).op.op_type;
  return made.op.op_type;
}

function isCorrected(accepted: AcceptedReader, { before, after }: MemoryChange): boolean {
  if (before === undefined || after === undefined) return false;
  return before.memory !== after.memory || !saysSame(accepted.version(before), accepted.version(after));
}

function newestAttached(accepted: AcceptedReader, touch: Touch | undefined, list: AttachmentList): number | undefined {
  return touch === undefined ? undefined : accepted.version(touch)[list];
}

function idsOf({ op }: MadeBy): Pick<DiffItem, 'target_event_id' | 'resulting_event_id'> {
  return {
    ...(op.target_event_id === undefined ? {} : { target_event_id: op.target_event_id }),
    ...(op.resulting_event_id === undefined ? {} : { resulting_event_id: op.resulting_event_id }),
  };
}

/** What was only marked, proposed for deprecation or attached to has no other state of its own. */
function kindOf(change: MemoryChange, categories: readonly DiffCategory[]): DiffItem['kind'] {
  if (change.relation === 'apart') return 'direct_contradiction';
  const isReplaced = categories.includes('corrections_proposed') || categories.includes('records_superseded');
  return change.before === undefined || !isReplaced ? undefined : 'temporal_update';
}

function reasonOf(change: MemoryChange, opType: OpType): string {
  if (change.relation === 'apart') return 'both sides changed it apart from each other';
  const isMark = opType.startsWith('attach_') || opType === 'propose_deprecation';
  return `${isMark ? 'correct_memory' : opType} establishes lineage`;
}

function emptyDiff(projectId: ProjectId, input: DiffInput): SemanticDiff {
  return {
    project_id: projectId,
    base_changeset_id: input.baseChangesetId,
    target_changeset_id: input.targetChangesetId,
    memories_added: [],
    corrections_proposed: [],
    records_superseded: [],
    relationships_added: [],
    decisions_changed: [],
    tasks_or_flags_changed: [],
    duplicates_detected: [],
    permissions_or_visibility_affected: [],
    evidence_added_or_removed: [],
    unresolved_conflicts: [],
  };
}

function listed(told: readonly Told[]): Partial<SemanticDiff> {
  const lists = diffCategories.map(
    (category) =>
      [category, told.filter(({ categories }) => categories.includes(category)).map(({ item }) => item)] as const,
  );
  const notes = told.flatMap(({ note }) => note ?? []);
  return { ...Object.fromEntries(lists), ...(notes.length === 0 ? {} : { kind_notes: notes }) };
}

function cursorOf(input: DiffInput): Readonly<Record<'of' | 'base' | 'target' | 'side', string>> {
  return { of: 'diff', base: input.baseChangesetId, target: input.targetChangesetId, side: input.side };
}

function readCursor(input: DiffInput, cursor: string): number {
  const { of, base, target, side } = cursorOf(input);
  const schema = z.strictObject({
    of: z.literal(of),
    base: z.literal(base),
    target: z.literal(target),
    side: z.literal(side),
    after: z.int().min(1),
  });
  return decodeCursor(cursor, schema).after;
}
