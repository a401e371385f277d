import type { Op } from '../../../src-preload/contract/changeset.ts';
import type { JsonObject } from '../../../src-preload/contract/json.ts';
import { isBlank } from '../../canonical/text.ts';
import { opNumber } from '../rules/numbers.ts';
import { hasContent, overlayVersion, readVersion } from '../rules/overlay.ts';
import type { Place } from '../tables/chains.ts';
import { insertChosenId } from '../tables/memory-ids.ts';
import { insertTouch, type Touch, type TouchStatus } from '../tables/touches.ts';
import { insertVersion } from '../tables/versions.ts';
import { chosenIdOf, findMemoryNumber, madeMemoryId } from './identity.ts';
import type { WritableSight } from './sight.ts';
import { findNewestTouch, isLive, loadVersion, readPayload } from './state.ts';

/** What the ops of one changeset did to the index. */
export interface AppliedOps {
  readonly touches: number;
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
  readonly sight: WritableSight;
  readonly changeset: AppliedChangeset;
  readonly parents: readonly Place[];
  readonly chain: number;
  /** Newest touch of each memory that the ops have come across: of the parents, or of this changeset. */
  readonly touched: Map<number, Touch | undefined>;
  /** Ids that this changeset named first. */
  readonly named: Map<string, number>;
}

type Change = Pick<Touch, 'memory' | 'version' | 'status'>;

/**
 * Applies the ops of a changeset over the state of its parents and writes what they touch (`L90`, `lethe.md` §5.6).
 * An op that finds no target touches nothing, as in the replay; validation has refused it before for every commit.
 */
export function applyOps(sight: WritableSight, changeset: AppliedChangeset, parents: readonly Place[], chain: number): AppliedOps {
  const draft: Draft = { sight, changeset, parents, chain, touched: new Map(), named: new Map() };
  let touches = 0;
  let activeChange = 0;
  for (const op of changeset.ops) {
    const changes = new Map(changesOf(draft, op).map((change) => [change.memory, change]));
    for (const change of changes.values()) {
      const linked = [...changes.keys()].find((memory) => memory !== change.memory);
      const touch: Touch = { ...change, key: opNumber(changeset.seq, op.ordinal), chain, linked };
      activeChange += Number(isLive(touch)) - Number(isLive(current(draft, touch.memory)));
      insertTouch(sight.db, touch);
      draft.touched.set(touch.memory, touch);
      touches += 1;
    }
  }
  return { touches, activeChange };
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
  const after = overlayVersion(loadVersion(draft.sight.db, before.version), key, payload);
  insertVersion(draft.sight.db, renamed ? { ...after, introduced: key } : after);
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
  return statusOf(readVersion(loadVersion(db, before.version), (op) => readPayload(db, op)).content);
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
  if (chosenId !== undefined) insertChosenId(draft.sight.db, number, draft.changeset.projectId, chosenId);
  return number;
}
