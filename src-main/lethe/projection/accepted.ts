import type { ChangesetId, MemoryId } from '../../../src-preload/contract/ids.ts';
import type { JsonObject } from '../../../src-preload/contract/json.ts';
import type { AcceptedMemory } from '../../../src-preload/contract/memory.ts';
import { assert } from '../../base/assert.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { type AttachmentList, attachmentLists, type ShownFields, shownFields } from '../rules/attachments.ts';
import { seqOf } from '../rules/numbers.ts';
import { readVersion, type Version } from '../rules/overlay.ts';
import { type Attachment, findAttachment } from '../tables/attachments.ts';
import type { Touch, TouchStatus } from '../tables/touches.ts';
import { readPayload } from '../tables/versions.ts';
import { changesetIdOf, memoryIdOf } from './identity.ts';
import { loadVersion } from './state.ts';

/** Builds memories as they cross the border; ids and payloads that several share are read once. */
export interface AcceptedReader {
  /** The memory in the state that a touch left it in. */
  read(touch: Touch): AcceptedMemory;
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
  const changesetIds = new Map<number, ChangesetId>();
  const payloads = new Map<number, JsonObject>();
  const changesetId = (seq: number): ChangesetId => memoized(changesetIds, seq, () => changesetIdOf(db, seq));
  const payloadOf = (op: number): JsonObject => memoized(payloads, op, () => readPayload(db, op));
  const versions = new Map<number, Version>();
  const versionOf = (touch: Touch): Version =>
    memoized(versions, touch.version, () => loadVersion(db, touch.version, payloadOf));
  const attachments = new Map<number, Attachment>();
  const attachmentOf = (op: number): Attachment => memoized(attachments, op, () => getAttachment(db, op));
  const memoryId = (memory: number): MemoryId => memoryIdOf(db, memory, changesetId);
  return {
    version: versionOf,
    payloadOf,
    memoryId,
    changesetId,
    read: (touch) => {
      const version = versionOf(touch);
      const { content, payload, ...fields } = readVersion(version, payloadOf);
      const shown = attachmentLists.map((list) => readAttached(list, version[list], attachmentOf, payloadOf));
      return {
        memory_id: memoryId(touch.memory),
        content,
        ...fields,
        status: statusShown(touch.status),
        source: 'memory_git',
        introduced_changeset_id: changesetId(seqOf(version.introduced)),
        last_changeset_id: changesetId(seqOf(version.version)),
        ...Object.assign({}, ...shown),
        ...(payload === undefined ? {} : { payload }),
      };
    },
  };
}

/** The status as it is told: a memory whose text is blank is told as if it had one. */
function statusShown(status: TouchStatus): AcceptedMemory['status'] {
  if (status === 'blank') return 'active';
  return status === 'deprecation_blank' || status === 'deprecation_retired' ? 'deprecation_proposed' : status;
}

/** What a memory is shown with of one of its lists; reads no more links than are shown, and one. */
function readAttached(
  list: AttachmentList,
  newest: number | undefined,
  attachmentOf: (op: number) => Attachment,
  payloadOf: (op: number) => JsonObject,
): ShownFields {
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
