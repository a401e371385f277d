import type { VerifyReport } from '../../../src-preload/contract/audit.ts';
import type { Changeset, Op, Project, Ref } from '../../../src-preload/contract/changeset.ts';
import type { Conflict } from '../../../src-preload/contract/conflict.ts';
import { type DiffItem, diffCategories, type SemanticDiff } from '../../../src-preload/contract/diff.ts';
import type {
  AcceptedMemory,
  LineageStep,
  Manifest,
  MemoryContext,
  Relationship,
  SearchMatch,
} from '../../../src-preload/contract/memory.ts';
import type { Advance } from '../../../src-preload/contract/proposal.ts';
import { type Encodable, type Ordered, ordered } from '../../canonical/json.ts';
import type { RefMove } from '../../lethe/ref-moves.ts';

/** A struct of the protocol: fields in declared order, what is undefined left out. */
export function struct(fields: { readonly [name: string]: Encodable | undefined }): Ordered {
  const present = Object.entries(fields).filter((field): field is [string, Encodable] => field[1] !== undefined);
  return ordered(Object.fromEntries(present));
}

/** A list that is left out when it is empty. */
function unlessEmpty(list: readonly Encodable[] | undefined): readonly Encodable[] | undefined {
  return list === undefined || list.length === 0 ? undefined : list;
}

/** `lethe.md` §2.4. */
export function encodeProject(project: Project): Ordered {
  const { project_id, name, created_at, updated_at } = project;
  return struct({ project_id, name, created_at, updated_at });
}

/** `lethe.md` §2.3, and after it the mark of an archived one. */
export function encodeRef(ref: Ref): Ordered {
  const { project_id, ref_name, head_changeset_id, created_at, updated_at, created_by_principal, archived } = ref;
  const head = { project_id, ref_name, head_changeset_id, protected: ref.protected };
  return struct({ ...head, created_at, updated_at, created_by_principal, archived });
}

/** `lethe.md` §2.1, and after it the `chain_digest` of §0.2. */
export function encodeChangeset(changeset: Changeset): Ordered {
  return struct({
    changeset_id: changeset.changeset_id,
    schema_version: changeset.schema_version,
    project_id: changeset.project_id,
    ref_name: changeset.ref_name,
    parent_ids: changeset.parent_ids,
    author_principal: changeset.author_principal,
    persona_id: changeset.persona_id,
    actor_id: changeset.actor_id,
    surface: changeset.surface,
    model: changeset.model,
    environment: changeset.environment,
    session_id: changeset.session_id,
    topic_id: changeset.topic_id,
    context_manifest_id: changeset.context_manifest_id,
    message: changeset.message,
    created_at: changeset.created_at,
    idempotency_key: changeset.idempotency_key,
    ops: unlessEmpty(changeset.ops?.map(encodeOp)),
    evidence: unlessEmpty(changeset.evidence),
    verification: unlessEmpty(changeset.verification),
    integrity_digest: changeset.integrity_digest,
    chain_digest: changeset.chain_digest,
  });
}

function encodeOp({ ordinal, op_type, target_event_id, resulting_event_id, payload }: Op): Ordered {
  return struct({ ordinal, op_type, target_event_id, resulting_event_id, payload });
}

/** `lethe.md` §2.7, and after it the cursor of the next page. */
export function encodeContext(context: MemoryContext): Ordered {
  const { project_id, ref_name, head_changeset_id, manifest_id, projection_version, total_active, ...rest } = context;
  const { memories, relationships, unresolved_conflicts, inclusion_reasons, exclusion_reasons, ...ours } = rest;
  return struct({
    ...{ project_id, ref_name, head_changeset_id, manifest_id, projection_version, total_active },
    memories: memories.map(encodeMemory),
    relationships: unlessEmpty(relationships?.map(encodeRelationship)),
    unresolved_conflicts: unlessEmpty(unresolved_conflicts),
    ...{ inclusion_reasons, exclusion_reasons, ...ours },
  });
}

/** `lethe.md` §2.7, and after it what a memory of ours says beside. */
export function encodeMemory(memory: AcceptedMemory): Ordered {
  const { memory_id, content, event_type, kind, scope, visibility, tags, confidence, status, source, ...rest } = memory;
  const { source_event_id, introduced_changeset_id, last_changeset_id, evidence, verification, payload, ...ours } =
    rest;
  return struct({
    ...{ memory_id, content, event_type, kind, scope, visibility, tags: unlessEmpty(tags), confidence, status, source },
    ...{ source_event_id, introduced_changeset_id, last_changeset_id },
    ...{ evidence: unlessEmpty(evidence), verification: unlessEmpty(verification), payload, ...ours },
  });
}

/** `lethe.md` §2.7, and after it what a relationship of ours says beside. */
export function encodeRelationship(relationship: Relationship): Ordered {
  const { from_memory_id, to_memory_id, kind, payload, changeset_id, ...ours } = relationship;
  return struct({ from_memory_id, to_memory_id, kind, payload, changeset_id, ...ours });
}

/** `lethe.md` §2.5, and after it what §0.6 pins beside. */
export function encodeManifest(manifest: Manifest): Ordered {
  const { manifest_id, direction, project_id, ref_name, head_changeset_id, base_changeset_id, ...rest } = manifest;
  const { resulting_changeset_id, proposed_target_ref, merge_proposal_id, selected_memory_ids, ...more } = rest;
  const { inclusion_reasons, exclusion_reasons, unresolved_conflicts, session_id, actor_id, created_at, ...ours } =
    more;
  return struct({
    ...{ manifest_id, direction, project_id, ref_name, head_changeset_id, base_changeset_id, resulting_changeset_id },
    ...{ proposed_target_ref, merge_proposal_id, selected_memory_ids, inclusion_reasons, exclusion_reasons },
    ...{ unresolved_conflicts, session_id, actor_id, created_at, ...ours },
  });
}

/** `lethe.md` §6; `base` is echoed as it was asked, empty when none was. */
export function encodeDiff(diff: SemanticDiff, base: string): Ordered {
  const lists = diffCategories.map((category) => [category, diff[category].map(encodeDiffItem)] as const);
  return struct({
    project_id: diff.project_id,
    base_changeset_id: base,
    target_changeset_id: diff.target_changeset_id,
    ...Object.fromEntries(lists),
    unresolved_conflicts: diff.unresolved_conflicts,
    kind_notes: unlessEmpty(
      diff.kind_notes?.map(({ left, right, kind, reason }) => struct({ left, right, kind, reason })),
    ),
    next_cursor: diff.next_cursor,
  });
}

function encodeDiffItem(item: DiffItem): Ordered {
  const { op_ordinal, op_type, changeset_id, target_event_id, resulting_event_id, summary, kind, ...rest } = item;
  const { payload, memory_id, author_principal, before, after, ...ours } = rest;
  return struct({
    ...{ op_ordinal, op_type, changeset_id, target_event_id, resulting_event_id, summary, kind, payload },
    ...{ memory_id, author_principal, ...beforeAndAfter(before, after), ...ours },
  });
}

function beforeAndAfter(before: AcceptedMemory | null, after: AcceptedMemory | null) {
  return {
    before: before === null ? null : encodeMemory(before),
    after: after === null ? null : encodeMemory(after),
  };
}

/** One match of a search (`lethe.md` §0.5). */
export function encodeMatch({ memory, score, why }: SearchMatch): Ordered {
  return struct({
    memory: encodeMemory(memory),
    score,
    why: why.map(({ token, fields }) => struct({ token, fields })),
  });
}

/** One step of a lineage (`lethe.md` §0.5). */
export function encodeStep(step: LineageStep): Ordered {
  const { changeset_id, ordinal, op_type, memory_id, author_principal, actor_id, model, message, ...rest } = step;
  const { created_at, before, after, ...ours } = rest;
  return struct({
    ...{ changeset_id, ordinal, op_type, memory_id, author_principal, actor_id, model, message, created_at },
    ...beforeAndAfter(before, after),
    ...ours,
  });
}

/** `lethe.md` §2.6, and after it the key of §0.3. */
export function encodeConflict(conflict: Conflict): Ordered {
  const { conflict_id, project_id, base_changeset_id, left_changeset_id, right_changeset_id, ...rest } = conflict;
  const { conflict_type, severity, summary, details, status, proposal_id, created_at, ...end } = rest;
  const { resolved_at, resolution_note, conflict_key } = end;
  return struct({
    ...{ conflict_id, project_id, base_changeset_id, left_changeset_id, right_changeset_id, conflict_type, severity },
    ...{ summary, details, status, proposal_id, created_at, resolved_at, resolution_note, conflict_key },
  });
}

/** `lethe.md` §2.9. */
export function encodeAdvance(advance: Advance): Ordered {
  const { advance_id, project_id, ref_name, expected_head, new_head, merge_proposal_id, proposal_digest } = advance;
  const { reviewer_principal, merger_principal, strategy, authorization_nonce, created_at } = advance;
  return struct({
    ...{ advance_id, project_id, ref_name, expected_head, new_head, merge_proposal_id, proposal_digest },
    ...{ reviewer_principal, merger_principal, strategy, authorization_nonce, created_at },
  });
}

/** One row of `memory_ref_moves` (`lethe.md` §0.2). */
export function encodeMove(move: RefMove): Ordered {
  const { seq, project_id, ref_name, from_head, to_head, moved_at, principal, cause, chain_digest, signature } = move;
  return struct({ seq, project_id, ref_name, from_head, to_head, moved_at, principal, cause, chain_digest, signature });
}

/** What a verification found (`lethe.md` §0.5). */
export function encodeReport({ ok, checked, head, findings, notes }: VerifyReport): Ordered {
  return struct({
    ...{ ok, checked, head },
    findings: findings.map(({ where, problem }) => struct({ where, problem })),
    notes,
  });
}
