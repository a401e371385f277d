import { schemaVersion } from '../../src-preload/contract/changeset.ts';
import { toTimestamp } from '../base/clock.ts';
import { chainDigest, type DigestedChangeset, integrityDigest } from '../canonical/digest.ts';
import type { WritableDb } from '../sqlite/driver.ts';
import type { ChangesetParts } from './changeset-rows.ts';
import { type BaselineEvent, countBaselineSeqs, extendBaseline } from './projection/baseline.ts';
import { extendProjection } from './projection/extend.ts';
import type { ChangesetWords } from './rules/commit-request.ts';
import { insertAttestations } from './tables/attestations.ts';
import { type ChangesetRow, insertChangesetRow, insertParents } from './tables/changesets.ts';
import { findNewestSeq } from './tables/events.ts';
import { insertOps } from './tables/ops.ts';

/** A changeset that was found good, before it has an id, a number and digests. Texts are well-formed. */
export interface ChangesetDraft extends ChangesetWords {
  readonly parents: readonly ChangesetRow[];
}

/** What the store adds to a draft. */
export interface ChangesetStamp {
  readonly changesetId: string;
  readonly createdMs: number;
  readonly isRoot: boolean;
  /** The events that a root freezes, by time and id; of every other changeset none. */
  readonly baseline?: readonly BaselineEvent[];
  /** The head that the commit moves its ref from; null when it moves none. */
  readonly expectedSeq: number | null;
  readonly requestDigest: string;
}

/** A draft as the digests see it (`lethe.md` §3.1). */
export function digestedDraft(
  draft: Omit<ChangesetDraft, 'parents'> & { readonly parents: readonly { readonly changeset_id: string }[] },
): DigestedChangeset {
  return {
    schema_version: schemaVersion,
    project_id: draft.projectId,
    ref_name: draft.refName,
    parent_ids: draft.parents.map((parent) => parent.changeset_id),
    author_principal: draft.authorPrincipal,
    persona_id: draft.personaId,
    actor_id: draft.actorId,
    surface: draft.surface,
    model: draft.model,
    environment: draft.environment,
    session_id: draft.sessionId,
    topic_id: draft.topicId,
    context_manifest_id: draft.contextManifestId,
    message: draft.message,
    idempotency_key: draft.idempotencyKey,
    ops: draft.ops,
    evidence: draft.evidence,
    verification: draft.verification,
  };
}

/** A changeset as it was just written: what reading it back would give. */
export interface InsertedChangeset {
  readonly row: ChangesetRow;
  readonly parts: ChangesetParts;
}

/** Writes a changeset whole: its row with all digests, parents, ops, payloads, attestations and its part of the derived index. */
export function insertChangeset(db: WritableDb, draft: ChangesetDraft, stamp: ChangesetStamp): InsertedChangeset {
  const digested = digestedDraft(draft);
  const createdAt = toTimestamp(stamp.createdMs);
  const integrity = integrityDigest(digested);
  const row: Omit<ChangesetRow, 'seq'> = {
    changeset_id: stamp.changesetId,
    schema_version: schemaVersion,
    project_id: draft.projectId,
    ref_name: draft.refName,
    author_principal: draft.authorPrincipal,
    persona_id: draft.personaId,
    actor_id: draft.actorId,
    surface: draft.surface,
    model: draft.model,
    environment: draft.environment,
    session_id: draft.sessionId,
    topic_id: draft.topicId,
    context_manifest_id: draft.contextManifestId === '' ? null : draft.contextManifestId,
    message: draft.message,
    created_at: createdAt,
    created_ms: stamp.createdMs,
    idempotency_key: draft.idempotencyKey,
    is_root: stamp.isRoot ? 1 : 0,
    op_count: draft.ops.length,
    expected_seq: stamp.expectedSeq,
    integrity_digest: integrity,
    request_digest: stamp.requestDigest,
    chain_digest: chainDigest({
      changeset_id: stamp.changesetId,
      created_at: createdAt,
      integrity_digest: integrity,
      parents: draft.parents.map((parent) => parent.chain_digest),
    }),
  };
  const before = countBaselineSeqs(stamp.baseline?.length ?? 0);
  const seq = insertChangesetRow(db, row, before === 0 ? null : findNewestSeq(db) + before + 1);
  const parentSeqs = draft.parents.map((parent) => parent.seq);
  insertParents(db, seq, parentSeqs);
  const parts: ChangesetParts = {
    parents: draft.parents,
    ops: insertOps(db, seq, draft.ops),
    attestations: [
      ...insertAttestations(db, seq, 'evidence', draft.evidence),
      ...insertAttestations(db, seq, 'verification', draft.verification),
    ],
  };
  const { projectId, ops } = draft;
  if (stamp.isRoot) extendBaseline(db, { seq, projectId }, stamp.baseline ?? []);
  else extendProjection(db, { seq, projectId, changesetId: stamp.changesetId, parents: parentSeqs, ops });
  return { row: { ...row, seq }, parts };
}
