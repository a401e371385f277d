import { z } from 'zod';
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
import { memoryIdOf } from './projection/identity.ts';
import { type MadeBy, readMadeBy } from './projection/made-by.ts';
import { openSight } from './projection/sight.ts';
import { decodeCursor, encodeCursor } from './rules/cursor.ts';
import { categoriesOf, summarize } from './rules/diff-categories.ts';

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
  const sight = openSight(db);
  const accepted = openAccepted(db);
  const told: Told[] = [];
  let last = after;
  let next: string | undefined;
  for (const change of listChanges(
    sight,
    sight.places.get(base.seq),
    sight.places.get(target.seq),
    input.side,
    after,
  )) {
    // An op may make two changes: a page ends between ops.
    if (told.length >= input.limit && change.op !== last) {
      next = encodeCursor({ ...cursorOf(input), after: last });
      break;
    }
    told.push(tell(db, accepted, change));
    last = change.op;
  }
  return {
    ...emptyDiff(projectIdSchema.parse(base.project_id), input),
    ...listed(told),
    ...(next === undefined ? {} : { next_cursor: next }),
  };
}

function tell(db: ReadableDb, accepted: AcceptedReader, change: MemoryChange): Told {
  const made = readMadeBy(db, change.op);
  const linkType =
    change.link === undefined || change.link === change.op ? made.op.op_type : readMadeBy(db, change.link).op.op_type;
  const subject = change.after ?? change.before;
  assert(subject !== undefined, 'a change has a state before or after');
  const before = change.before === undefined ? null : accepted.read(change.before);
  const after = change.after === undefined ? null : accepted.read(change.after);
  const kind = kindOf(change);
  const item: DiffItem = {
    memory_id: memoryIdOf(db, subject.memory),
    op_ordinal: made.op.ordinal,
    op_type: made.op.op_type,
    changeset_id: made.changeset_id,
    author_principal: made.author_principal,
    ...idsOf(made),
    summary: summarize(made.op, after ?? before),
    ...(kind === undefined ? {} : { kind }),
    ...(made.op.payload === undefined ? {} : { payload: made.op.payload }),
    before,
    after,
  };
  const left = change.before === undefined ? item.memory_id : memoryIdOf(db, change.before.memory);
  return {
    item,
    note: kind === undefined ? undefined : { left, right: item.memory_id, kind, reason: reasonOf(change, linkType) },
    categories: categoriesOf(linkType, change.relation, before, after),
  };
}

function idsOf({ op }: MadeBy): Pick<DiffItem, 'target_event_id' | 'resulting_event_id'> {
  return {
    ...(op.target_event_id === undefined ? {} : { target_event_id: op.target_event_id }),
    ...(op.resulting_event_id === undefined ? {} : { resulting_event_id: op.resulting_event_id }),
  };
}

function kindOf(change: MemoryChange): DiffItem['kind'] {
  if (change.relation === 'apart') return 'direct_contradiction';
  return change.before === undefined ? undefined : 'temporal_update';
}

function reasonOf(change: MemoryChange, opType: string): string {
  if (change.relation === 'apart') return 'both sides changed it apart from each other';
  return `${opType} establishes lineage`;
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
