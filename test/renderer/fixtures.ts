import { type Conflict, conflictSchema } from '../../src-preload/contract/conflict.ts';
import {
  type DiffCategory,
  diffCategories,
  type SemanticDiff,
  semanticDiffSchema,
} from '../../src-preload/contract/diff.ts';
import { type AcceptedMemory, acceptedMemorySchema } from '../../src-preload/contract/memory.ts';
import { type ProposalDetail, proposalDetailSchema } from '../../src-preload/contract/proposal.ts';

const uuid = (n: number): string => `01990000-0000-7000-8000-${String(n).padStart(12, '0')}`;

export const ids = {
  base: uuid(1),
  head: uuid(2),
  main: uuid(3),
  proposal: uuid(4),
  agent: 'principal_00000000000000a1',
  owner: 'principal_00000000000000b2',
  reviewer: 'principal_00000000000000c3',
} as const;

export const noon = '2026-01-10T12:00:00Z';
export const noonMs = Date.parse(noon);

/** A memory as the store would serve it. */
export function memory(memoryId: string, content: string, rest: Partial<AcceptedMemory> = {}): AcceptedMemory {
  return acceptedMemorySchema.parse({ memory_id: memoryId, content, status: 'active', source: 'memory_git', ...rest });
}

/** A diff with the given items a category, numbered in the order given. */
export function diff(
  items: Partial<Record<DiffCategory, readonly Record<string, unknown>[]>>,
  rest: Partial<SemanticDiff> = {},
): SemanticDiff {
  const list = (category: DiffCategory): unknown[] =>
    (items[category] ?? []).map((item, index) => ({
      memory_id: `m${index}`,
      op_ordinal: index,
      op_type: 'add_memory',
      changeset_id: ids.head,
      author_principal: ids.agent,
      summary: 's',
      before: null,
      after: null,
      ...item,
    }));
  return semanticDiffSchema.parse({
    project_id: 'demo',
    base_changeset_id: ids.base,
    target_changeset_id: ids.head,
    memories_added: list('memories_added'),
    corrections_proposed: list('corrections_proposed'),
    records_superseded: list('records_superseded'),
    relationships_added: list('relationships_added'),
    decisions_changed: list('decisions_changed'),
    tasks_or_flags_changed: list('tasks_or_flags_changed'),
    duplicates_detected: list('duplicates_detected'),
    permissions_or_visibility_affected: list('permissions_or_visibility_affected'),
    evidence_added_or_removed: list('evidence_added_or_removed'),
    unresolved_conflicts: [],
    ...rest,
  });
}

/** A pending proposal of an agent that fast-forwards, with whatever is given changed. */
export function proposal(rest: Record<string, unknown> = {}): ProposalDetail {
  return proposalDetailSchema.parse({
    proposal_id: ids.proposal,
    kind: 'merge_request',
    project_id: 'demo',
    originator: ids.agent,
    originator_name: 'agent',
    target_ref: 'refs/shared/main',
    base_changeset_id: ids.base,
    head_changeset_id: ids.head,
    selected_ops: null,
    message: 'm',
    status: 'pending',
    review_state: 'none',
    proposal_digest: 'a'.repeat(64),
    target_head: ids.main,
    conflicts: [],
    conflict_counts: { blocking: 0, warning: 0, info: 0, unresolved: 0 },
    resolutions: [],
    conflict_ids: [],
    verdicts: [],
    review_findings: [],
    created_at: '2026-01-10T11:00:00Z',
    expires_at: '2026-01-17T11:00:00Z',
    self_merge: false,
    preview: {
      target_head: ids.main,
      strategy: 'fast_forward',
      target_ahead: 0,
      proposal_ahead: 1,
      contested_memory_ids: [],
      contested_total: 0,
      changes: Object.fromEntries(diffCategories.map((category) => [category, 0])),
      changes_complete: true,
      blocking_by_type: {},
      target_moved: false,
      new_conflicts: 0,
    },
    diff: diff({ memories_added: [{}, { memory_id: 'x' }], corrections_proposed: [{ memory_id: 'y', op_ordinal: 7 }] }),
    ...rest,
  });
}

/** An open blocking conflict about one memory that both sides edited, with whatever is given changed. */
export function conflict(rest: Record<string, unknown> = {}): Conflict {
  return conflictSchema.parse({
    conflict_id: 'c'.repeat(64),
    project_id: 'demo',
    left_changeset_id: ids.main,
    right_changeset_id: ids.head,
    conflict_type: 'concurrent_edit',
    severity: 'blocking',
    summary: 'Both sides changed m0',
    status: 'open',
    created_at: noon,
    conflict_key: 'd'.repeat(64),
    ...rest,
  });
}
