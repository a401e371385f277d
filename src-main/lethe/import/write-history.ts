import { schemaVersion } from '../../../src-preload/contract/changeset.ts';
import { assert } from '../../base/assert.ts';
import { fromTimestamp } from '../../base/clock.ts';
import { chainDigest } from '../../canonical/digest.ts';
import type { WritableDb } from '../../sqlite/driver.ts';
import { ConstraintBroken } from '../../sqlite/store-fault.ts';
import { type BaselineEvent, countBaselineSeqs, extendBaseline } from '../projection/baseline.ts';
import { extendProjection } from '../projection/extend.ts';
import { rowDigest } from '../row-digest.ts';
import type { ForeignChangeset } from '../rules/foreign-changeset.ts';
import { gitTables } from '../rules/foreign-git-tables.ts';
import { nameForeignRow } from '../rules/foreign-row.ts';
import { insertAttestations } from '../tables/attestations.ts';
import { type ChangesetRow, findChangesetRow, insertChangesetRow, insertParents } from '../tables/changesets.ts';
import { findNewestSeq } from '../tables/events.ts';
import { type ImportedChangesetRow, insertImportedChangeset } from '../tables/imports.ts';
import { insertOps } from '../tables/ops.ts';
import { importRefused } from './refusal.ts';

/** How a changeset of a file is written. */
export interface HistoryStamp {
  readonly importId: string;
  /** Its project was here before: its key is none of this store's, and a root of the file is a changeset like any other. */
  readonly isBeside: boolean;
  /** The events that a root froze. */
  readonly baseline: readonly BaselineEvent[];
}

/** A changeset as its children need it. */
export type WrittenParent = Pick<ChangesetRow, 'seq' | 'changeset_id' | 'chain_digest'>;

/**
 * Writes a changeset of a file with all that belongs to it, under its own id, time and digest, with its part of the derived index;
 * a merge that left memories undecided is taken as it was made (`L144`). Throws IMPORT_REFUSED for what the schema cannot hold.
 */
export function writeForeignChangeset(
  db: WritableDb,
  changeset: ForeignChangeset,
  parents: readonly WrittenParent[],
  stamp: HistoryStamp,
): WrittenParent {
  try {
    return writeWhole(db, changeset, parents, stamp);
  } catch (thrown) {
    if (!(thrown instanceof ConstraintBroken)) throw thrown;
    const where = nameForeignRow(gitTables.memory_changesets, { changeset_id: changeset.changesetId });
    throw importRefused(`${where}: its author used its key for another changeset here`);
  }
}

/** A changeset that was written before, or is here already, by its id. */
export function getWrittenParent(db: WritableDb, changesetId: string): WrittenParent {
  const row = findChangesetRow(db, changesetId);
  assert(row !== undefined, 'parents are written before their children');
  return row;
}

function writeWhole(
  db: WritableDb,
  changeset: ForeignChangeset,
  parents: readonly WrittenParent[],
  stamp: HistoryStamp,
): WrittenParent {
  const { changesetId, words } = changeset;
  const isRoot = changeset.isRoot && !stamp.isBeside;
  const row = rowOf(changeset, parents, stamp, isRoot);
  const below = countBaselineSeqs(stamp.baseline.length);
  const seq = insertChangesetRow(db, row, below === 0 ? null : findNewestSeq(db) + below + 1);
  const parentSeqs = parents.map((parent) => parent.seq);
  insertParents(db, seq, parentSeqs);
  insertOps(db, seq, words.ops);
  insertAttestations(db, seq, 'evidence', words.evidence);
  insertAttestations(db, seq, 'verification', words.verification);
  insertImportedChangeset(db, markOf(changeset, seq, stamp));
  const { projectId, ops } = words;
  if (changeset.isRoot) extendBaseline(db, { seq, projectId }, stamp.baseline);
  else extendProjection(db, { seq, projectId, changesetId, parents: parentSeqs, ops }, { whenUndecided: 'override' });
  return { seq, changeset_id: changesetId, chain_digest: row.chain_digest };
}

function rowOf(
  changeset: ForeignChangeset,
  parents: readonly WrittenParent[],
  stamp: HistoryStamp,
  isRoot: boolean,
): Omit<ChangesetRow, 'seq'> {
  const { changesetId, words, createdAt, integrityDigest } = changeset;
  return {
    changeset_id: changesetId,
    schema_version: schemaVersion,
    project_id: words.projectId,
    ref_name: words.refName,
    author_principal: words.authorPrincipal,
    persona_id: words.personaId,
    actor_id: words.actorId,
    surface: words.surface,
    model: words.model,
    environment: words.environment,
    session_id: words.sessionId,
    topic_id: words.topicId,
    context_manifest_id: null,
    message: words.message,
    created_at: createdAt,
    created_ms: fromTimestamp(createdAt),
    idempotency_key: stamp.isBeside ? `imported:${changesetId}` : words.idempotencyKey,
    is_root: isRoot ? 1 : 0,
    op_count: words.ops.length,
    expected_seq: null,
    integrity_digest: integrityDigest,
    request_digest: changeset.requestDigest,
    chain_digest: chainDigest({
      changeset_id: changesetId,
      created_at: createdAt,
      integrity_digest: integrityDigest,
      parents: parents.map((parent) => parent.chain_digest),
    }),
  };
}

function markOf(changeset: ForeignChangeset, seq: number, stamp: HistoryStamp): ImportedChangesetRow {
  const { words, digestVersion } = changeset;
  const mark = {
    changeset: seq,
    import_id: stamp.importId,
    digest_version: digestVersion,
    named_manifest: words.contextManifestId === '' ? null : words.contextManifestId,
    named_key: stamp.isBeside ? words.idempotencyKey : null,
  };
  return { ...mark, row_digest: markDigest(mark, changeset) };
}

/** The digest of a mark: over it, and over what of the changeset no other digest covers. */
export function markDigest(
  mark: Omit<ImportedChangesetRow, 'row_digest'>,
  changeset: { readonly changesetId: string; readonly requestDigest: string },
): string {
  return rowDigest('imported-changeset', {
    ...mark,
    changeset_id: changeset.changesetId,
    request_digest: changeset.requestDigest,
  });
}
