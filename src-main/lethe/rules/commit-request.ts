import type { Op } from '../../../src-preload/contract/changeset.ts';
import { changesetIdSchema, type ProjectId } from '../../../src-preload/contract/ids.ts';
import type { JsonObject } from '../../../src-preload/contract/json.ts';
import {
  attestationsMax,
  attributionBytesMax,
  idempotencyKeyBytesMax,
  jsonDepthMax,
  messageBytesMax,
  parentsMax,
  payloadBytesMax,
  refNameBytesMax,
} from '../../../src-preload/contract/limits.ts';
import { Fault } from '../../base/fault.ts';
import { encodePlain } from '../../canonical/json.ts';
import { utf8Length } from '../../canonical/text.ts';
import { isShallowerThan } from './depth.ts';
import { legacyRootKey } from './legacy-root.ts';
import { normalizeOps } from './validate-ops.ts';

/** What a changeset says, as it is digested and stored: nothing optional, texts well-formed, lists in their stored form. */
export interface ChangesetWords {
  readonly projectId: ProjectId;
  readonly refName: string;
  readonly authorPrincipal: string;
  readonly personaId: string;
  readonly actorId: string;
  readonly surface: string;
  readonly model: string;
  readonly environment: string;
  readonly sessionId: string;
  readonly topicId: string;
  readonly contextManifestId: string;
  readonly message: string;
  readonly idempotencyKey: string;
  readonly ops: readonly Op[];
  readonly evidence: readonly JsonObject[];
  readonly verification: readonly JsonObject[];
}

/** A commit as it is digested and stored. */
export interface CommitRequest extends ChangesetWords {
  readonly parentIds: readonly string[];
  /** Empty unless `advanceRef`. */
  readonly expectedHead: string;
  readonly advanceRef: boolean;
}

/** A commit as a caller gives it, as far as it is checked here. */
export type CommitFields = {
  readonly [Field in keyof CommitRequest]?: CommitRequest[Field] | undefined;
} & Pick<
  CommitRequest,
  'projectId' | 'refName' | 'parentIds' | 'authorPrincipal' | 'message' | 'idempotencyKey' | 'ops' | 'advanceRef'
>;

/**
 * Checks everything of a commit that needs neither state nor the meaning of its ops, and brings it into its one stored
 * form (`lethe.md` §1.3 steps 1 to 3, §3). Throws INPUT_INVALID naming the field, KEY_RESERVED (D1), OP_INVALID.
 */
export function normalizeCommit(input: CommitFields): CommitRequest {
  if (input.idempotencyKey === legacyRootKey) {
    throw new Fault(
      'KEY_RESERVED',
      'idempotency_key: this key belongs to the root that the store makes itself. Take another.',
      { field: 'idempotency_key' },
    );
  }
  return {
    projectId: input.projectId,
    refName: required('ref_name', input.refName, refNameBytesMax),
    parentIds: normalizeParents(input.parentIds),
    authorPrincipal: required('author_principal', input.authorPrincipal, attributionBytesMax),
    personaId: bounded('persona_id', input.personaId, attributionBytesMax),
    actorId: bounded('actor_id', input.actorId, attributionBytesMax),
    surface: bounded('surface', input.surface, attributionBytesMax),
    model: bounded('model', input.model, attributionBytesMax),
    environment: bounded('environment', input.environment, attributionBytesMax),
    sessionId: bounded('session_id', input.sessionId, attributionBytesMax),
    topicId: bounded('topic_id', input.topicId, attributionBytesMax),
    contextManifestId: bounded('context_manifest_id', input.contextManifestId, attributionBytesMax),
    message: bounded('message', input.message, messageBytesMax),
    idempotencyKey: required('idempotency_key', input.idempotencyKey, idempotencyKeyBytesMax),
    ops: normalizeOps(input.ops),
    evidence: normalizeAttestations('evidence', input.evidence ?? []),
    verification: normalizeAttestations('verification', input.verification ?? []),
    expectedHead: normalizeExpected(input),
    advanceRef: input.advanceRef,
  };
}

function required(field: string, text: string, bytesMax: number): string {
  if (text === '') throw invalid(field, 'is required');
  return bounded(field, text, bytesMax);
}

function bounded(field: string, text: string | undefined, bytesMax: number): string {
  const wellFormed = (text ?? '').toWellFormed();
  if (utf8Length(wellFormed) > bytesMax) throw invalid(field, `is over ${bytesMax} bytes`);
  return wellFormed;
}

function normalizeParents(parentIds: readonly string[]): readonly string[] {
  if (parentIds.length > parentsMax) throw invalid('parent_ids', `has more than ${parentsMax} entries`);
  if (new Set(parentIds).size < parentIds.length) throw invalid('parent_ids', 'names the same changeset twice');
  for (const [index, id] of parentIds.entries()) {
    if (!changesetIdSchema.safeParse(id).success) throw invalid(`parent_ids[${index}]`, 'is not a changeset id');
  }
  return parentIds;
}

/** `expected_head` belongs to a commit that moves its ref, and to no other: so a stored request can be digested again. */
function normalizeExpected(input: CommitFields): string {
  if (input.advanceRef === (input.expectedHead !== undefined)) return input.expectedHead ?? '';
  throw invalid(
    'expected_head',
    input.advanceRef ? 'is required to move a ref' : 'is only for a commit that moves its ref',
  );
}

function normalizeAttestations(field: string, entries: readonly JsonObject[]): readonly JsonObject[] {
  if (entries.length > attestationsMax) throw invalid(field, `has more than ${attestationsMax} entries`);
  return entries.map((entry, index) => {
    if (!isShallowerThan(entry, jsonDepthMax))
      throw invalid(`${field}[${index}]`, `is nested deeper than ${jsonDepthMax} levels`);
    const text = encodePlain(entry);
    if (utf8Length(text) > payloadBytesMax) throw invalid(`${field}[${index}]`, `is over ${payloadBytesMax} bytes`);
    return JSON.parse(text);
  });
}

function invalid(field: string, reason: string): Fault {
  return new Fault('INPUT_INVALID', `${field} ${reason}.`, { field });
}
