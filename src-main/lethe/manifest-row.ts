import type {
  ChangesetId,
  Digest,
  ManifestId,
  MemoryId,
  ProjectId,
  RefName,
  Timestamp,
} from '../../src-preload/contract/ids.ts';
import type { Manifest } from '../../src-preload/contract/memory.ts';
import { Fault } from '../base/fault.ts';
import type { ReadableDb, WritableDb } from '../sqlite/driver.ts';
import { rowDigest } from './row-digest.ts';
import { findChangesetRowBySeq } from './tables/changesets.ts';
import { digestedColumns, insertManifestRow, isAsLeft, type ManifestRow, manifestForms } from './tables/manifests.ts';
import type { PinnedWithheld } from './withheld.ts';

/** A manifest before it has an id, a time and a digest. */
export type ManifestDraft = Omit<ManifestRow, 'manifest_id' | 'created_at' | 'row_digest'>;

/** Writes a manifest with its digest. */
export function writeManifest(db: WritableDb, row: Omit<ManifestRow, 'row_digest'>): ManifestRow {
  const whole = { ...row, row_digest: '' };
  const written = { ...row, row_digest: rowDigest('manifest', digestedColumns(whole)) };
  insertManifestRow(db, written);
  return written;
}

/** What a manifest pinned of conflicts: those that it met, and the memories that they withheld. */
export function pinnedConflicts(row: ManifestRow): {
  readonly conflictIds: readonly string[];
  readonly withheld: PinnedWithheld;
} {
  return { conflictIds: JSON.parse(row.unresolved_conflicts), withheld: JSON.parse(row.withheld) };
}

/** A stored manifest in its wire form, its own digest verified. Throws INTEGRITY_MISMATCH. */
export function decodeManifest(db: ReadableDb, row: ManifestRow): Manifest {
  if (rowDigest('manifest', digestedColumns(row)) !== row.row_digest || !isAsLeft(row))
    throw manifestMismatch(row.manifest_id);
  const changeset = (seq: number): ChangesetId => getChangesetId(db, row, seq);
  const unresolved: string[] = JSON.parse(row.unresolved_conflicts);
  const selected: MemoryId[] = JSON.parse(row.selected_memory_ids);
  return {
    manifest_id: row.manifest_id as ManifestId,
    direction: row.direction,
    project_id: row.project_id as ProjectId,
    ref_name: row.ref_name as RefName,
    head_changeset_id: changeset(row.head_seq),
    ...(row.base_seq === null ? {} : { base_changeset_id: changeset(row.base_seq) }),
    ...(row.resulting_seq === null ? {} : { resulting_changeset_id: changeset(row.resulting_seq) }),
    ...(row.proposed_target_ref === '' ? {} : { proposed_target_ref: row.proposed_target_ref }),
    ...(row.merge_proposal_id === '' ? {} : { merge_proposal_id: row.merge_proposal_id }),
    selected_memory_ids: selected,
    ...unlessEmpty('inclusion_reasons', JSON.parse(row.inclusion_reasons)),
    ...unlessEmpty('exclusion_reasons', JSON.parse(row.exclusion_reasons)),
    ...(unresolved.length === 0 ? {} : { unresolved_conflicts: unresolved }),
    ...(row.form === manifestForms.record ? {} : contextFields(row)),
    ...(row.session_id === '' ? {} : { session_id: row.session_id }),
    ...(row.actor_id === '' ? {} : { actor_id: row.actor_id }),
    created_at: row.created_at as Timestamp,
  };
}

/** What describes the context that a manifest pins. */
function contextFields(row: ManifestRow): Partial<Manifest> {
  const kinds: string[] = JSON.parse(row.kinds);
  const tags: string[] = JSON.parse(row.tags);
  const filters: Partial<Manifest> = JSON.parse(row.filters);
  const withheld: PinnedWithheld = JSON.parse(row.withheld);
  return {
    ...(row.query === '' ? {} : { query: row.query }),
    limit: row.page_limit,
    ...(kinds.length === 0 ? {} : { kinds }),
    ...(tags.length === 0 ? {} : { tags }),
    ...filters,
    ...(row.cursor === '' ? {} : { cursor: row.cursor }),
    ...(withheld.length === 0 ? {} : { withheld_ids: withheld.map(([memoryId]) => memoryId as MemoryId) }),
    total_active: row.total_active,
    context_digest: row.context_digest as Digest,
  };
}

function unlessEmpty(
  name: 'inclusion_reasons' | 'exclusion_reasons',
  reasons: Record<string, string>,
): Pick<Manifest, 'inclusion_reasons' | 'exclusion_reasons'> {
  return Object.keys(reasons).length === 0 ? {} : { [name]: reasons };
}

function getChangesetId(db: ReadableDb, row: ManifestRow, seq: number): ChangesetId {
  const changeset = findChangesetRowBySeq(db, seq);
  if (changeset?.project_id !== row.project_id) throw manifestMismatch(row.manifest_id);
  return changeset.changeset_id as ChangesetId;
}

/** The refusal of an id that no manifest of the project has. */
export function manifestNotFound(manifestId: string): Fault {
  return new Fault('MANIFEST_NOT_FOUND', 'manifest_id: there is no such manifest in this project.', {
    manifest_id: manifestId,
  });
}

/** The fault of a manifest that is not what its digests say. */
export function manifestMismatch(manifestId: string): Fault {
  return new Fault(
    'INTEGRITY_MISMATCH',
    'A pinned context is not what its digest says: something stored was altered or damaged. Run lethe verify-chain.',
    {
      manifest_id: manifestId,
    },
  );
}
