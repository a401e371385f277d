import type {
  ChangesetId,
  Digest,
  ManifestId,
  MemoryId,
  ProjectId,
  RefName,
  Timestamp,
} from '../../src-preload/contract/ids.ts';
import type { JsonObject } from '../../src-preload/contract/json.ts';
import { attributionBytesMax } from '../../src-preload/contract/limits.ts';
import type { Manifest, MemoryContext } from '../../src-preload/contract/memory.ts';
import { assert } from '../base/assert.ts';
import { toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import { sha256Hex } from '../canonical/digest.ts';
import { encodeCanonical, encodePlain } from '../canonical/json.ts';
import { utf8Length } from '../canonical/text.ts';
import type { ReadableDb, WritableDb } from '../sqlite/driver.ts';
import type { ContextInput, PinInput } from './api.ts';
import { rowDigest } from './row-digest.ts';
import { findChangesetRow, findChangesetRowBySeq } from './tables/changesets.ts';
import { findManifestRow, insertManifestRow, listManifestRowsOfReply, type ManifestRow } from './tables/manifests.ts';
import type { VerbContext } from './verb-context.ts';

/** How a context is read: the verb of `context.ts`. */
export type ReadContext = (db: ReadableDb, input: ContextInput) => MemoryContext;

/** SHA-256 of the canonical bytes of a reply without its manifest id (`lethe.md` §0.6). */
export function contextDigest(context: MemoryContext): Digest {
  const { manifest_id: _, ...reply } = context;
  const sent: JsonObject = JSON.parse(JSON.stringify(reply));
  return sha256Hex(encodeCanonical(sent)) as Digest;
}

/**
 * Records, in the caller's transaction, exactly what was read: the reply that `input` had, its head and its digest
 * (`lethe.md` §2.5, §0.6). The actor's manifest of the same question with the same reply is used again. Answers the
 * reply with its manifest id. Throws INPUT_INVALID for an actor or session id that is too long.
 */
export function pinManifest(
  db: WritableDb,
  context: VerbContext,
  input: PinInput,
  reply: MemoryContext,
): MemoryContext {
  const draft = draftRow(db, input, reply);
  const earlier = listManifestRowsOfReply(db, draft.project_id, draft.actor_id, draft.context_digest).find((row) =>
    isSameQuestion(row, draft),
  );
  if (earlier !== undefined) return { ...reply, manifest_id: decodeManifest(db, earlier).manifest_id };
  const columns = { ...draft, manifest_id: context.ids.uuidv7(), created_at: toTimestamp(context.clock.nowMs()) };
  insertManifestRow(db, { ...columns, row_digest: rowDigest('manifest', columns) });
  return { ...reply, manifest_id: columns.manifest_id as ManifestId };
}

type Draft = Omit<ManifestRow, 'manifest_id' | 'created_at' | 'row_digest'>;

function draftRow(db: ReadableDb, input: PinInput, reply: MemoryContext): Draft {
  const head = findChangesetRow(db, reply.head_changeset_id);
  assert(head !== undefined, 'a context is read at a stored changeset');
  return {
    direction: 'input',
    project_id: reply.project_id,
    ref_name: reply.ref_name,
    head_seq: head.seq,
    selected_memory_ids: encodePlain(reply.memories.map((memory) => memory.memory_id)),
    inclusion_reasons: encodePlain(reply.inclusion_reasons ?? {}),
    query: (input.query ?? '').toWellFormed(),
    page_limit: input.limit,
    kinds: encodePlain(input.kinds ?? []),
    tags: encodePlain(input.tags ?? []),
    cursor: input.cursor ?? '',
    total_active: reply.total_active,
    context_digest: contextDigest(reply),
    session_id: attribution('session_id', input.sessionId),
    actor_id: attribution('actor_id', input.actorId),
  };
}

function attribution(field: string, text: string | undefined): string {
  const wellFormed = (text ?? '').toWellFormed();
  if (utf8Length(wellFormed) <= attributionBytesMax) return wellFormed;
  throw new Fault('INPUT_INVALID', `${field} is over ${attributionBytesMax} bytes.`, { field });
}

function isSameQuestion(row: ManifestRow, draft: Draft): boolean {
  const asked = [
    'direction',
    'ref_name',
    'head_seq',
    'query',
    'page_limit',
    'kinds',
    'tags',
    'cursor',
    'session_id',
  ] as const;
  return asked.every((column) => row[column] === draft[column]);
}

/** The manifest of that id. Throws MANIFEST_NOT_FOUND, INTEGRITY_MISMATCH. */
export function getManifest(db: ReadableDb, manifestId: ManifestId): Manifest {
  const row = findManifestRow(db, manifestId);
  if (row === undefined) throw manifestNotFound(manifestId);
  return decodeManifest(db, row);
}

/**
 * The context that a manifest pinned, read again at its head with its question. Throws MANIFEST_NOT_FOUND (also for one of
 * another project), INTEGRITY_MISMATCH when it is not byte for byte what was pinned.
 */
export function readManifestContext(
  db: ReadableDb,
  projectId: ProjectId,
  manifestId: ManifestId,
  readContext: ReadContext,
): MemoryContext {
  const manifest = getManifest(db, manifestId);
  if (manifest.project_id !== projectId) throw manifestNotFound(manifestId);
  const reply = readContext(db, questionOf(manifest));
  if (contextDigest(reply) !== manifest.context_digest) throw manifestMismatch(manifestId);
  return { ...reply, manifest_id: manifest.manifest_id };
}

/** The question that a manifest answers, at its own head. */
export function questionOf(manifest: Manifest): ContextInput {
  return {
    projectId: manifest.project_id,
    refName: manifest.ref_name,
    headChangesetId: manifest.head_changeset_id,
    query: manifest.query,
    limit: manifest.limit,
    kinds: manifest.kinds,
    tags: manifest.tags,
    cursor: manifest.cursor,
  };
}

/** A stored manifest in its wire form, its own digest verified. Throws INTEGRITY_MISMATCH. */
export function decodeManifest(db: ReadableDb, row: ManifestRow): Manifest {
  const { row_digest: digest, ...columns } = row;
  const head = findChangesetRowBySeq(db, row.head_seq);
  if (head === undefined || rowDigest('manifest', columns) !== digest) throw manifestMismatch(row.manifest_id);
  const reasons: Record<string, string> = JSON.parse(row.inclusion_reasons);
  const kinds: string[] = JSON.parse(row.kinds);
  const tags: string[] = JSON.parse(row.tags);
  const selected: MemoryId[] = JSON.parse(row.selected_memory_ids);
  return {
    manifest_id: row.manifest_id as ManifestId,
    direction: row.direction,
    project_id: row.project_id as ProjectId,
    ref_name: row.ref_name as RefName,
    head_changeset_id: head.changeset_id as ChangesetId,
    selected_memory_ids: selected,
    ...(Object.keys(reasons).length === 0 ? {} : { inclusion_reasons: reasons }),
    ...(row.query === '' ? {} : { query: row.query }),
    limit: row.page_limit,
    ...(kinds.length === 0 ? {} : { kinds }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(row.cursor === '' ? {} : { cursor: row.cursor }),
    total_active: row.total_active,
    context_digest: row.context_digest as Digest,
    ...(row.session_id === '' ? {} : { session_id: row.session_id }),
    ...(row.actor_id === '' ? {} : { actor_id: row.actor_id }),
    created_at: row.created_at as Timestamp,
  };
}

function manifestNotFound(manifestId: string): Fault {
  return new Fault('MANIFEST_NOT_FOUND', 'manifest_id: there is no such manifest in this project.', {
    manifest_id: manifestId,
  });
}

function manifestMismatch(manifestId: string): Fault {
  return new Fault(
    'INTEGRITY_MISMATCH',
    'A pinned context is not what its digest says: something stored was altered or damaged. Run lethe verify-chain.',
    {
      manifest_id: manifestId,
    },
  );
}
