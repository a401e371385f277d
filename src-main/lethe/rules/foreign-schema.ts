import {
  attestationsMax,
  attributionBytesMax,
  contentBytesMax,
  idempotencyKeyBytesMax,
  memoryIdBytesMax,
  messageBytesMax,
  opsMax,
  payloadBytesMax,
  requestBytesMax,
  stringValueBytesMax,
  summaryBytesMax,
} from '../../../src-preload/contract/limits.ts';

/** A column that is read: its type and, in bytes of UTF-8, the most that one of its values may hold. */
export interface ForeignColumnRule {
  readonly type: 'text' | 'integer' | 'real' | 'time';
  readonly bytesMax: number;
  readonly isNullable: boolean;
  /** Whether an older schema, in which the column is not there yet, is read too. */
  readonly isOptional: boolean;
}

/** A table of a reference database (`lethe.md` §2.11). */
export interface ForeignTable {
  readonly name: string;
  /** Columns of its primary key, in their order. */
  readonly key: readonly string[];
  readonly columns: Readonly<Record<string, ForeignColumnRule>>;
}

const rule = (type: ForeignColumnRule['type'], bytesMax: number): ForeignColumnRule => ({
  type,
  bytesMax,
  isNullable: false,
  isOptional: false,
});
const text = (bytesMax: number): ForeignColumnRule => rule('text', bytesMax);
const integer = rule('integer', 20);
const real = rule('real', 32);
const time = rule('time', 128);
const nullable = (column: ForeignColumnRule): ForeignColumnRule => ({ ...column, isNullable: true });
const later = (column: ForeignColumnRule): ForeignColumnRule => ({ ...column, isOptional: true });

const id = text(attributionBytesMax);
const label = nullable(text(attributionBytesMax));
const jsonList = text(requestBytesMax);

/** The tables of sessions (migrations 001 to 007). */
export const sessionTables = {
  projects: {
    name: 'projects',
    key: ['project_id'],
    columns: {
      project_id: id,
      name: text(attributionBytesMax),
      created_at: nullable(time),
      updated_at: nullable(time),
    },
  },
  agents: {
    name: 'agents',
    key: ['agent_id'],
    columns: {
      agent_id: id,
      name: text(attributionBytesMax),
      created_at: nullable(time),
      last_seen_at: nullable(time),
    },
  },
  sessions: {
    name: 'sessions',
    key: ['session_id'],
    columns: {
      session_id: id,
      agent_id: id,
      project_id: id,
      state: nullable(text(32)),
      started_at: nullable(time),
      last_heartbeat_at: nullable(time),
      ended_at: nullable(time),
      summary: nullable(text(contentBytesMax)),
      session_key: label,
      token_budget: nullable(integer),
      total_tokens_consumed: integer,
    },
  },
  checkpoints: {
    name: 'checkpoints',
    key: ['checkpoint_id'],
    columns: {
      checkpoint_id: id,
      session_id: id,
      seq: integer,
      snapshot: text(payloadBytesMax),
      created_at: nullable(time),
    },
  },
  threads: {
    name: 'threads',
    key: ['thread_id'],
    columns: {
      thread_id: id,
      session_id: id,
      name: text(attributionBytesMax),
      title: text(summaryBytesMax),
      status: text(32),
      created_at: time,
      updated_at: time,
      resolved_at: nullable(time),
    },
  },
  events: {
    name: 'events',
    key: ['event_id'],
    columns: {
      event_id: text(memoryIdBytesMax),
      session_id: label,
      project_id: id,
      parent_event_id: label,
      event_type: text(32),
      content: text(contentBytesMax),
      confidence: nullable(real),
      tags: nullable(text(summaryBytesMax)),
      embedding_id: label,
      task_title: nullable(text(stringValueBytesMax)),
      task_status: nullable(text(32)),
      status_changed_at: nullable(time),
      human_reviewed_at: nullable(time),
      reviewer_id: label,
      thread_id: label,
      created_at: time,
    },
  },
  session_links: {
    name: 'session_links',
    key: ['session_id', 'prior_session_id'],
    columns: { session_id: id, prior_session_id: id, link_type: nullable(text(32)) },
  },
} as const satisfies Record<string, ForeignTable>;

/** The tables of context assemblies (migrations 008 and 010). */
export const assemblyTables = {
  context_assemblies: {
    name: 'context_assemblies',
    key: ['assembly_id'],
    columns: {
      assembly_id: id,
      session_id: id,
      project_id: id,
      source: text(stringValueBytesMax),
      plugin_version: label,
      assembler_version: text(stringValueBytesMax),
      created_at: time,
      message_count: integer,
      provided_token_budget: nullable(integer),
      estimator_id: label,
      summary_estimated_tokens: nullable(integer),
      recent_estimated_tokens: nullable(integer),
      conversation_estimated_tokens: nullable(integer),
      total_estimated_tokens: nullable(integer),
      packed_bytes: integer,
      recent_skipped: integer,
      skip_reason: nullable(text(summaryBytesMax)),
      notes: nullable(text(summaryBytesMax)),
      memory_manifest_id: later(label),
      memory_head_changeset_id: later(label),
      accepted_estimated_tokens: later(nullable(integer)),
    },
  },
  context_assembly_items: {
    name: 'context_assembly_items',
    key: ['assembly_id', 'ordinal'],
    columns: {
      assembly_id: id,
      ordinal: integer,
      item_kind: text(32),
      bucket: text(stringValueBytesMax),
      event_id: label,
      content_snapshot: nullable(text(payloadBytesMax)),
      content_sha256: text(128),
      packed_bytes: integer,
      estimated_tokens: nullable(integer),
    },
  },
  context_assembly_feedback: {
    name: 'context_assembly_feedback',
    key: ['feedback_id'],
    columns: {
      feedback_id: id,
      assembly_id: id,
      verdict: text(32),
      related_event_id: label,
      note: nullable(text(summaryBytesMax)),
      created_at: time,
    },
  },
} as const satisfies Record<string, ForeignTable>;

/** The tables of Memory Git (migrations 009 to 013). */
export const gitTables = {
  memory_changesets: {
    name: 'memory_changesets',
    key: ['changeset_id'],
    columns: {
      changeset_id: text(36),
      schema_version: text(32),
      project_id: id,
      ref_name: text(attributionBytesMax),
      parent_ids_json: text(256),
      author_principal: id,
      persona_id: label,
      actor_id: label,
      surface: label,
      model: label,
      environment: label,
      session_id: label,
      topic_id: label,
      context_manifest_id: label,
      message: text(messageBytesMax),
      created_at: time,
      idempotency_key: text(idempotencyKeyBytesMax),
      evidence_json: jsonList,
      verification_json: jsonList,
      integrity_digest: text(64),
      request_digest: later(text(64)),
    },
  },
  memory_changeset_ops: {
    name: 'memory_changeset_ops',
    key: ['changeset_id', 'ordinal'],
    columns: {
      changeset_id: text(36),
      ordinal: integer,
      op_type: text(32),
      target_event_id: nullable(text(memoryIdBytesMax)),
      resulting_event_id: nullable(text(memoryIdBytesMax)),
      payload_json: text(payloadBytesMax),
    },
  },
  memory_refs: {
    name: 'memory_refs',
    key: ['project_id', 'ref_name'],
    columns: {
      project_id: id,
      ref_name: text(attributionBytesMax),
      head_changeset_id: text(36),
      protected: integer,
      created_at: time,
      updated_at: time,
      created_by_principal: label,
    },
  },
  memory_conflicts: {
    name: 'memory_conflicts',
    key: ['conflict_id'],
    columns: {
      conflict_id: text(64),
      project_id: id,
      base_changeset_id: label,
      left_changeset_id: text(attributionBytesMax),
      right_changeset_id: text(attributionBytesMax),
      conflict_type: text(stringValueBytesMax),
      severity: text(32),
      summary: text(summaryBytesMax),
      details_json: text(payloadBytesMax),
      status: text(32),
      proposal_id: later(label),
      created_at: time,
      resolved_at: nullable(time),
      resolution_note: nullable(text(summaryBytesMax)),
    },
  },
  memory_manifests: {
    name: 'memory_manifests',
    key: ['manifest_id'],
    columns: {
      manifest_id: id,
      direction: text(32),
      project_id: id,
      ref_name: text(attributionBytesMax),
      head_changeset_id: text(attributionBytesMax),
      base_changeset_id: label,
      resulting_changeset_id: label,
      proposed_target_ref: label,
      merge_proposal_id: label,
      selected_memory_ids_json: jsonList,
      inclusion_reasons_json: jsonList,
      exclusion_reasons_json: jsonList,
      unresolved_conflicts_json: jsonList,
      session_id: label,
      actor_id: label,
      created_at: time,
    },
  },
} as const satisfies Record<string, ForeignTable>;

/** Tables that later migrations of Memory Git brought (010 and 012): a file without them is read too. */
export const laterTables = {
  memory_legacy_baselines: {
    name: 'memory_legacy_baselines',
    key: ['project_id'],
    columns: {
      project_id: id,
      root_changeset_id: text(36),
      event_ids_json: text(64 * requestBytesMax),
      captured_through: time,
      created_at: time,
    },
  },
  memory_merge_authorizations: {
    name: 'memory_merge_authorizations',
    key: ['nonce'],
    columns: {
      nonce: text(attributionBytesMax),
      key_id: text(attributionBytesMax),
      project_id: id,
      ref_name: text(attributionBytesMax),
      expected_head: text(attributionBytesMax),
      new_head: text(attributionBytesMax),
      merge_proposal_id: id,
      proposal_digest: text(attributionBytesMax),
      reviewer_principal: id,
      merger_principal: id,
      strategy: text(32),
      expires_at: time,
      consumed_at: time,
    },
  },
  memory_protected_ref_advances: {
    name: 'memory_protected_ref_advances',
    key: ['advance_id'],
    columns: {
      advance_id: id,
      project_id: id,
      ref_name: text(attributionBytesMax),
      expected_head: text(attributionBytesMax),
      new_head: text(attributionBytesMax),
      merge_proposal_id: id,
      proposal_digest: text(attributionBytesMax),
      reviewer_principal: id,
      merger_principal: id,
      strategy: text(32),
      authorization_nonce: text(attributionBytesMax),
      created_at: time,
    },
  },
} as const satisfies Record<string, ForeignTable>;

/** Where a reference database says which of its migrations were applied. */
export const versionTable: ForeignTable = {
  name: 'schema_versions',
  key: ['name'],
  columns: { name: text(128), applied: nullable(time) },
};

const sessionMigrations = [
  '001_init.sql',
  '002_add_session_key.sql',
  '003_add_token_budget.sql',
  '004_add_lifetime_tokens.sql',
  '005_add_threads.sql',
  '006_project_scoped_events.sql',
  '007_unique_session_key.sql',
];
const gitMigration = '009_memory_git.sql';
/** After this one no row bears a digest of the first algorithm (`lethe.md` §3.1). */
const digestMigration = '011_changeset_digests_v2';
const known = new Set([
  ...sessionMigrations,
  '006_project_scoped_events',
  '008_context_assembly_ledger.sql',
  gitMigration,
  '010_memory_context_bridge.sql',
  '011_memory_conflict_lifecycle.sql',
  digestMigration,
  '012_merge_authorizations.sql',
  '013_memory_git_request_digest.sql',
]);

/** What a file's list of migrations says it is. */
export type ForeignKind =
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'sessions' | 'git'; readonly mayHoldFirstDigests: boolean };

/** Which reference database the migrations make it: of sessions alone (0.3), or with Memory Git (0.4). */
export function decideForeignKind(applied: ReadonlySet<string>): ForeignKind {
  const unknown = [...applied].find((name) => !known.has(name));
  if (unknown !== undefined)
    return {
      kind: 'refused',
      reason: 'it was written by a newer version than this one can read, or by another program',
    };
  const has = (name: string): boolean => applied.has(name) || applied.has(name.replace('.sql', ''));
  const missing = sessionMigrations.find((name) => !has(name));
  if (missing !== undefined)
    return {
      kind: 'refused',
      reason: `it is older than version 0.3: migration ${missing} was not applied. Open it once with the reference server`,
    };
  return { kind: applied.has(gitMigration) ? 'git' : 'sessions', mayHoldFirstDigests: !applied.has(digestMigration) };
}

/** Bounds that no single value has. */
export const foreignBounds = {
  fileBytesMax: 1_073_741_824,
  changesetsMax: 500_000,
  opsMax,
  attestationsMax,
} as const;
