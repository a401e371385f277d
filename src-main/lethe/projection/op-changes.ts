import type { JsonObject } from '../../../src-preload/contract/json.ts';
import { isBlank } from '../../canonical/text.ts';
import type { AttachmentList } from '../rules/attachments.ts';
import { findFirstEnd } from '../rules/op-ends.ts';
import { restoredAt } from '../rules/op-fields.ts';
import { hasContent, overlayVersion, readVersion, type Version } from '../rules/overlay.ts';
import { findTouch, type Touch, type TouchStatus } from '../tables/touches.ts';
import { readPayload } from '../tables/versions.ts';
import { withAttached } from './attached.ts';
import { type Draft, type Found, findMemory, findNumber, keyOf, nameMemory, type PlacedOp } from './draft.ts';
import { chosenIdOf, findSeen } from './identity.ts';
import { findNewestTouch, isLiveStatus, isRetiredStatus, loadVersion } from './state.ts';

/** What an op makes of a memory: the other memory of an op with two is linked, or the one with which a restored state was. */
export type Change = Pick<Touch, 'memory' | 'version' | 'status' | 'linked'>;

/**
 * What one op changes (`lethe.md` §5.6), at most two memories; a later change of the same memory stands. The draft has
 * taken the changes in. An op that finds no target changes nothing, as in the replay; one that is applied again changes
 * nothing that it did not change before.
 */
export function applyOp(draft: Draft, placed: PlacedOp): readonly Change[] {
  const byMemory = new Map(
    changesOf(draft, placed)
      .filter(({ memory }) => !draft.isReplay || findTouch(draft.sight.db, memory, keyOf(placed)) !== undefined)
      .map((change) => [change.memory, change]),
  );
  const changes = [...byMemory.values()].map((change) => {
    const other = [...byMemory.keys()].find((memory) => memory !== change.memory);
    return { ...change, linked: other ?? change.linked };
  });
  for (const { memory, status, version, linked } of changes) {
    const found = { memory, status, linked: isRetiredStatus(status) ? linked : undefined, kept: version };
    draft.found.set(memory, { ...found, state: () => versionOf(draft, version) });
  }
  return changes;
}

/** What the parts of an op make of their memory. */
type OwnChange = Omit<Change, 'linked'> & Partial<Pick<Change, 'linked'>>;

function changesOf(draft: Draft, placed: PlacedOp): readonly OwnChange[] {
  const { op } = placed;
  switch (op.op_type) {
    case 'add_memory':
      return startMemory(draft, placed);
    case 'correct_memory': {
      const restored = restoredAt(op);
      return restored === undefined ? correctMemory(draft, placed) : restoreMemory(draft, placed, restored);
    }
    case 'supersede_memory':
      return [...retire(draft, op.target_event_id, 'superseded'), ...startMemory(draft, placed)];
    case 'mark_duplicate':
      return retire(draft, findFirstEnd(op), 'duplicate');
    case 'propose_deprecation':
      return deprecate(draft, placed);
    case 'attach_evidence':
      return attach(draft, placed, 'evidence');
    case 'attach_verification':
      return attach(draft, placed, 'verification');
    case 'add_relationship':
      return [];
  }
}

function startMemory(draft: Draft, placed: PlacedOp): readonly OwnChange[] {
  const payload = placed.op.payload ?? {};
  if (!hasContent(payload)) return [];
  const memory = nameMemory(draft, placed, chosenIdOf(placed.op));
  return [{ memory, version: keyOf(placed), status: statusOf(payload.content) }];
}

function retire(draft: Draft, memoryId: string | undefined, status: TouchStatus): readonly OwnChange[] {
  const before = findMemory(draft, memoryId);
  return before === undefined ? [] : [{ memory: before.memory, version: before.kept, status }];
}

function correctMemory(draft: Draft, placed: PlacedOp): readonly OwnChange[] {
  const { op } = placed;
  const before = findMemory(draft, op.target_event_id);
  if (before === undefined) return [];
  const key = keyOf(placed);
  const payload = op.payload ?? {};
  const renamed = op.resulting_event_id !== undefined && op.resulting_event_id !== op.target_event_id;
  const after = overlayVersion(before.state(), key, payload);
  // What was restored were the relationships of the memory before.
  draft.versions.set(key, renamed ? { ...after, introduced: key, restored: undefined } : after);
  const status = statusAfter(draft, before, after.fields.content === key ? payload : undefined);
  if (!renamed) return [{ memory: before.memory, version: key, status }];
  return [
    { memory: before.memory, version: before.kept, status: 'corrected' },
    { memory: nameMemory(draft, placed, op.resulting_event_id), version: key, status },
  ];
}

/** Exactly the state at a changeset that the parents see, under a number of its own (`L145`). */
function restoreMemory(draft: Draft, placed: PlacedOp, changesetId: string): readonly OwnChange[] {
  const memory = findNumber(draft, placed.op.target_event_id);
  const past = findSeen(draft.sight, draft.projectId, draft.parents, changesetId);
  const then = memory === undefined || past === undefined ? undefined : findNewestTouch(draft.sight, [past], memory);
  if (then === undefined) return [];
  const key = keyOf(placed);
  draft.versions.set(key, { ...loadVersion(draft.sight.db, then.version), version: key, restored: key });
  const linked = isRetiredStatus(then.status) ? then.linked : undefined;
  return [{ memory: then.memory, version: key, status: then.status, linked }];
}

/** The memory stays as active as it was; its state is one of its own, because it was touched (`L131`). */
function deprecate(draft: Draft, placed: PlacedOp): readonly OwnChange[] {
  const before = findMemory(draft, placed.op.target_event_id);
  if (before === undefined) return [];
  const key = keyOf(placed);
  draft.versions.set(key, { ...before.state(), version: key });
  return [{ memory: before.memory, version: key, status: deprecatedStatus(before.status) }];
}

function deprecatedStatus(status: TouchStatus): TouchStatus {
  if (status === 'active' || status === 'deprecation_proposed') return 'deprecation_proposed';
  return status === 'blank' || status === 'deprecation_blank' ? 'deprecation_blank' : 'deprecation_retired';
}

/** Appends to the memory's list, whatever that is (`L132`). */
function attach(draft: Draft, placed: PlacedOp, list: AttachmentList): readonly OwnChange[] {
  const before = findMemory(draft, placed.op.target_event_id);
  if (before === undefined) return [];
  const key = keyOf(placed);
  draft.versions.set(key, { ...withAttached(draft, before.state(), list, key), version: key });
  return [{ memory: before.memory, version: key, status: before.status }];
}

/** Active unless the content is blank; content that the op did not set is blank when it was. */
function statusAfter(draft: Draft, before: Found, setContent: JsonObject | undefined): TouchStatus {
  if (setContent !== undefined) return statusOf(setContent.content);
  if (isLiveStatus(before.status)) return 'active';
  return statusOf(readVersion(before.state(), (op) => readPayload(draft.sight.db, op)).content);
}

function statusOf(content: unknown): TouchStatus {
  return typeof content === 'string' && !isBlank(content) ? 'active' : 'blank';
}

function versionOf(draft: Draft, version: number): Version {
  return draft.versions.get(version) ?? loadVersion(draft.sight.db, version);
}
