import {
  type DiffCategory,
  type DiffItem,
  diffCategories,
  type SemanticDiff,
} from '../../src-preload/contract/diff.ts';
import { type MemoryId, memoryIdSchema } from '../../src-preload/contract/ids.ts';
import type { AcceptedMemory } from '../../src-preload/contract/memory.ts';
import { Fault } from '../base/fault.ts';
import type { CharonContext } from './context.ts';
import { listMissingPicks, type PickedOp } from './picks.ts';
import type { ProposalNow } from './proposal-now.ts';
import { findMadeMemory, listNeededMemories } from './rules/op-reach.ts';
import { begin, overlay } from './rules/picked-state.ts';
import { isLive } from './rules/resolution-writing.ts';

/**
 * What a cherry-pick changes, op by op, before → after: its ops as they will lie on the target's head, and nothing of what
 * else their branch holds. `cursor` is the place in the ops where a page goes on. Throws `CURSOR_INVALID`.
 */
export async function readPickedDiff(
  context: CharonContext,
  now: ProposalNow,
  limit: number,
  cursor: string | undefined,
): Promise<SemanticDiff> {
  const items = await listItems(context, now);
  const start = cursor === undefined ? 0 : parsePlace(cursor);
  const shown = items.slice(start, start + limit);
  const lists = Object.fromEntries(
    diffCategories.map((category) => [
      category,
      shown.filter(({ categories }) => categories.includes(category)).map(({ item }) => item),
    ]),
  ) as Record<DiffCategory, DiffItem[]>;
  return {
    project_id: now.stored.project_id,
    base_changeset_id: now.targetHead,
    target_changeset_id: now.stored.head_changeset_id,
    ...lists,
    unresolved_conflicts: [],
    ...(start + shown.length < items.length ? { next_cursor: String(start + shown.length) } : {}),
  };
}

function parsePlace(cursor: string): number {
  if (/^\d{1,6}$/.test(cursor)) return Number(cursor);
  throw new Fault(
    'CURSOR_INVALID',
    'cursor does not belong to the proposal as it is now. Show it again without a cursor.',
    { field: 'cursor' },
  );
}

interface Told {
  readonly item: DiffItem;
  readonly categories: readonly DiffCategory[];
}

async function listItems(context: CharonContext, now: ProposalNow): Promise<readonly Told[]> {
  const { stored, targetHead } = now;
  const states = new Map<string, AcceptedMemory | null>();
  const stateOf = async (memoryId: string): Promise<AcceptedMemory | null> => {
    const known = states.get(memoryId);
    if (known !== undefined) return known;
    const found = (await context.store.findMemory(stored.project_id, memoryId, targetHead)) ?? null;
    const live = isLive(found) ? found : null;
    states.set(memoryId, live);
    return live;
  };
  const told: Told[] = [];
  for (const pick of await listMissingPicks(context, stored, targetHead)) {
    const made = findMadeMemory(pick.changeset.changeset_id, pick.op);
    const [targetId] = listNeededMemories(pick.op);
    const before = targetId === undefined ? null : await stateOf(targetId);
    const subject = made ?? targetId;
    if (subject === undefined) continue;
    const after = stateAfter(pick, memoryIdSchema.parse(subject), before);
    if (targetId !== undefined && (made !== undefined || after === null)) states.set(targetId, null);
    states.set(subject, after);
    told.push({
      item: itemOf(pick, memoryIdSchema.parse(subject), before, after),
      categories: categoriesOf(pick, before, after),
    });
  }
  return told;
}

/** What an op leaves of its memory, or the memory that it makes; null when it leaves none. */
function stateAfter({ op }: PickedOp, subject: MemoryId, before: AcceptedMemory | null): AcceptedMemory | null {
  const payload = op.payload ?? {};
  switch (op.op_type) {
    case 'add_memory':
      return begin(subject, payload);
    case 'correct_memory':
      return overlay({ ...(before ?? begin(subject, {})), memory_id: subject }, payload);
    case 'supersede_memory':
      return subject === op.target_event_id ? null : begin(subject, payload);
    case 'mark_duplicate':
      return null;
    case 'propose_deprecation':
      return before && { ...before, status: 'deprecation_proposed' };
    case 'attach_evidence':
      return before && { ...before, evidence: [...(before.evidence ?? []), payload] };
    case 'attach_verification':
      return before && { ...before, verification: [...(before.verification ?? []), payload] };
    case 'add_relationship':
      return before;
  }
}

const categoryByType = {
  add_memory: 'memories_added',
  correct_memory: 'corrections_proposed',
  supersede_memory: 'records_superseded',
  mark_duplicate: 'duplicates_detected',
  propose_deprecation: 'decisions_changed',
  attach_evidence: 'evidence_added_or_removed',
  attach_verification: 'evidence_added_or_removed',
  add_relationship: 'relationships_added',
} as const satisfies Record<PickedOp['op']['op_type'], DiffCategory>;

function categoriesOf(
  { op }: PickedOp,
  before: AcceptedMemory | null,
  after: AcceptedMemory | null,
): readonly DiffCategory[] {
  const categories = new Set<DiffCategory>([categoryByType[op.op_type]]);
  const isSaying = ['add_memory', 'correct_memory', 'supersede_memory', 'mark_duplicate'].includes(op.op_type);
  if (isSaying && [before, after].some(isDecision)) categories.add('decisions_changed');
  if (isSaying && [before, after].some(isTaskOrFlag)) categories.add('tasks_or_flags_changed');
  if (after !== null && before?.visibility !== after.visibility) categories.add('permissions_or_visibility_affected');
  return [...categories];
}

function isDecision(state: AcceptedMemory | null): boolean {
  return state !== null && (state.kind === 'decision' || /decision:/i.test(state.content));
}

function isTaskOrFlag(state: AcceptedMemory | null): boolean {
  return state !== null && [state.event_type, state.kind].some((name) => name === 'task' || name === 'flag');
}

/** Longest summary that is taken from a memory's text, in characters. */
const summaryMax = 120;

function itemOf(
  { changeset, op }: PickedOp,
  memoryId: MemoryId,
  before: AcceptedMemory | null,
  after: AcceptedMemory | null,
): DiffItem {
  const summary = op.payload?.summary;
  const isGrown = before !== null && after !== null && ['correct_memory', 'supersede_memory'].includes(op.op_type);
  return {
    memory_id: memoryId,
    op_ordinal: op.ordinal,
    op_type: op.op_type,
    changeset_id: changeset.changeset_id,
    author_principal: changeset.author_principal,
    ...(op.target_event_id === undefined ? {} : { target_event_id: op.target_event_id }),
    ...(op.resulting_event_id === undefined ? {} : { resulting_event_id: op.resulting_event_id }),
    summary:
      typeof summary === 'string' && summary !== ''
        ? summary
        : [...((after ?? before)?.content ?? '')].slice(0, summaryMax).join('') || op.op_type,
    ...(isGrown ? { kind: 'temporal_update' } : {}),
    ...(op.payload === undefined ? {} : { payload: op.payload }),
    before,
    after,
  };
}
