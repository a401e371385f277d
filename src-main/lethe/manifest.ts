import type { Digest, ManifestId, ProjectId } from '../../src-preload/contract/ids.ts';
import type { JsonObject } from '../../src-preload/contract/json.ts';
import { attributionBytesMax } from '../../src-preload/contract/limits.ts';
import { type Manifest, type MemoryContext, projectionVersion } from '../../src-preload/contract/memory.ts';
import { assert } from '../base/assert.ts';
import { toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import { sha256Hex } from '../canonical/digest.ts';
import { encodeCanonical, encodePlain } from '../canonical/json.ts';
import { utf8Length } from '../canonical/text.ts';
import type { ReadableDb, WritableDb } from '../sqlite/driver.ts';
import type { ContextInput, PinInput } from './api.ts';
import type { ContextOptions } from './context.ts';
import { readRelationshipsOf } from './context-relationships.ts';
import {
  decodeManifest,
  type ManifestDraft,
  manifestMismatch,
  manifestNotFound,
  pinnedConflicts,
  writeManifest,
} from './manifest-row.ts';
import { openAccepted } from './projection/accepted.ts';
import { findMemoryNumber } from './projection/identity.ts';
import { openSight } from './projection/sight.ts';
import { findNewestTouch } from './projection/state.ts';
import { pinnedFilter } from './rules/memory-filter.ts';
import { findChangesetRow } from './tables/changesets.ts';
import { findManifestRow, listManifestRowsOfReply, type ManifestRow, manifestForms } from './tables/manifests.ts';
import type { VerbContext } from './verb-context.ts';
import { type PinnedWithheld, withheldFields, withheldThen } from './withheld.ts';

/** How a context is read: the verb of `context.ts`. */
export type ReadContext = (db: ReadableDb, input: ContextInput, options?: ContextOptions) => MemoryContext;

/** SHA-256 of the canonical bytes of a reply without its manifest id (`lethe.md` §0.6). */
export function contextDigest(context: MemoryContext): Digest {
  const { manifest_id: _, ...reply } = context;
  const sent: JsonObject = JSON.parse(JSON.stringify(reply));
  return sha256Hex(encodeCanonical(sent)) as Digest;
}

/**
 * Records, in the caller's transaction, exactly what was read: the reply that `input` had, its head, its digest and what
 * conflicts withheld from it (`lethe.md` §2.5, §0.6). The actor's manifest of the same question with the same reply is used
 * again. Answers the reply with its manifest id. Throws INPUT_INVALID for an actor or session id that is too long, and for a
 * list of what a context leaves out, which is none.
 */
export function pinManifest(
  db: WritableDb,
  context: VerbContext,
  input: PinInput,
  reply: MemoryContext,
  withheld: PinnedWithheld,
): MemoryContext {
  if (input.excluded === true)
    throw new Fault('INPUT_INVALID', 'excluded: a list of what a context leaves out is not pinned. Pin the context.', {
      field: 'excluded',
    });
  const draft = draftRow(db, input, reply, withheld);
  const earlier = listManifestRowsOfReply(db, draft.project_id, draft.actor_id, draft.context_digest).find((row) =>
    isSameQuestion(row, draft),
  );
  if (earlier !== undefined) return { ...reply, manifest_id: decodeManifest(db, earlier).manifest_id };
  const id = context.ids.uuidv7();
  writeManifest(db, { ...draft, manifest_id: id, created_at: toTimestamp(context.clock.nowMs()) });
  return { ...reply, manifest_id: id as ManifestId };
}

function draftRow(db: ReadableDb, input: PinInput, reply: MemoryContext, withheld: PinnedWithheld): ManifestDraft {
  const head = findChangesetRow(db, reply.head_changeset_id);
  assert(head !== undefined, 'a context is read at a stored changeset');
  const { kinds = [], tags = [], ...filters } = pinnedFilter(input);
  return {
    form: manifestForms.context,
    direction: 'input',
    project_id: reply.project_id,
    ref_name: reply.ref_name,
    head_seq: head.seq,
    selected_memory_ids: encodePlain(reply.memories.map((memory) => memory.memory_id)),
    inclusion_reasons: encodePlain(reply.inclusion_reasons ?? {}),
    query: (input.query ?? '').toWellFormed(),
    page_limit: input.limit,
    kinds: encodePlain(kinds),
    tags: encodePlain(tags),
    filters: encodePlain(filters),
    cursor: input.cursor ?? '',
    next_cursor: reply.next_cursor ?? '',
    withheld: encodePlain(withheld.map(([memoryId, conflictId]) => [memoryId, conflictId])),
    unresolved_conflicts: encodePlain(reply.unresolved_conflicts ?? []),
    exclusion_reasons: encodePlain(reply.exclusion_reasons ?? {}),
    total_active: reply.total_active,
    context_digest: contextDigest(reply),
    base_seq: null,
    resulting_seq: null,
    proposed_target_ref: '',
    merge_proposal_id: '',
    session_id: boundedAttribution('session_id', input.sessionId),
    actor_id: boundedAttribution('actor_id', input.actorId),
  };
}

/** An actor or session id as it is stored. Throws INPUT_INVALID when it is too long. */
export function boundedAttribution(field: string, text: string | undefined): string {
  const wellFormed = (text ?? '').toWellFormed();
  if (utf8Length(wellFormed) <= attributionBytesMax) return wellFormed;
  throw new Fault('INPUT_INVALID', `${field} is over ${attributionBytesMax} bytes.`, { field });
}

function isSameQuestion(row: ManifestRow, draft: ManifestDraft): boolean {
  const asked = [
    ...(['form', 'direction', 'ref_name', 'head_seq', 'query', 'page_limit', 'kinds', 'tags', 'filters'] as const),
    ...(['cursor', 'withheld', 'session_id'] as const),
  ];
  return asked.every((column) => row[column] === draft[column]);
}

/** The manifest of that id. Throws MANIFEST_NOT_FOUND, INTEGRITY_MISMATCH. */
export function getManifest(db: ReadableDb, manifestId: ManifestId): Manifest {
  const row = findManifestRow(db, manifestId);
  if (row === undefined) throw manifestNotFound(manifestId);
  return decodeManifest(db, row);
}

/**
 * The context that a manifest pinned, as its head still has it, whatever conflicts withhold today. Throws MANIFEST_NOT_FOUND (also for one of another project), STATE_NOT_FOUND for one that pins no context, INTEGRITY_MISMATCH
 * when it is not byte for byte what was pinned.
 */
export function readManifestContext(
  db: ReadableDb,
  projectId: ProjectId,
  manifestId: ManifestId,
  readContext: ReadContext,
): MemoryContext {
  const row = findManifestRow(db, manifestId);
  if (row?.project_id !== projectId) throw manifestNotFound(manifestId);
  const manifest = decodeManifest(db, row);
  const reply = readPinned(db, row, manifest, readContext);
  if (reply === undefined)
    throw new Fault(
      'STATE_NOT_FOUND',
      'manifest_id: this manifest records a proposal or a client, and pins no context.',
      {
        field: 'manifest_id',
      },
    );
  if (contextDigest(reply) !== manifest.context_digest) throw manifestMismatch(manifestId);
  return { ...reply, manifest_id: manifest.manifest_id };
}

/**
 * The reply that a manifest pinned, without its id; undefined for one that pins no context. Put together from what the
 * manifest names, each memory in its state at the head: nothing is searched or ranked, so that no change of index or order
 * ever changes it. One from before, which does not name all of it, has its question asked again.
 */
export function readPinned(
  db: ReadableDb,
  row: ManifestRow,
  manifest: Manifest,
  readContext: ReadContext,
): MemoryContext | undefined {
  if (manifest.limit === undefined) return undefined;
  if (row.form === manifestForms.context) return readNamed(db, row, manifest);
  const { limit, query, kinds, tags, cursor, head_changeset_id: headChangesetId } = manifest;
  const question = { projectId: manifest.project_id, refName: manifest.ref_name, headChangesetId };
  const pinned = { conflictIds: [], withheld: [] };
  return readContext(db, { ...question, limit, query, kinds, tags, cursor }, { pinned });
}

function readNamed(db: ReadableDb, row: ManifestRow, manifest: Manifest): MemoryContext {
  const sight = openSight(db);
  const head = sight.places.get(row.head_seq);
  const accepted = openAccepted(db);
  const { conflictIds, withheld: pairs } = pinnedConflicts(row);
  const withheld = withheldThen(db, manifest.project_id, conflictIds, pairs);
  const touches = manifest.selected_memory_ids.flatMap((memoryId) => {
    const number = findMemoryNumber(db, manifest.project_id, memoryId);
    return (number === undefined ? undefined : findNewestTouch(sight, [head], number)) ?? [];
  });
  const memories = accepted.readAll(touches);
  const numbers = touches.map(({ memory }) => memory);
  const reasons = manifest.inclusion_reasons;
  return {
    project_id: manifest.project_id,
    ref_name: manifest.ref_name,
    head_changeset_id: manifest.head_changeset_id,
    projection_version: projectionVersion,
    total_active: row.total_active,
    memories: [...memories],
    ...readRelationshipsOf(sight, head, accepted, numbers, withheld.memories),
    ...(reasons === undefined
      ? {}
      : { inclusion_reasons: Object.fromEntries(memories.map(({ memory_id: id }) => [id, reasons[id] ?? ''])) }),
    ...withheldFields(accepted, withheld),
    ...(row.next_cursor === '' ? {} : { next_cursor: row.next_cursor }),
  };
}
