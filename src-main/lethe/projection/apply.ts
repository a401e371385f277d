import type { Op } from '../../../src-preload/contract/changeset.ts';
import type { JsonObject } from '../../../src-preload/contract/json.ts';
import { assert } from '../../base/assert.ts';
import { isBlank } from '../../canonical/text.ts';
import type { WritableDb } from '../../sqlite/driver.ts';
import type { AttachmentList } from '../rules/attachments.ts';
import { opNumber } from '../rules/numbers.ts';
import { findFirstEnd, findSecondEnd } from '../rules/op-ends.ts';
import { hasContent, overlayVersion, readVersion, type Version } from '../rules/overlay.ts';
import { type Attachment, findAttachment, insertAttachment } from '../tables/attachments.ts';
import type { Place } from '../tables/chains.ts';
import { insertChosenId } from '../tables/memory-ids.ts';
import { insertRelationship, type RelationshipRow } from '../tables/relationships.ts';
import { insertTouch, type Touch, type TouchStatus } from '../tables/touches.ts';
import { insertVersion, readPayload } from '../tables/versions.ts';
import { chosenIdOf, findMemoryNumber, madeMemoryId } from './identity.ts';
import { writeSemanticKeys } from './semantic-keys.ts';
import type { Sight } from './sight.ts';
import { findNewestTouch, isLive, isLiveStatus, loadVersion } from './state.ts';

/** What the ops of one changeset do to the index. */
export interface AppliedOps {
  /** In the order of the ops, at most two of an op. */
  readonly touches: readonly Touch[];
  /** The states that grew out of others. */
  readonly versions: readonly Version[];
  readonly attachments: readonly Attachment[];
  readonly relationships: readonly RelationshipRow[];
  /** Ids that callers chose for memories which no op had named before. */
  readonly chosenIds: ReadonlyMap<number, string>;
  readonly activeChange: number;
}

/** The changeset whose ops are applied. */
export interface AppliedChangeset {
  readonly seq: number;
  readonly projectId: string;
  readonly changesetId: string;
  readonly ops: readonly Op[];
}

/** The ops as they are applied one after the other: later ones see what earlier ones did. */
interface Draft {
  readonly sight: Sight;
  readonly changeset: AppliedChangeset;
  readonly parents: readonly Place[];
  readonly chain: number;
  /** Newest touch of each memory that the ops have come across: of the parents, or of this changeset. */
  readonly touched: Map<number, Touch | undefined>;
  /** Ids that this changeset named first. */
  readonly named: Map<string, number>;
  readonly versions: Map<number, Version>;
  readonly attachments: Map<number, Attachment>;
  readonly chosenIds: Map<number, string>;
}

type Change = Pick<Touch, 'memory' | 'version' | 'status'>;

/**
 * Applies the ops of a changeset over the state of its parents (`L90`, `lethe.md` §5.6); nothing is written. An op that
 * finds no target touches nothing, as in the replay; validation has refused it before for every commit.
 */
export function applyOps(
  sight: Sight,
  changeset: AppliedChangeset,
  parents: readonly Place[],
  chain: number,
): AppliedOps {
  const draft: Draft = {
    sight,
    changeset,
    parents,
    chain,
    touched: new Map(),
    named: new Map(),
    versions: new Map(),
    attachments: new Map(),
    chosenIds: new Map(),
  };
  const touches: Touch[] = [];
  const relationships: RelationshipRow[] = [];
  let activeChange = 0;
  for (const op of changeset.ops) {
    relationships.push(...relate(draft, op));
    const changes = new Map(changesOf(draft, op).map((change) => [change.memory, change]));
    for (const change of changes.values()) {
      const linked = [...changes.keys()].find((memory) => memory !== change.memory);
      const touch: Touch = { ...change, key: opNumber(changeset.seq, op.ordinal), chain, linked };
      activeChange += Number(isLive(touch)) - Number(isLive(current(draft, touch.memory)));
      draft.touched.set(touch.memory, touch);
      touches.push(touch);
    }
  }
  return {
    touches,
    versions: [...draft.versions.values()],
    attachments: [...draft.attachments.values()],
    relationships,
    chosenIds: draft.chosenIds,
    activeChange,
  };
}

/** Writes what `applyOps` found. */
export function writeApplied(db: WritableDb, projectId: string, applied: AppliedOps): void {
  for (const [number, memoryId] of applied.chosenIds) insertChosenId(db, number, projectId, memoryId);
  for (const version of applied.versions) insertVersion(db, version);
  for (const attachment of applied.attachments) insertAttachment(db, attachment);
  for (const touch of applied.touches) insertTouch(db, touch);
  for (const relationship of applied.relationships) insertRelationship(db, relationship);
  writeSemanticKeys(db, projectId, applied);
}

/** What one op changes; a later change of the same memory stands. */
function changesOf(draft: Draft, op: Op): readonly Change[] {
  switch (op.op_type) {
    case 'add_memory':
      return startMemory(draft, op);
    case 'correct_memory':
      return correctMemory(draft, op);
    case 'supersede_memory':
      return [...retire(draft, op.target_event_id, 'superseded'), ...startMemory(draft, op)];
    case 'mark_duplicate':
      return retire(draft, findFirstEnd(op), 'duplicate');
    case 'propose_deprecation':
      return deprecate(draft, op);
    case 'attach_evidence':
      return attach(draft, op, 'evidence');
    case 'attach_verification':
      return attach(draft, op, 'verification');
    case 'add_relationship':
      return [];
  }
}

function startMemory(draft: Draft, op: Op): readonly Change[] {
  const payload = op.payload ?? {};
  if (!hasContent(payload)) return [];
  const version = opNumber(draft.changeset.seq, op.ordinal);
  return [{ memory: nameMemory(draft, op, chosenIdOf(op)), version, status: statusOf(payload.content) }];
}

function retire(draft: Draft, memoryId: string | undefined, status: TouchStatus): readonly Change[] {
  const before = findState(draft, memoryId);
  return before === undefined ? [] : [{ memory: before.memory, version: before.version, status }];
}

function correctMemory(draft: Draft, op: Op): readonly Change[] {
  const before = findState(draft, op.target_event_id);
  if (before === undefined) return [];
  const key = opNumber(draft.changeset.seq, op.ordinal);
  const payload = op.payload ?? {};
  const renamed = op.resulting_event_id !== undefined && op.resulting_event_id !== op.target_event_id;
  const after = overlayVersion(versionOf(draft, before.version), key, payload);
  draft.versions.set(key, renamed ? { ...after, introduced: key } : after);
  const status = statusAfter(draft, before, after.fields.content === key ? payload : undefined);
  if (!renamed) return [{ memory: before.memory, version: key, status }];
  return [
    { memory: before.memory, version: before.version, status: 'corrected' },
    { memory: nameMemory(draft, op, op.resulting_event_id), version: key, status },
  ];
}

/** The memory stays as active as it was; its state is one of its own, because it was touched (`L131`). */
function deprecate(draft: Draft, op: Op): readonly Change[] {
  const before = findState(draft, op.target_event_id);
  if (before === undefined) return [];
  const key = opNumber(draft.changeset.seq, op.ordinal);
  draft.versions.set(key, { ...versionOf(draft, before.version), version: key });
  return [{ memory: before.memory, version: key, status: deprecatedStatus(before.status) }];
}

function deprecatedStatus(status: TouchStatus): TouchStatus {
  if (status === 'active' || status === 'deprecation_proposed') return 'deprecation_proposed';
  return status === 'blank' || status === 'deprecation_blank' ? 'deprecation_blank' : 'deprecation_retired';
}

/** Appends to the memory's list: a link to what it had, whatever that is (`L132`). */
function attach(draft: Draft, op: Op, list: AttachmentList): readonly Change[] {
  const before = findState(draft, op.target_event_id);
  if (before === undefined) return [];
  const key = opNumber(draft.changeset.seq, op.ordinal);
  const version = versionOf(draft, before.version);
  const previous = version[list];
  const count = previous === undefined ? 0 : countTo(draft, previous);
  draft.attachments.set(key, { op: key, previous, count: count + 1 });
  draft.versions.set(key, { ...version, version: key, [list]: key });
  return [{ memory: before.memory, version: key, status: before.status }];
}

function countTo(draft: Draft, op: number): number {
  const attachment = draft.attachments.get(op) ?? findAttachment(draft.sight.db, op);
  assert(attachment !== undefined, 'a state names attachments that there are');
  return attachment.count;
}

/** The relationship of an op whose ends the parents or the ops before it know; alive or not is not asked (`L134`). */
function relate(draft: Draft, op: Op): readonly RelationshipRow[] {
  if (op.op_type !== 'add_relationship') return [];
  const from = findState(draft, findFirstEnd(op));
  const to = findState(draft, findSecondEnd(op));
  if (from === undefined || to === undefined) return [];
  return [{ op: opNumber(draft.changeset.seq, op.ordinal), chain: draft.chain, from: from.memory, to: to.memory }];
}

/** Active unless the content is blank; content that the op did not set is blank when it was. */
function statusAfter(draft: Draft, before: Touch, setContent: JsonObject | undefined): TouchStatus {
  if (setContent !== undefined) return statusOf(setContent.content);
  if (isLiveStatus(before.status)) return 'active';
  const { db } = draft.sight;
  return statusOf(readVersion(versionOf(draft, before.version), (op) => readPayload(db, op)).content);
}

function versionOf(draft: Draft, op: number): Version {
  return draft.versions.get(op) ?? loadVersion(draft.sight.db, op);
}

function statusOf(content: unknown): TouchStatus {
  return typeof content === 'string' && !isBlank(content) ? 'active' : 'blank';
}

function findState(draft: Draft, memoryId: string | undefined): Touch | undefined {
  const memory = findNumber(draft, memoryId);
  return memory === undefined ? undefined : current(draft, memory);
}

function current(draft: Draft, memory: number): Touch | undefined {
  if (draft.touched.has(memory)) return draft.touched.get(memory);
  const touch = draft.parents.length === 0 ? undefined : findNewestTouch(draft.sight, draft.parents, memory);
  draft.touched.set(memory, touch);
  return touch;
}

function findNumber(draft: Draft, memoryId: string | undefined): number | undefined {
  if (memoryId === undefined) return undefined;
  return draft.named.get(memoryId) ?? findMemoryNumber(draft.sight.db, draft.changeset.projectId, memoryId);
}

/** The number of the memory that an op names: known already, or the op's own. */
function nameMemory(draft: Draft, op: Op, chosenId: string | undefined): number {
  const number = opNumber(draft.changeset.seq, op.ordinal);
  const known = findNumber(draft, chosenId);
  if (known !== undefined) return known;
  draft.named.set(chosenId ?? madeMemoryId(draft.changeset.changesetId, op.ordinal), number);
  if (chosenId !== undefined) draft.chosenIds.set(number, chosenId);
  return number;
}
