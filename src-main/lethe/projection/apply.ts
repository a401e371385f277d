import type { Op } from '../../../src-preload/contract/changeset.ts';
import type { JsonObject } from '../../../src-preload/contract/json.ts';
import { isBlank } from '../../canonical/text.ts';
import type { WritableDb } from '../../sqlite/driver.ts';
import { opNumber } from '../rules/numbers.ts';
import { hasContent, overlayVersion, readVersion, type Version } from '../rules/overlay.ts';
import type { Place } from '../tables/chains.ts';
import { insertChosenId } from '../tables/memory-ids.ts';
import { insertTouch, type Touch, type TouchStatus } from '../tables/touches.ts';
import { insertVersion, readPayload } from '../tables/versions.ts';
import { chosenIdOf, findMemoryNumber, madeMemoryId } from './identity.ts';
import type { Sight } from './sight.ts';
import { findNewestTouch, isLive, loadVersion } from './state.ts';

/** What the ops of one changeset do to the index. */
export interface AppliedOps {
  /** In the order of the ops, at most two of an op. */
  readonly touches: readonly Touch[];
  /** The states that corrections made. */
  readonly versions: readonly Version[];
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
    chosenIds: new Map(),
  };
  const touches: Touch[] = [];
  let activeChange = 0;
  for (const op of changeset.ops) {
    const changes = new Map(changesOf(draft, op).map((change) => [change.memory, change]));
    for (const change of changes.values()) {
      const linked = [...changes.keys()].find((memory) => memory !== change.memory);
      const touch: Touch = { ...change, key: opNumber(changeset.seq, op.ordinal), chain, linked };
      activeChange += Number(isLive(touch)) - Number(isLive(current(draft, touch.memory)));
      draft.touched.set(touch.memory, touch);
      touches.push(touch);
    }
  }
  return { touches, versions: [...draft.versions.values()], chosenIds: draft.chosenIds, activeChange };
}

/** Writes what `applyOps` found. */
export function writeApplied(db: WritableDb, projectId: string, applied: AppliedOps): void {
  for (const [number, memoryId] of applied.chosenIds) insertChosenId(db, number, projectId, memoryId);
  for (const version of applied.versions) insertVersion(db, version);
  for (const touch of applied.touches) insertTouch(db, touch);
}

/** What one op changes; a later change of the same memory stands. */
function changesOf(draft: Draft, op: Op): readonly Change[] {
  switch (op.op_type) {
    case 'add_memory':
      return startMemory(draft, op);
    case 'correct_memory':
      return correctMemory(draft, op);
    case 'supersede_memory':
      return [...retire(draft, op, 'superseded'), ...startMemory(draft, op)];
    case 'add_relationship':
    case 'mark_duplicate':
    case 'propose_deprecation':
    case 'attach_evidence':
    case 'attach_verification':
      return [];
  }
}

function startMemory(draft: Draft, op: Op): readonly Change[] {
  const payload = op.payload ?? {};
  if (!hasContent(payload)) return [];
  const version = opNumber(draft.changeset.seq, op.ordinal);
  return [{ memory: nameMemory(draft, op, chosenIdOf(op)), version, status: statusOf(payload.content) }];
}

function retire(draft: Draft, op: Op, status: TouchStatus): readonly Change[] {
  const memory = findNumber(draft, op.target_event_id);
  const before = memory === undefined ? undefined : current(draft, memory);
  return before === undefined ? [] : [{ memory: before.memory, version: before.version, status }];
}

function correctMemory(draft: Draft, op: Op): readonly Change[] {
  const memory = findNumber(draft, op.target_event_id);
  const before = memory === undefined ? undefined : current(draft, memory);
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

/** Active unless the content is blank; content that the op did not set is blank when it was. */
function statusAfter(draft: Draft, before: Touch, setContent: JsonObject | undefined): TouchStatus {
  if (setContent !== undefined) return statusOf(setContent.content);
  if (before.status === 'active') return 'active';
  const { db } = draft.sight;
  return statusOf(readVersion(versionOf(draft, before.version), (op) => readPayload(db, op)).content);
}

function versionOf(draft: Draft, op: number): Version {
  return draft.versions.get(op) ?? loadVersion(draft.sight.db, op);
}

function statusOf(content: unknown): TouchStatus {
  return typeof content === 'string' && !isBlank(content) ? 'active' : 'blank';
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
