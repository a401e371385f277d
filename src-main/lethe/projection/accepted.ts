import type { ChangesetId, MemoryId } from '../../../src-preload/contract/ids.ts';
import type { JsonObject } from '../../../src-preload/contract/json.ts';
import type { AcceptedMemory } from '../../../src-preload/contract/memory.ts';
import { assert } from '../../base/assert.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { type AttachmentList, attachmentLists, type ShownFields, shownFields } from '../rules/attachments.ts';
import { seqOf } from '../rules/numbers.ts';
import { isStillEvent, opsOfVersion, readVersion, startVersion, type Version } from '../rules/overlay.ts';
import { type Attachment, findAttachment } from '../tables/attachments.ts';
import { listChangesetIds, listChosenIds } from '../tables/memory-ids.ts';
import type { Touch, TouchStatus } from '../tables/touches.ts';
import { listPayloads, listVersions, readPayload } from '../tables/versions.ts';
import { changesetIdOf, madeIdOf } from './identity.ts';
import { loadVersion } from './state.ts';

/** Builds memories as they cross the border; ids and payloads that several share are read once. */
export interface AcceptedReader {
  /** The memory in the state that a touch left it in. */
  read(touch: Touch): AcceptedMemory;
  /** The same of several touches, in their order: their rows are read together, a statement a table (`L150`). */
  readAll(touches: readonly Touch[]): readonly AcceptedMemory[];
  /** The state that a touch left its memory in, as the ops that made it. */
  version(touch: Touch): Version;
  /** The payload of an op by its number. */
  payloadOf(op: number): JsonObject;
  /** The public id of a memory number. */
  memoryId(memory: number): MemoryId;
  changesetId(seq: number): ChangesetId;
}

/** Opens a reader for one verb. Each memory costs its id, its version and the payloads of the ops that made it. */
export function openAccepted(db: ReadableDb): AcceptedReader {
  const known: Known = {
    versions: new Map(),
    payloads: new Map(),
    attachments: new Map(),
    memoryIds: new Map(),
    afterEvents: new Set(),
    changesetIds: new Map(),
  };
  const changesetId = (seq: number): ChangesetId => getChangesetId(db, known, seq);
  const payloadOf = (op: number): JsonObject => memoized(known.payloads, op, () => readPayload(db, op));
  const versionOf = ({ version }: Touch): Version =>
    memoized(known.versions, version, () => loadVersion(db, version, payloadOf));
  const attachmentOf = (op: number): Attachment => memoized(known.attachments, op, () => getAttachment(db, op));
  const memoryId = (memory: number): MemoryId => memoized(known.memoryIds, memory, () => learnId(db, known, memory));
  const read = (touch: Touch): AcceptedMemory => {
    const version = versionOf(touch);
    const { content, payload, ...fields } = readVersion(version, payloadOf);
    const shown = attachmentLists.map((list) => readAttached(list, version, attachmentOf, payloadOf));
    const id = memoryId(touch.memory);
    const { source } = version;
    const sourceEvent =
      source === undefined ? (known.afterEvents.has(touch.memory) ? id : undefined) : memoryId(source);
    return {
      memory_id: id,
      content,
      ...fields,
      status: statusShown(touch.status),
      source: isStillEvent(version) ? 'legacy_event' : 'memory_git',
      ...(sourceEvent === undefined ? {} : { source_event_id: sourceEvent }),
      // The number of a baseline event is no op of a changeset.
      ...(version.introduced === source ? {} : { introduced_changeset_id: changesetId(seqOf(version.introduced)) }),
      ...(version.version === source ? {} : { last_changeset_id: changesetId(seqOf(version.version)) }),
      ...Object.assign({}, ...shown),
      ...(payload === undefined ? {} : { payload }),
    };
  };
  return {
    version: versionOf,
    payloadOf,
    memoryId,
    changesetId,
    read,
    readAll: (touches) => {
      learn(db, known, touches);
      return touches.map(read);
    },
  };
}

/** What a reader has read so far. */
interface Known {
  /** By the op that made the state; payloads and attachments by their op. */
  readonly versions: Map<number, Version>;
  readonly payloads: Map<number, JsonObject>;
  readonly attachments: Map<number, Attachment>;
  readonly memoryIds: Map<number, MemoryId>;
  /** Memories whose id was that of an event when they were named (`lethe.md` §5.7). */
  readonly afterEvents: Set<number>;
  readonly changesetIds: Map<number, ChangesetId>;
}

/** Reads together what `read` will ask for of several touches, but for attachments, which hang on one another. */
function learn(db: ReadableDb, known: Known, touches: readonly Touch[]): void {
  const states = touches.map(({ version }) => version);
  for (const row of listVersions(db, missing(known.versions, states))) known.versions.set(row.version, row);
  const grown = states.flatMap((state) => known.versions.get(state) ?? []);
  const started = missing(known.versions, states);
  const ops = missing(known.payloads, [...started, ...grown.flatMap(opsOfVersion)]);
  for (const [op, payload] of listPayloads(db, ops)) known.payloads.set(op, payload);
  for (const op of started) known.versions.set(op, startVersion(op, known.payloads.get(op) ?? {}));
  const memories = touches.map(({ memory }) => memory);
  const seqs = [...memories, ...states, ...grown.map(({ introduced }) => introduced)].map(seqOf);
  for (const [seq, id] of listChangesetIds(db, missing(known.changesetIds, seqs))) known.changesetIds.set(seq, id);
  const sources = grown.flatMap(({ source }) => source ?? []);
  for (const memory of learnChosen(db, known, missing(known.memoryIds, [...memories, ...sources])))
    known.memoryIds.set(
      memory,
      madeIdOf(memory, (seq) => getChangesetId(db, known, seq)),
    );
}

/** Learns those of the ids that callers chose; answers the memories whose id the store made. */
function learnChosen(db: ReadableDb, known: Known, memories: readonly number[]): readonly number[] {
  for (const { number, memoryId, event } of listChosenIds(db, memories)) {
    known.memoryIds.set(number, memoryId);
    if (event !== undefined) known.afterEvents.add(number);
  }
  return missing(known.memoryIds, memories);
}

function learnId(db: ReadableDb, known: Known, memory: number): MemoryId {
  learnChosen(db, known, [memory]);
  return known.memoryIds.get(memory) ?? madeIdOf(memory, (seq) => getChangesetId(db, known, seq));
}

function getChangesetId(db: ReadableDb, known: Known, seq: number): ChangesetId {
  return memoized(known.changesetIds, seq, () => changesetIdOf(db, seq));
}

/** The keys that are not known, each once. */
function missing(known: ReadonlyMap<number, unknown>, keys: readonly number[]): readonly number[] {
  return [...new Set(keys)].filter((key) => !known.has(key));
}

/** The status as it is told: a memory whose text is blank is told as if it had one. */
function statusShown(status: TouchStatus): AcceptedMemory['status'] {
  if (status === 'blank') return 'active';
  return status === 'deprecation_blank' || status === 'deprecation_retired' ? 'deprecation_proposed' : status;
}

/** What a memory is shown with of one of its lists; reads no more links than are shown, and one. */
function readAttached(
  list: AttachmentList,
  version: Version,
  attachmentOf: (op: number) => Attachment,
  payloadOf: (op: number) => JsonObject,
): ShownFields {
  const joined = version.joined?.[list];
  if (joined !== undefined) return shownFields(list, joined.total, joined.newest.toReversed().map(payloadOf));
  const newest = version[list];
  if (newest === undefined) return {};
  return shownFields(list, attachmentOf(newest).count, walkAttached(newest, attachmentOf, payloadOf));
}

function* walkAttached(
  newest: number,
  attachmentOf: (op: number) => Attachment,
  payloadOf: (op: number) => JsonObject,
): IterableIterator<JsonObject> {
  for (let op: number | undefined = newest; op !== undefined; op = attachmentOf(op).previous) yield payloadOf(op);
}

function getAttachment(db: ReadableDb, op: number): Attachment {
  const attachment = findAttachment(db, op);
  assert(attachment !== undefined, 'a state names attachments that the index holds');
  return attachment;
}

function memoized<Value>(known: Map<number, Value>, key: number, read: () => Value): Value {
  const cached = known.get(key);
  if (cached !== undefined) return cached;
  const value = read();
  known.set(key, value);
  return value;
}
