import type { Op } from '../../../src-preload/contract/changeset.ts';
import type { WritableDb } from '../../sqlite/driver.ts';
import { opNumber } from '../rules/numbers.ts';
import { findFirstEnd, findSecondEnd } from '../rules/op-ends.ts';
import type { Version } from '../rules/overlay.ts';
import { type Attachment, insertAttachment } from '../tables/attachments.ts';
import type { Place } from '../tables/chains.ts';
import { insertChosenId } from '../tables/memory-ids.ts';
import { insertRelationship, type RelationshipRow } from '../tables/relationships.ts';
import { insertTouch, type Touch } from '../tables/touches.ts';
import { insertVersion } from '../tables/versions.ts';
import { type Draft, findMemory, openDraft } from './draft.ts';
import { applyOp } from './op-changes.ts';
import { openParents } from './parents.ts';
import { writeSemanticKeys } from './semantic-keys.ts';
import type { Sight } from './sight.ts';
import { isLive } from './state.ts';

/** What the ops of one changeset do to the index. */
export interface AppliedOps {
  /** In the order of the ops, at most two of an op; behind them one for each memory that a merge decides about without an op. */
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

/** Applies the ops of a changeset over the state of its parents (`L90`, `lethe.md` §5.6); nothing is written. */
export function applyOps(
  sight: Sight,
  changeset: AppliedChangeset,
  parents: readonly Place[],
  chain: number,
): AppliedOps {
  const { seq, projectId, changesetId } = changeset;
  const before = openParents(sight, projectId, parents);
  const draft = openDraft({ sight, projectId, parents, findBefore: before.find }, false);
  const touches: Touch[] = [];
  const relationships: RelationshipRow[] = [];
  const live = new Map<number, boolean>();
  let activeChange = 0;
  for (const op of changeset.ops) {
    relationships.push(...relate(draft, op, seq, chain));
    for (const change of applyOp(draft, { op, seq, changesetId })) {
      const { memory } = change;
      const touch: Touch = { ...change, key: opNumber(seq, op.ordinal), chain };
      activeChange += Number(isLive(touch)) - Number(live.get(memory) ?? before.isLiveBefore(memory));
      live.set(memory, isLive(touch));
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

/** The relationship of an op whose ends the parents or the ops before it know; alive or not is not asked (`L134`). */
function relate(draft: Draft, op: Op, seq: number, chain: number): readonly RelationshipRow[] {
  if (op.op_type !== 'add_relationship') return [];
  const from = findMemory(draft, findFirstEnd(op));
  const to = findMemory(draft, findSecondEnd(op));
  if (from === undefined || to === undefined) return [];
  return [{ op: opNumber(seq, op.ordinal), chain, from: from.memory, to: to.memory }];
}
