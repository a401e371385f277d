import { type Op, type OpType, opTypes } from '../../../src-preload/contract/changeset.ts';
import type { JsonObject } from '../../../src-preload/contract/json.ts';
import { jsonDepthMax, memoryIdBytesMax, opsMax, payloadBytesMax } from '../../../src-preload/contract/limits.ts';
import { Fault } from '../../base/fault.ts';
import { encodePlain } from '../../canonical/json.ts';
import { utf8Length } from '../../canonical/text.ts';
import { isShallowerThan } from './depth.ts';
import { findEndsReason, findFirstEnd, listEnds, type NamedEnd } from './op-ends.ts';
import {
  findContentReason,
  findExplicitId,
  findIdentityReason,
  findKeyReason,
  isNonEmpty,
  payloadKeysByType,
  provenanceKeys,
  restoredAt,
  restoringKeys,
} from './op-fields.ts';
import { opInvalid, quoted } from './op-refusal.ts';

/** What a memory was at a changeset: `unseen` when the parents do not see that changeset, `unknown` when it did not know the memory. */
export type PastState = 'active' | 'retired' | 'unknown' | 'unseen';

/** What validation asks of the state before the changeset: the merged state of all its parents (`lethe.md` D8). */
export interface StateView {
  /** Whether the memory is active there. */
  isActive(memoryId: string): boolean;
  /** Whether the changeset has to decide about the memory, because both parents changed it or one left a duplicate without it. */
  mustDecide(memoryId: string): boolean;
  /** What the memory was at a changeset that the parents see. */
  findPast(memoryId: string, changesetId: string): PastState;
}

/** What a caller may do that not everyone may. */
export interface OpRights {
  /** Whether its corrections may restore a state (`lethe.md` §0.4): the product's own verbs, never a client. */
  readonly mayRestore: boolean;
}

/**
 * Ops in the form that is stored: ordinals are the places in the list, ids that are empty and payloads without a key are
 * absent, every text well-formed (`lethe.md` §1.3, §3). Throws OP_INVALID for a payload that has no JSON form.
 */
export function normalizeOps(ops: readonly Op[]): readonly Op[] {
  if (ops.length === 0)
    throw new Fault('INPUT_INVALID', 'ops: a changeset requires at least one operation.', { field: 'ops' });
  if (ops.length > opsMax)
    throw new Fault('INPUT_INVALID', `ops: a changeset takes at most ${opsMax} operations.`, { field: 'ops' });
  return ops.map((op, ordinal) => {
    if (!opTypes.includes(op.op_type))
      throw opInvalid(ordinal, quoted(op.op_type), 'op_type is not one of the known ones');
    const payload = normalizePayload(op, ordinal);
    return {
      ordinal,
      op_type: op.op_type,
      ...(op.target_event_id ? { target_event_id: op.target_event_id.toWellFormed() } : {}),
      ...(op.resulting_event_id ? { resulting_event_id: op.resulting_event_id.toWellFormed() } : {}),
      ...(payload === undefined ? {} : { payload }),
    };
  });
}

function normalizePayload(op: Op, ordinal: number): JsonObject | undefined {
  if (op.payload === undefined || Object.keys(op.payload).length === 0) return undefined;
  if (!isShallowerThan(op.payload, jsonDepthMax))
    throw opInvalid(ordinal, op.op_type, `payload is nested deeper than ${jsonDepthMax} levels`);
  const text = encodeOrRefuse(op, ordinal);
  if (utf8Length(text) > payloadBytesMax)
    throw opInvalid(ordinal, op.op_type, `payload is over ${payloadBytesMax} bytes`);
  return JSON.parse(text);
}

function encodeOrRefuse(op: Op, ordinal: number): string {
  try {
    return encodePlain(op.payload ?? {});
  } catch (thrown) {
    if (thrown instanceof Fault) throw opInvalid(ordinal, op.op_type, `payload cannot be encoded: ${thrown.message}`);
    throw thrown;
  }
}

/**
 * Pass 1 of `lethe.md` §4 over normalised ops: everything that needs no state. Throws OP_INVALID for the first op that
 * does not hold, and of it the first reason in a fixed order.
 */
export function validateStateless(ops: readonly Op[], rights: OpRights = { mayRestore: false }): void {
  for (const op of ops) {
    const reason = findStatelessReason(op, rights);
    if (reason !== undefined) throw opInvalid(op.ordinal, op.op_type, reason);
  }
}

function findStatelessReason(op: Op, rights: OpRights): string | undefined {
  for (const field of ['target_event_id', 'resulting_event_id'] as const) {
    if (utf8Length(op[field] ?? '') > memoryIdBytesMax) return `${field} is over ${memoryIdBytesMax} bytes`;
  }
  const payload = op.payload ?? {};
  if (rights.mayRestore && op.op_type === 'correct_memory' && 'restores' in payload)
    return findKeyReason('correct_memory that restores', restoringKeys, payload) ?? findRestoreReason(op);
  return findKeyReason(op.op_type, payloadKeysByType[op.op_type], payload) ?? findTypeReason(op, payload);
}

/** The state comes whole from the changeset that is named: nothing beside it is said of the memory. */
function findRestoreReason(op: Op): string | undefined {
  if (op.target_event_id === undefined) return 'target_event_id is required';
  if (op.resulting_event_id !== undefined) return 'resulting_event_id is not for a correction that restores';
  return restoredAt(op) === undefined ? 'restores must be the id of a changeset' : undefined;
}

function findTypeReason(op: Op, payload: JsonObject): string | undefined {
  switch (op.op_type) {
    case 'add_memory':
      if (!('content' in payload)) return 'content must be a string that is not blank';
      return findContentReason(payload) ?? findIdentityReason(op);
    case 'correct_memory':
      return findTargetReason(op) ?? findCorrectionReason(payload) ?? findContentReason(payload);
    case 'supersede_memory':
      return findTargetReason(op) ?? findIdentityReason(op) ?? findTrustReason(payload) ?? findContentReason(payload);
    case 'mark_duplicate':
      return findEndsReason(op);
    case 'add_relationship':
      return findEndsReason(op) ?? findKindReason(payload);
    case 'propose_deprecation':
      return findTargetReason(op) ?? findDeprecationReason(payload);
    case 'attach_evidence':
    case 'attach_verification':
      return findAttachmentReason(op, payload);
  }
}

function findTargetReason(op: Op): string | undefined {
  if (op.target_event_id === undefined) return 'target_event_id is required';
  if (makesMemory(op.op_type) && findExplicitId(op) === op.target_event_id)
    return 'the resulting memory must be another than target_event_id';
  return undefined;
}

function findCorrectionReason(payload: JsonObject): string | undefined {
  return Object.keys(payload).length === 0 ? 'payload must say what is corrected' : undefined;
}

function findTrustReason(payload: JsonObject): string | undefined {
  const isInference = payload.source_trust === 'inference' || payload.source_trust === 'model_inference';
  if (payload.target_trust !== 'user_approved' || !isInference) return undefined;
  return 'a user_approved memory is not superseded by inference: propose a correction for review';
}

function findKindReason(payload: JsonObject): string | undefined {
  return isNonEmpty(payload.kind) ? undefined : 'kind must be a non-empty string';
}

function findDeprecationReason(payload: JsonObject): string | undefined {
  return isNonEmpty(payload.reason) ? undefined : 'reason must be a non-empty string';
}

/** Without a target it is an attestation of the changeset: it says what it is about and where it comes from. */
function findAttachmentReason(op: Op, payload: JsonObject): string | undefined {
  if (Object.keys(payload).length === 0) return 'payload must not be empty';
  if (op.target_event_id !== undefined) return undefined;
  if (!isNonEmpty(payload.summary)) return 'summary must be a non-empty string when there is no target';
  if (provenanceKeys.some((key) => isNonEmpty(payload[key]))) return undefined;
  return `one of ${provenanceKeys.join(', ')} must be a non-empty string when there is no target`;
}

/** Ops that `validateAgainstState` looks at: whether it needs a view at all. */
export function needsState(ops: readonly Op[]): boolean {
  return ops.some((op) => listActiveEnds(op).length > 0 || findMadeId(op) !== undefined);
}

/**
 * Pass 2 of `lethe.md` §4: the ops in their order against the state before them, each seeing what those before it did. A memory
 * that a merge has to decide about can be corrected, superseded or marked a duplicate although it is not active (`L149`).
 * Throws OP_INVALID for the first op that names a memory which is not active, or whose new id already is.
 */
export function validateAgainstState(ops: readonly Op[], view: StateView): void {
  const changed = new Map<string, boolean>();
  const isActive = (memoryId: string): boolean => changed.get(memoryId) ?? view.isActive(memoryId);
  const isOpen = (memoryId: string): boolean => !changed.has(memoryId) && view.mustDecide(memoryId);
  for (const op of ops) {
    const made = findMadeId(op);
    const past = findPast(op, view);
    const reason = past === undefined ? findStateReason(op, made, isActive, isOpen) : findPastReason(op, past);
    if (reason !== undefined) throw opInvalid(op.ordinal, op.op_type, reason);
    if (past !== undefined && op.target_event_id !== undefined) changed.set(op.target_event_id, past === 'active');
    else if (op.op_type === 'correct_memory' && op.target_event_id !== undefined) changed.set(op.target_event_id, true);
    const retired = findRetiredId(op, made);
    if (retired !== undefined) changed.set(retired, false);
    if (made !== undefined) changed.set(made, true);
  }
}

/** What the target of a restoring op was at the changeset that it names; undefined for every other op. */
function findPast(op: Op, view: StateView): PastState | undefined {
  const restored = restoredAt(op);
  if (restored === undefined || op.target_event_id === undefined) return undefined;
  return view.findPast(op.target_event_id, restored);
}

function findPastReason(op: Op, past: PastState): string | undefined {
  if (past === 'unseen') return 'restores must name a parent or an ancestor of one';
  if (past !== 'unknown') return undefined;
  return `target ${quoted(op.target_event_id ?? '')} is not known at the changeset that restores names: supersede it instead`;
}

/** The memories that the op says something of, which must be active: its target, or both of its ends. */
function listActiveEnds(op: Op): readonly NamedEnd[] {
  if (op.op_type === 'add_memory') return [];
  if (op.op_type === 'mark_duplicate' || op.op_type === 'add_relationship') return listEnds(op);
  return op.target_event_id === undefined ? [] : [{ name: 'target', memoryId: op.target_event_id }];
}

/** The id that the op makes active under a name of the caller's; undefined when it makes none or leaves naming to the store. */
function findMadeId(op: Op): string | undefined {
  if (op.op_type === 'add_memory') return findExplicitId(op);
  if (op.op_type === 'correct_memory') return op.resulting_event_id;
  if (op.op_type === 'supersede_memory' && isNonEmpty(op.payload?.content)) return findExplicitId(op);
  return undefined;
}

function makesMemory(opType: OpType): boolean {
  return opType === 'correct_memory' || opType === 'supersede_memory';
}

/** The id that is no longer active after the op. */
function findRetiredId(op: Op, made: string | undefined): string | undefined {
  if (op.op_type === 'mark_duplicate') return findFirstEnd(op);
  if (op.op_type === 'supersede_memory' || (op.op_type === 'correct_memory' && made !== undefined))
    return op.target_event_id;
  return undefined;
}

/** The memory of which the op says what becomes of it. */
function findDecidedId(op: Op): string | undefined {
  if (op.op_type === 'mark_duplicate') return findFirstEnd(op);
  return makesMemory(op.op_type) ? op.target_event_id : undefined;
}

function findStateReason(
  op: Op,
  made: string | undefined,
  isActive: (memoryId: string) => boolean,
  isOpen: (memoryId: string) => boolean,
): string | undefined {
  const decided = findDecidedId(op);
  const missing = listActiveEnds(op).find(
    ({ memoryId }) => !isActive(memoryId) && (memoryId !== decided || !isOpen(memoryId)),
  );
  if (missing !== undefined) {
    return `${missing.name} ${quoted(missing.memoryId)} is not active in the parent state: read it at the parents and target a memory that is`;
  }
  if (made !== undefined && isActive(made))
    return `memory ${quoted(made)} is already active in the parent state: give the new one another id`;
  return undefined;
}
