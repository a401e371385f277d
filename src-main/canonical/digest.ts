// Every digest of the protocol, each over bytes that are written here and nowhere else. All are SHA-256 in lower-case
// hex. Inputs are structural: a row, a parsed request or a contract object may be passed as it is.

import { hash } from 'node:crypto';
import type { JsonObject, JsonValue } from '../../src-preload/contract/json.ts';
import { type Encodable, encodeCanonical, encodePlain, ordered } from './json.ts';
import { compareUtf8 } from './text.ts';

/** One op as the digests see it (lethe.md §2.2). Empty ids and an empty payload count as absent. */
export type DigestedOp = {
  readonly ordinal: number;
  readonly op_type: string;
  readonly target_event_id?: string | undefined;
  readonly resulting_event_id?: string | undefined;
  readonly payload?: JsonObject | undefined;
};

/** A changeset as its integrity digest sees it (lethe.md §3.1). Absent texts count as empty, absent lists as empty. */
export type DigestedChangeset = {
  readonly schema_version: string;
  readonly project_id: string;
  readonly ref_name: string;
  readonly parent_ids: readonly string[];
  readonly author_principal: string;
  readonly persona_id?: string | undefined;
  readonly actor_id?: string | undefined;
  readonly surface?: string | undefined;
  readonly model?: string | undefined;
  readonly environment?: string | undefined;
  readonly session_id?: string | undefined;
  readonly topic_id?: string | undefined;
  readonly context_manifest_id?: string | undefined;
  readonly message: string;
  readonly idempotency_key: string;
  readonly ops?: readonly DigestedOp[] | undefined;
  /** `null` only for a row whose stored column is a JSON null. */
  readonly evidence?: readonly JsonValue[] | null | undefined;
  readonly verification?: readonly JsonValue[] | null | undefined;
};

/** A commit request as its digest sees it (lethe.md §3.2), after normalisation. */
export type DigestedRequest = DigestedChangeset & {
  readonly expected_head?: string | undefined;
  readonly advance_ref?: boolean | undefined;
  readonly create_ref_if_missing?: boolean | undefined;
  readonly protected?: boolean | undefined;
};

/** SHA-256 of the text's UTF-8 bytes, or of the bytes, in lower-case hex. */
export function sha256Hex(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}

/** The bytes under `integrityDigest`, as text (lethe.md §3.1): alphabetical keys, no parents written as `null`. */
export function integrityPreimage(changeset: DigestedChangeset): string {
  const { ops, evidence, verification } = body(changeset);
  return encodePlain(
    // In the order to which a map of these keys is sorted.
    ordered({
      actor_id: changeset.actor_id ?? '',
      author_principal: changeset.author_principal,
      context_manifest_id: changeset.context_manifest_id ?? '',
      environment: changeset.environment ?? '',
      evidence,
      idempotency_key: changeset.idempotency_key,
      message: changeset.message,
      model: changeset.model ?? '',
      ops,
      parent_ids: changeset.parent_ids.length === 0 ? null : changeset.parent_ids,
      persona_id: changeset.persona_id ?? '',
      project_id: changeset.project_id,
      ref_name: changeset.ref_name,
      schema_version: changeset.schema_version,
      session_id: changeset.session_id ?? '',
      surface: changeset.surface ?? '',
      topic_id: changeset.topic_id ?? '',
      verification,
    }),
  );
}

/** The integrity digest of a changeset, algorithm v2 (lethe.md §3.1). Covers neither its id nor its time. */
export function integrityDigest(changeset: DigestedChangeset): string {
  return sha256Hex(integrityPreimage(changeset));
}

/** Algorithm v1, for rows from before the upgrade (lethe.md §3.1): parents sorted before hashing. */
export function integrityDigestV1(changeset: DigestedChangeset): string {
  return integrityDigest({ ...changeset, parent_ids: changeset.parent_ids.toSorted(compareUtf8) });
}

/** The bytes under `requestDigest`, as text (lethe.md §3.2): declared order, no parents written as `[]`. */
export function requestPreimage(request: DigestedRequest): string {
  return encodePlain(
    ordered({
      schema_version: request.schema_version,
      project_id: request.project_id,
      ref_name: request.ref_name,
      parent_ids: request.parent_ids,
      author_principal: request.author_principal,
      ...attribution(request),
      message: request.message,
      idempotency_key: request.idempotency_key,
      ...body(request),
      expected_head: request.expected_head ?? '',
      advance_ref: request.advance_ref ?? false,
      create_ref_if_missing: request.create_ref_if_missing ?? false,
      protected: request.protected ?? false,
    }),
  );
}

/** The digest by which a replay of an idempotent commit is told from another request (lethe.md §3.2). */
export function requestDigest(request: DigestedRequest): string {
  return sha256Hex(requestPreimage(request));
}

/** In the declared order of §3.2. */
function attribution(changeset: DigestedChangeset): { readonly [name: string]: Encodable } {
  return {
    persona_id: changeset.persona_id ?? '',
    actor_id: changeset.actor_id ?? '',
    surface: changeset.surface ?? '',
    model: changeset.model ?? '',
    environment: changeset.environment ?? '',
    session_id: changeset.session_id ?? '',
    topic_id: changeset.topic_id ?? '',
    context_manifest_id: changeset.context_manifest_id ?? '',
  };
}

function body(changeset: DigestedChangeset): {
  readonly ops: Encodable;
  readonly evidence: Encodable;
  readonly verification: Encodable;
} {
  return {
    ops: (changeset.ops ?? []).map(encodableOp),
    evidence: changeset.evidence === undefined ? [] : changeset.evidence,
    verification: changeset.verification === undefined ? [] : changeset.verification,
  };
}

function encodableOp(op: DigestedOp): Encodable {
  return ordered({
    ordinal: op.ordinal,
    op_type: op.op_type,
    ...(op.target_event_id ? { target_event_id: op.target_event_id } : {}),
    ...(op.resulting_event_id ? { resulting_event_id: op.resulting_event_id } : {}),
    ...(op.payload && Object.keys(op.payload).length > 0 ? { payload: op.payload } : {}),
  });
}

/** A changeset's place in its chain (lethe.md §0.2). `created_at` is the wire text; `parents` are chain digests. */
export type ChainLink = {
  readonly changeset_id: string;
  readonly created_at: string;
  readonly integrity_digest: string;
  readonly parents: readonly string[];
};

/** The digest that binds a changeset's id, time, content and whole history (lethe.md §0.2). Parents in parent order. */
export function chainDigest(link: ChainLink): string {
  // In the order to which a map of these keys is sorted.
  const columns = ordered({
    changeset_id: link.changeset_id,
    created_at: link.created_at,
    integrity_digest: link.integrity_digest,
    parents: link.parents,
  });
  return domainDigest('lethe/chain/v1', columns);
}

/** SHA-256 of an ASCII domain, one LF and the canonical encoding of the value: the form of all our own digests. */
export function domainDigest(domain: string, value: Encodable): string {
  return sha256Hex(`${domain}\n${encodeCanonical(value)}`);
}
