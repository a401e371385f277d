// The identity of a conflict, as the reference computes it (lethe.md §3.3), and the key of ours that drafts and
// resolutions hang on (§0.3).

import type { JsonObject, JsonValue } from '../../src-preload/contract/json.ts';
import { domainDigest } from './digest.ts';
import { compareUtf8, trimWhiteSpace } from './text.ts';

/** What the identity of a conflict is computed from (lethe.md §2.6). */
export type DigestedConflict = {
  readonly project_id: string;
  readonly base_changeset_id?: string | undefined;
  readonly left_changeset_id: string;
  readonly right_changeset_id: string;
  readonly conflict_type: string;
  readonly summary: string;
  readonly details?: JsonObject | undefined;
};

/** The 64 hex characters that name a conflict (lethe.md §3.3). Left and right are not interchangeable. */
export function conflictId(conflict: DigestedConflict): string {
  return domainDigest('lethe/memory-conflict/v1', {
    base_changeset_id: conflict.base_changeset_id ?? '',
    conflict_type: conflict.conflict_type,
    identity: conflictIdentity(conflict),
    left_changeset_id: conflict.left_changeset_id,
    project_id: conflict.project_id,
    right_changeset_id: conflict.right_changeset_id,
  });
}

/** What a conflict is about, apart from the three changesets: by type, from its details (lethe.md §3.3, §0.3). */
export function conflictIdentity(conflict: Pick<DigestedConflict, 'conflict_type' | 'summary' | 'details'>): string {
  const detail = (name: string): string => textOf(conflict.details?.[name]);
  switch (conflict.conflict_type) {
    case 'duplicate_content':
      return trimWhiteSpace(detail('duplicate_content'));
    case 'contradictory_decision':
    case 'protected_decision':
      return `${detail('scope')}|${decisionPair(detail)}`;
    case 'incompatible_fact':
      return `${detail('fact_key')}|${detail('scope')}|${pair(detail('left_content'), detail('right_content'))}`;
    case 'boundary_violation':
      return boundaryIdentity(detail);
    case 'scope_flow':
      return ['changeset_id', 'from_visibility', 'to_visibility', 'op_type'].map(detail).join('|');
    case 'trust_downgrade':
      return `${detail('changeset_id')}|${detail('target_event_id')}`;
    case 'stale_base':
      return '';
    case 'identity_collision':
    case 'concurrent_edit':
    case 'delete_modify':
      return detail('memory_id');
    default:
      return conflict.summary;
  }
}

type Detail = (name: string) => string;

function decisionPair(detail: Detail): string {
  const left = detail('left_event');
  const right = detail('right_event');
  if (left !== '' || right !== '') return pair(left, right);
  return pair(detail('left_content'), detail('right_content'));
}

function boundaryIdentity(detail: Detail): string {
  for (const name of ['payload_project', 'payload_topic', 'payload_actor']) {
    if (detail(name) !== '') return `${detail('changeset_id')}|${name}|${detail(name)}`;
  }
  return detail('changeset_id');
}

function pair(left: string, right: string): string {
  return compareUtf8(left, right) <= 0 ? `${left}|${right}` : `${right}|${left}`;
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value.toWellFormed() : '';
}

/** What a conflict's key is computed from: `left_state` and `right_state` are made by `memoryStatesDigest`. */
export type DigestedConflictKey = {
  readonly project_id: string;
  readonly conflict_type: string;
  readonly identity: string;
  readonly left_state: string;
  readonly right_state: string;
};

/** The key that survives a move of the target: equal as long as the two sides say the same (lethe.md §0.3). */
export function conflictKey(key: DigestedConflictKey): string {
  return domainDigest('lethe/memory-conflict-key/v1', {
    conflict_type: key.conflict_type,
    identity: key.identity,
    left_state: key.left_state,
    project_id: key.project_id,
    right_state: key.right_state,
  });
}

/**
 * The digest of what one side says about the memories that a conflict names (lethe.md §0.3): memory id to state, `null`
 * where the memory is absent there. The order of the memories means nothing.
 */
export function memoryStatesDigest(states: ReadonlyMap<string, JsonObject | null>): string {
  return domainDigest('lethe/memory-states/v1', Object.fromEntries(states));
}
