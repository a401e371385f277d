import { createHash } from 'node:crypto';
import { conflictId } from '../../src-main/canonical/conflict-digest.ts';
import { integrityDigest, integrityDigestV1 } from '../../src-main/canonical/digest.ts';
import { encodePlain } from '../../src-main/canonical/json.ts';
import {
  legacyRootAuthor,
  legacyRootEvidence,
  legacyRootKey,
  legacyRootMessage,
} from '../../src-main/lethe/rules/legacy-root.ts';
import { type Connection, connect } from '../../src-main/sqlite/driver.ts';
import type { JsonObject, JsonValue } from '../../src-preload/contract/json.ts';
import { gitSchema, laterSchema, sessionSchema } from './reference-schema.ts';

type Value = string | number | null;

/** A reference database under construction, closed when it is done. */
export interface ReferenceStore {
  readonly db: Connection;
  /** Writes a row into a table. */
  insert(table: string, row: Readonly<Record<string, Value>>): void;
  close(): void;
}

const sessionMigrations = [
  '001_init.sql',
  '002_add_session_key.sql',
  '003_add_token_budget.sql',
  '004_add_lifetime_tokens.sql',
  '005_add_threads.sql',
  '006_project_scoped_events.sql',
  '007_unique_session_key.sql',
];
const gitMigrations = [
  '008_context_assembly_ledger.sql',
  '009_memory_git.sql',
  '010_memory_context_bridge.sql',
  '011_changeset_digests_v2',
  '011_memory_conflict_lifecycle.sql',
  '012_merge_authorizations.sql',
  '013_memory_git_request_digest.sql',
];

/** A moment in the form in which Go's driver stores it. */
export function goTime(ms: number, nanoseconds = 175_898_000): string {
  const text = new Date(ms).toISOString();
  const fraction = `${nanoseconds}`.padStart(9, '0').replace(/0+$/, '');
  return `${text.slice(0, 10)} ${text.slice(11, 19)}${fraction === '' ? '' : `.${fraction}`} +0000 UTC`;
}

export const referenceEpochMs = Date.UTC(2026, 6, 12, 20, 59, 45);

function openReference(path: string, schema: readonly string[], migrations: readonly string[]): ReferenceStore {
  const db = connect(path, { readOnly: false, mustExist: false });
  db.pragma('journal_mode = WAL');
  for (const statement of schema) db.exec(statement);
  const insert: ReferenceStore['insert'] = (table, row) => {
    const names = Object.keys(row);
    db.command<Value[]>(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`).run(
      ...Object.values(row),
    );
  };
  for (const name of migrations) insert('schema_versions', { name, applied: goTime(referenceEpochMs) });
  return { db, insert, close: () => db.close() };
}

/** An empty database of version 0.3: sessions only. */
export function openReferenceSessions(path: string): ReferenceStore {
  return openReference(path, sessionSchema, sessionMigrations);
}

/** An empty database of version 0.4, with Memory Git. */
export function openReferenceGit(path: string): ReferenceStore {
  return openReference(
    path,
    [...sessionSchema, ...gitSchema, ...laterSchema],
    [...sessionMigrations, ...gitMigrations],
  );
}

/** The rows of the 0.3 fixture (`lethe.md` §2.12): 1 agent, 1 project, 3 sessions, 1 checkpoint, 1 link, 1 thread, 5 events. */
export function fillSessions(store: ReferenceStore, project = 'project-1', prefix = ''): void {
  const now = goTime(referenceEpochMs);
  store.insert('agents', { agent_id: `${prefix}agent-1`, name: 'Agent', created_at: now, last_seen_at: now });
  store.insert('projects', { project_id: project, name: 'A project', created_at: now, updated_at: now });
  const session = { agent_id: `${prefix}agent-1`, project_id: project };
  const states = ['active', 'completed', 'interrupted'];
  for (const [index, state] of states.entries())
    store.insert('sessions', {
      ...{ session_id: `${prefix}session-${state}`, session_key: `${prefix}key-${state}`, ...session, state },
      started_at: goTime(referenceEpochMs - index * 3_600_000),
      ended_at: state === 'completed' ? now : null,
      summary: state === 'active' ? '' : `a summary of the ${state} session`,
    });
  const active = `${prefix}session-active`;
  store.insert('threads', {
    ...{ thread_id: `${prefix}thread-1`, session_id: active, name: 'open-question', title: 'Open question' },
    ...{ status: 'open', created_at: now, updated_at: now },
  });
  const event = { project_id: project, created_at: now };
  const events: readonly Readonly<Record<string, Value>>[] = [
    { session_id: active, event_type: 'record', content: 'The lamp stays lit', confidence: 0.9, tags: 'red, blue' },
    { session_id: active, event_type: 'log', content: 'The keeper was seen', parent_event_id: `${prefix}event-1` },
    { session_id: active, event_type: 'flag', content: 'Is the bell cracked?', thread_id: `${prefix}thread-1` },
    { session_id: active, event_type: 'task', content: 'Mend the stairs', task_title: 'A task', task_status: 'todo' },
    { session_id: null, event_type: 'log', content: 'Of the project alone' },
  ];
  for (const [index, row] of events.entries())
    store.insert('events', { event_id: `${prefix}event-${index + 1}`, ...event, ...row });
  store.insert('checkpoints', {
    ...{ checkpoint_id: `${prefix}checkpoint-1`, session_id: active, seq: 1, created_at: now },
    snapshot: '{"open_threads":[],"recent_event_ids":[],"current_task":""}',
  });
  store.insert('session_links', {
    ...{ session_id: active, prior_session_id: `${prefix}session-completed`, link_type: 'resume' },
  });
}

/** A context assembly of the active session with one item and a verdict. */
export function fillAssembly(store: ReferenceStore, project: string): void {
  const assembly_id = 'assembly-1';
  store.insert('context_assemblies', {
    ...{ assembly_id, session_id: 'session-active', project_id: project, source: 'plugin', assembler_version: '1' },
    ...{ created_at: goTime(referenceEpochMs), message_count: 3, packed_bytes: 90, recent_skipped: 0 },
  });
  store.insert('context_assembly_items', {
    ...{ assembly_id, ordinal: 0, item_kind: 'event', bucket: 'recent', event_id: 'event-1' },
    ...{ content_sha256: 'ab'.repeat(32), packed_bytes: 90 },
  });
  store.insert('context_assembly_feedback', {
    ...{ feedback_id: 'feedback-1', assembly_id, verdict: 'good', created_at: goTime(referenceEpochMs) },
  });
}

/** An op of a reference changeset. */
export interface ReferenceOp {
  readonly op_type: string;
  readonly target_event_id?: string;
  readonly resulting_event_id?: string;
  readonly payload?: JsonObject;
}

/** What a test says of a reference changeset; the rest is made up. */
export interface ReferenceChangeset {
  readonly ref: string;
  readonly parents: readonly string[];
  readonly ops: readonly ReferenceOp[];
  readonly more?: Readonly<Record<string, string>>;
  readonly evidence?: readonly JsonValue[];
  /** Bears a digest of the first algorithm, as rows from before its migration do. */
  readonly isFirst?: boolean;
}

/** A history of one project in a reference database, written row by row as its server does. */
export interface ReferenceHistory {
  readonly project: string;
  readonly root: string;
  /** Writes a changeset and answers its id; no ref moves. */
  commit(changeset: ReferenceChangeset): string;
  /** Creates a ref, or moves it. */
  ref(name: string, head: string, isProtected?: boolean): void;
  /** Spends an authorization and moves a protected ref by it. */
  advance(name: string, from: string, to: string, strategy?: string): string;
  conflict(left: string, right: string, details: JsonObject, status?: string): string;
  manifest(head: string, selected: readonly string[]): string;
}

/** A UUID of version 7 that is the same in every run. */
export function referenceId(seed: string, count: number): string {
  const random = createHash('sha256').update(`${seed}/${count}`).digest('hex');
  const moment = (referenceEpochMs + count).toString(16).padStart(12, '0');
  return `${moment.slice(0, 8)}-${moment.slice(8)}-7${random.slice(0, 3)}-8${random.slice(3, 6)}-${random.slice(4, 16)}`;
}

/** Starts a project with its synthetic root, its baseline of the events that there are, and the protected main ref. */
export function referenceHistory(store: ReferenceStore, project = 'demo', seed = 'reference'): ReferenceHistory {
  let count = 0;
  const nextId = (): string => {
    count += 1;
    return referenceId(seed, count);
  };
  const now = (): string => goTime(referenceEpochMs + 60_000 + count * 1_000, count);
  const write = (id: string, changeset: ReferenceChangeset): void => {
    const words = {
      schema_version: 'memory_git/v1',
      ...{ project_id: project, ref_name: changeset.ref, author_principal: 'principal_reference' },
      ...{ message: `step ${count}`, idempotency_key: `${seed}-key-${count}` },
      ...changeset.more,
    };
    const ops = changeset.ops.map((op, ordinal) => ({ ordinal, ...op }));
    const evidence = changeset.evidence ?? [];
    const digested = { ...words, parent_ids: changeset.parents, ops, evidence, verification: [] };
    store.insert('memory_changesets', {
      ...{ changeset_id: id, ...words, parent_ids_json: JSON.stringify(changeset.parents), created_at: now() },
      ...{ evidence_json: encodePlain(evidence), verification_json: '[]' },
      integrity_digest: changeset.isFirst ? integrityDigestV1(digested) : integrityDigest(digested),
      request_digest: words.idempotency_key === legacyRootKey ? '' : createHash('sha256').update(id).digest('hex'),
    });
    for (const op of ops)
      store.insert('memory_changeset_ops', {
        ...{ changeset_id: id, ordinal: op.ordinal, op_type: op.op_type },
        ...{ target_event_id: op.target_event_id ?? null, resulting_event_id: op.resulting_event_id ?? null },
        payload_json: encodePlain(op.payload ?? {}),
      });
  };
  const ref: ReferenceHistory['ref'] = (name, head, isProtected = false) => {
    const known = store.db
      .query<[string, string], { found: number }>(
        'SELECT 1 AS found FROM memory_refs WHERE project_id = ? AND ref_name = ?',
      )
      .get(project, name);
    if (known !== undefined) {
      store.db
        .command<[string, string, string, string]>(
          'UPDATE memory_refs SET head_changeset_id = ?, updated_at = ? WHERE project_id = ? AND ref_name = ?',
        )
        .run(head, now(), project, name);
      return;
    }
    store.insert('memory_refs', {
      ...{ project_id: project, ref_name: name, head_changeset_id: head, protected: isProtected ? 1 : 0 },
      ...{ created_at: now(), updated_at: now(), created_by_principal: 'principal_reference' },
    });
  };
  const root = nextId();
  ensureProject(store, project);
  write(root, {
    ...{ ref: 'refs/shared/main', parents: [], ops: [], evidence: [legacyRootEvidence] },
    more: {
      ...{ author_principal: legacyRootAuthor, actor_id: legacyRootAuthor },
      ...{ message: legacyRootMessage, idempotency_key: legacyRootKey },
    },
  });
  ref('refs/shared/main', root, true);
  writeBaseline(store, project, root);
  return {
    project,
    root,
    ref,
    commit: (changeset) => {
      const id = nextId();
      write(id, changeset);
      return id;
    },
    advance: (name, from, to, strategy = 'fast_forward') => {
      const advanceId = nextId();
      const nonce = createHash('sha256').update(advanceId).digest('hex').slice(0, 32);
      const agreed = {
        ...{ project_id: project, ref_name: name, expected_head: from, new_head: to, merge_proposal_id: nextId() },
        ...{ proposal_digest: 'ab'.repeat(32), reviewer_principal: 'principal_reviewer' },
        ...{ merger_principal: 'principal_merger', strategy },
      };
      store.insert('memory_merge_authorizations', { nonce, ...agreed, expires_at: now(), consumed_at: now() });
      store.insert('memory_protected_ref_advances', {
        ...{ advance_id: advanceId, ...agreed, authorization_nonce: nonce, created_at: now() },
      });
      ref(name, to);
      return nonce;
    },
    conflict: (left, right, details, status = 'open') => {
      const said = {
        ...{ project_id: project, base_changeset_id: root, left_changeset_id: left, right_changeset_id: right },
        ...{ conflict_type: 'contradictory_decision', summary: 'Incompatible decisions' },
      };
      const id = conflictId({ ...said, details });
      store.insert('memory_conflicts', {
        ...{ conflict_id: id, ...said, severity: 'blocking', details_json: encodePlain(details), status },
        ...{ proposal_id: nextId(), created_at: now() },
      });
      return id;
    },
    manifest: (head, selected) => {
      const id = nextId();
      store.insert('memory_manifests', {
        ...{ manifest_id: id, direction: 'input', project_id: project, ref_name: 'refs/shared/main' },
        ...{ head_changeset_id: head, selected_memory_ids_json: encodePlain(selected), created_at: now() },
      });
      return id;
    },
  };
}

function ensureProject(store: ReferenceStore, project: string): void {
  const known = store.db
    .query<[string], { found: number }>('SELECT 1 AS found FROM projects WHERE project_id = ?')
    .get(project);
  if (known !== undefined) return;
  const now = goTime(referenceEpochMs);
  store.insert('projects', { project_id: project, name: project, created_at: now, updated_at: now });
}

function writeBaseline(store: ReferenceStore, project: string, root: string): void {
  const events = store.db
    .query<[string], { event_id: string }>(
      'SELECT event_id FROM events WHERE project_id = ? ORDER BY created_at, event_id',
    )
    .all(project)
    .map((row) => row.event_id);
  const made = store.db
    .query<[string], { created_at: string }>('SELECT created_at FROM memory_changesets WHERE changeset_id = ?')
    .get(root);
  store.insert('memory_legacy_baselines', {
    ...{ project_id: project, root_changeset_id: root, event_ids_json: JSON.stringify(events) },
    ...{ captured_through: made?.created_at ?? '', created_at: made?.created_at ?? '' },
  });
}
