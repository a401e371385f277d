import type { Changeset, Op } from '../../src-preload/contract/changeset.ts';
import { schemaVersion } from '../../src-preload/contract/changeset.ts';
import type { ChangesetId, Digest, ProjectId, Timestamp } from '../../src-preload/contract/ids.ts';
import type { JsonObject } from '../../src-preload/contract/json.ts';
import { assert } from '../base/assert.ts';
import { Fault } from '../base/fault.ts';
import { type DigestedChangeset, integrityDigest, integrityDigestV1 } from '../canonical/digest.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import { type AttestationRow, decodeAttestations, listAttestationRows } from './tables/attestations.ts';
import { type ChangesetRow, findChangesetRow, listParents, type ParentRow } from './tables/changesets.ts';
import { findImportedChangeset } from './tables/imports.ts';
import { decodeOp, listOpRows, type OpRow } from './tables/ops.ts';

/** The lists of one changeset, as they are stored. */
export interface ChangesetParts {
  readonly parents: readonly Pick<ParentRow, 'changeset_id'>[];
  readonly ops: readonly OpRow[];
  readonly attestations: readonly AttestationRow[];
}

/** The parts of one changeset. */
export function readParts(db: ReadableDb, seq: number): ChangesetParts {
  return {
    parents: listParents(db, seq),
    ops: listOpRows(db, seq, seq),
    attestations: listAttestationRows(db, seq, seq),
  };
}

/** The row of a changeset that must exist. Throws CHANGESET_NOT_FOUND, saying which one of the input it was. */
export function getChangesetRow(db: ReadableDb, changesetId: string, field: string): ChangesetRow {
  const row = findChangesetRow(db, changesetId);
  if (row === undefined) throw changesetNotFound(changesetId, field);
  return row;
}

/** The refusal of a changeset that is unknown, or of another project and so unknown in this one. */
export function changesetNotFound(changesetId: string, field: string): Fault {
  return new Fault('CHANGESET_NOT_FOUND', `${field}: there is no such changeset in this project.`, {
    field,
    changeset_id: changesetId,
  });
}

/** A changeset with everything it holds. Throws INTEGRITY_MISMATCH when it is not what its digest says (`lethe.md` D18). */
export function readChangeset(db: ReadableDb, row: ChangesetRow): Changeset {
  return composeChangeset(row, requireDigested(db, row, readParts(db, row.seq)));
}

/** Verifies that a changeset is what its digest says, all of it read from the store. Throws INTEGRITY_MISMATCH. */
export function requireIntegrity(db: ReadableDb, row: ChangesetRow): void {
  requireDigested(db, row, readParts(db, row.seq));
}

/**
 * The wire form of a changeset that was written a moment ago, in this transaction: built from what was stored, byte for
 * byte, instead of reading that back. Its digest was taken over the same content.
 */
export function writtenChangeset(row: ChangesetRow, parts: ChangesetParts): Changeset {
  const digested = digestedChangeset(row, parts);
  assert(digested !== undefined, 'what was just encoded is JSON');
  return composeChangeset(row, digested);
}

function requireDigested(db: ReadableDb, row: ChangesetRow, parts: ChangesetParts): Digested {
  const digested = digestedChangeset(row, parts);
  if (digested === undefined || !hasIntegrity(db, row, digested)) throw integrityMismatch(row.changeset_id);
  return digested;
}

/**
 * Whether a stored changeset is what its digest says. A digest of the first algorithm (`lethe.md` §3.1) is good for a changeset that
 * came with it from a file: it is kept as it was, and the order of its parents stands in its chain digest.
 */
export function hasIntegrity(db: ReadableDb, row: ChangesetRow, digested: DigestedChangeset): boolean {
  if (integrityDigest(digested) === row.integrity_digest) return true;
  return (
    findImportedChangeset(db, row.seq)?.digest_version === 1 && integrityDigestV1(digested) === row.integrity_digest
  );
}

function composeChangeset(row: ChangesetRow, digested: Digested): Changeset {
  const { ops, evidence, verification } = digested;
  return {
    changeset_id: row.changeset_id as ChangesetId,
    schema_version: schemaVersion,
    project_id: row.project_id as ProjectId,
    ref_name: row.ref_name,
    parent_ids: digested.parent_ids,
    author_principal: row.author_principal,
    ...(row.persona_id === '' ? {} : { persona_id: row.persona_id }),
    ...(row.actor_id === '' ? {} : { actor_id: row.actor_id }),
    ...(row.surface === '' ? {} : { surface: row.surface }),
    ...(row.model === '' ? {} : { model: row.model }),
    ...(row.environment === '' ? {} : { environment: row.environment }),
    ...(row.session_id === '' ? {} : { session_id: row.session_id }),
    ...(row.topic_id === '' ? {} : { topic_id: row.topic_id }),
    ...(row.context_manifest_id === null ? {} : { context_manifest_id: row.context_manifest_id }),
    message: row.message,
    created_at: row.created_at as Timestamp,
    idempotency_key: row.idempotency_key,
    ...(ops.length === 0 ? {} : { ops }),
    ...(evidence.length === 0 ? {} : { evidence }),
    ...(verification.length === 0 ? {} : { verification }),
    integrity_digest: row.integrity_digest as Digest,
    chain_digest: row.chain_digest as Digest,
  };
}

/** What the digests cover, with every list present. */
interface Digested extends DigestedChangeset {
  readonly parent_ids: ChangesetId[];
  readonly ops: Op[];
  readonly evidence: JsonObject[];
  readonly verification: JsonObject[];
}

/** Stored rows as the digests see them; undefined when a stored JSON text is none. */
export function digestedChangeset(row: ChangesetRow, parts: ChangesetParts): Digested | undefined {
  try {
    return {
      schema_version: row.schema_version,
      project_id: row.project_id,
      ref_name: row.ref_name,
      parent_ids: parts.parents.map((parent) => parent.changeset_id as ChangesetId),
      author_principal: row.author_principal,
      persona_id: row.persona_id,
      actor_id: row.actor_id,
      surface: row.surface,
      model: row.model,
      environment: row.environment,
      session_id: row.session_id,
      topic_id: row.topic_id,
      context_manifest_id: row.context_manifest_id ?? '',
      message: row.message,
      idempotency_key: row.idempotency_key,
      ops: parts.ops.map(decodeOp),
      evidence: [...decodeAttestations(parts.attestations, 'evidence')],
      verification: [...decodeAttestations(parts.attestations, 'verification')],
    };
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined;
    throw thrown;
  }
}

function integrityMismatch(changesetId: string): Fault {
  return new Fault(
    'INTEGRITY_MISMATCH',
    'A stored changeset is not what its digest says: it was altered or damaged. Run lethe verify-chain and restore a verified backup.',
    {
      changeset_id: changesetId,
    },
  );
}
