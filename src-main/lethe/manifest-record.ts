import {
  type ChangesetId,
  manifestIdSchema,
  memoryIdSchema,
  type ProjectId,
  type Timestamp,
  timestampSchema,
} from '../../src-preload/contract/ids.ts';
import {
  attributionBytesMax,
  memoryIdBytesMax,
  opsMax,
  refNameBytesMax,
  summaryBytesMax,
} from '../../src-preload/contract/limits.ts';
import type { Manifest } from '../../src-preload/contract/memory.ts';
import { toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import { encodePlain } from '../canonical/json.ts';
import { utf8Length } from '../canonical/text.ts';
import type { ReadableDb, WritableDb } from '../sqlite/driver.ts';
import { changesetNotFound, getChangesetRow } from './changeset-rows.ts';
import { boundedAttribution } from './manifest.ts';
import { decodeManifest, type ManifestDraft, writeManifest } from './manifest-row.ts';
import { requireProject } from './projects.ts';
import type { ChangesetRow } from './tables/changesets.ts';
import { findManifestRow, listManifestRowsOfProposal, type ManifestRow, manifestForms } from './tables/manifests.ts';
import type { VerbContext } from './verb-context.ts';

/** What came of some work, or what a client says that it read; not a context that the store answered. */
export interface ManifestInput {
  readonly projectId: ProjectId;
  readonly direction: 'input' | 'output';
  /** The ref that the head was committed to, when it is left out. */
  readonly refName?: string | undefined;
  readonly headChangesetId: ChangesetId;
  readonly baseChangesetId?: ChangesetId | undefined;
  readonly resultingChangesetId?: ChangesetId | undefined;
  readonly proposedTargetRef?: string | undefined;
  readonly mergeProposalId?: string | undefined;
  readonly selectedMemoryIds?: readonly string[] | undefined;
  readonly inclusionReasons?: Readonly<Record<string, string>> | undefined;
  readonly exclusionReasons?: Readonly<Record<string, string>> | undefined;
  readonly unresolvedConflicts?: readonly string[] | undefined;
  readonly sessionId?: string | undefined;
  readonly actorId?: string | undefined;
  /** A new id and this moment, when they are left out. */
  readonly manifestId?: string | undefined;
  readonly createdAt?: string | undefined;
}

/** What came of the work that a proposal brings: where it starts, what it made, where it goes, and what stood against it. */
export type OutputManifestInput = Omit<ManifestInput, 'direction' | 'manifestId' | 'createdAt'> & {
  readonly mergeProposalId: string;
};

/**
 * Records a manifest as it is given, in the caller's transaction (`L221`). Throws PROJECT_NOT_FOUND, CHANGESET_NOT_FOUND for a
 * head, base or result that the project does not have, INPUT_INVALID naming the field that is not well-formed, too long, or
 * an id that is taken.
 */
export function recordManifest(db: WritableDb, context: VerbContext, input: ManifestInput): Manifest {
  const draft = draftRecord(db, input);
  const id = input.manifestId ?? context.ids.uuidv7();
  if (!manifestIdSchema.safeParse(id).success) throw invalid('manifest_id', 'is no UUID in lower case');
  if (findManifestRow(db, id) !== undefined) throw invalid('manifest_id', 'is taken: a manifest never changes');
  const row = { ...draft, manifest_id: id, created_at: createdAt(input.createdAt, context) };
  return decodeManifest(db, writeManifest(db, row));
}

/**
 * Records what a proposal brings (`L220`); the same again answers the manifest that there is. Throws what `recordManifest`
 * throws.
 */
export function recordOutput(db: WritableDb, context: VerbContext, input: OutputManifestInput): Manifest {
  if (input.mergeProposalId === '') throw invalid('merge_proposal_id', 'is empty');
  const draft = draftRecord(db, { ...input, direction: 'output' });
  const earlier = listManifestRowsOfProposal(db, input.projectId, input.mergeProposalId).find((row) =>
    saysSame(row, draft),
  );
  if (earlier !== undefined) return decodeManifest(db, earlier);
  const ids = { manifest_id: context.ids.uuidv7(), created_at: toTimestamp(context.clock.nowMs()) };
  return decodeManifest(db, writeManifest(db, { ...draft, ...ids }));
}

function draftRecord(db: ReadableDb, input: ManifestInput): ManifestDraft {
  requireProject(db, input.projectId);
  const changeset = (id: ChangesetId, field: string): ChangesetRow => getOwnChangeset(db, input.projectId, id, field);
  const head = changeset(input.headChangesetId, 'head_changeset_id');
  const { baseChangesetId: base, resultingChangesetId: result, refName = head.ref_name } = input;
  if (refName === '') throw invalid('ref_name', 'is empty');
  return {
    ...nothingPinned,
    direction: input.direction,
    project_id: input.projectId,
    ref_name: bounded('ref_name', refName, refNameBytesMax),
    head_seq: head.seq,
    base_seq: base === undefined ? null : changeset(base, 'base_changeset_id').seq,
    resulting_seq: result === undefined ? null : changeset(result, 'resulting_changeset_id').seq,
    proposed_target_ref: bounded('proposed_target_ref', input.proposedTargetRef, refNameBytesMax),
    merge_proposal_id: bounded('merge_proposal_id', input.mergeProposalId, attributionBytesMax),
    selected_memory_ids: encodePlain(memoryIds(input.selectedMemoryIds ?? [])),
    inclusion_reasons: encodePlain(reasons('inclusion_reasons', input.inclusionReasons ?? {})),
    exclusion_reasons: encodePlain(reasons('exclusion_reasons', input.exclusionReasons ?? {})),
    unresolved_conflicts: encodePlain(conflictIds(input.unresolvedConflicts ?? [])),
    session_id: boundedAttribution('session_id', input.sessionId),
    actor_id: boundedAttribution('actor_id', input.actorId),
  };
}

/** What a record has for the context that it does not pin. */
const nothingPinned = {
  form: manifestForms.record,
  query: '',
  page_limit: 1,
  kinds: '[]',
  tags: '[]',
  filters: '{}',
  cursor: '',
  next_cursor: '',
  withheld: '[]',
  total_active: 0,
  context_digest: '0'.repeat(64),
} as const;

function getOwnChangeset(db: ReadableDb, projectId: ProjectId, id: ChangesetId, field: string): ChangesetRow {
  const row = getChangesetRow(db, id, field);
  if (row.project_id !== projectId) throw changesetNotFound(id, field);
  return row;
}

function saysSame(row: ManifestRow, draft: ManifestDraft): boolean {
  const { manifest_id: _id, created_at: _at, row_digest: _digest, ...said } = row;
  return encodePlain({ ...said }) === encodePlain({ ...draft });
}

function createdAt(text: string | undefined, context: VerbContext): Timestamp {
  if (text === undefined) return toTimestamp(context.clock.nowMs());
  const parsed = timestampSchema.safeParse(text);
  if (parsed.success) return parsed.data;
  throw invalid('created_at', 'is no RFC 3339 time in UTC');
}

function memoryIds(ids: readonly string[]): readonly string[] {
  const field = 'selected_memory_ids';
  if (ids.length > opsMax) throw invalid(field, `has over ${opsMax} entries`);
  return ids.map((id) => {
    const text = bounded(field, id, memoryIdBytesMax);
    if (!memoryIdSchema.safeParse(text).success) throw invalid(field, 'has an id that is empty');
    return text;
  });
}

function conflictIds(ids: readonly string[]): readonly string[] {
  const field = 'unresolved_conflicts';
  if (ids.length > opsMax) throw invalid(field, `has over ${opsMax} entries`);
  if (ids.some((id) => !/^[0-9a-f]{64}$/.test(id))) throw invalid(field, 'has an id that is not 64 hex characters');
  return ids;
}

function reasons(field: string, given: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(given);
  if (entries.length > opsMax) throw invalid(field, `has over ${opsMax} entries`);
  return Object.fromEntries(
    entries.map(([id, reason]) => [bounded(field, id, memoryIdBytesMax), bounded(field, reason, summaryBytesMax)]),
  );
}

function bounded(field: string, text: string | undefined, bytesMax: number): string {
  const wellFormed = (text ?? '').toWellFormed();
  if (utf8Length(wellFormed) > bytesMax) throw invalid(field, `is over ${bytesMax} bytes`);
  return wellFormed;
}

function invalid(field: string, problem: string): Fault {
  return new Fault('INPUT_INVALID', `${field} ${problem}.`, { field });
}
