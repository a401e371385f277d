import { type ChangesetId, changesetIdSchema, type ProjectId } from '../../src-preload/contract/ids.ts';
import { fromTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import type { HeadSelector } from './api.ts';
import { changesetNotFound, getChangesetRow } from './changeset-rows.ts';
import { findOldestOnLine } from './projection/line.ts';
import { openSight, type Sight, sees } from './projection/sight.ts';
import { getRef } from './refs.ts';
import { findChangesetRowBySeq } from './tables/changesets.ts';
import { findFirstMove, findMoveAt } from './tables/ref-moves.ts';

/** The changeset that a read is about. */
export interface SelectedHead {
  readonly projectId: ProjectId;
  /** Changeset number. */
  readonly seq: number;
  readonly changesetId: ChangesetId;
}

/**
 * The state that a selector stands for (`L100`): the ref's head now; a named changeset that this head contains; or where the
 * ref stood at a moment (`lethe.md` §0.2), before its first move the newest first-parent ancestor made by then.
 * Throws INPUT_INVALID (head and moment together), PROJECT_NOT_FOUND, REF_NOT_FOUND, CHANGESET_NOT_FOUND,
 * HEAD_NOT_REACHABLE, STATE_NOT_FOUND.
 */
export function selectHead(db: ReadableDb, selector: HeadSelector, sight: Sight = openSight(db)): SelectedHead {
  const { projectId, refName, headChangesetId, at } = selector;
  if (headChangesetId !== undefined && at !== undefined) {
    throw new Fault('INPUT_INVALID', 'at: a head and a moment were both given. Name one of them.', { field: 'at' });
  }
  const { headSeq, ref } = getRef(db, projectId, refName);
  if (headChangesetId !== undefined) return selectNamed(db, sight, selector, headChangesetId, headSeq);
  if (at !== undefined) return selectMoment(db, sight, selector, fromTimestamp(at));
  return { projectId, seq: headSeq, changesetId: ref.head_changeset_id };
}

function selectNamed(
  db: ReadableDb,
  sight: Sight,
  selector: HeadSelector,
  changesetId: ChangesetId,
  refHead: number,
): SelectedHead {
  const row = getChangesetRow(db, changesetId, 'head_changeset_id');
  if (row.project_id !== selector.projectId) throw changesetNotFound(changesetId, 'head_changeset_id');
  if (sees(sight, refHead, row.seq)) return { projectId: selector.projectId, seq: row.seq, changesetId };
  throw new Fault(
    'HEAD_NOT_REACHABLE',
    'head_changeset_id: this changeset is not reachable from the ref. Name a ref that contains it.',
    {
      ref: selector.refName,
      head_changeset_id: changesetId,
    },
  );
}

function selectMoment(db: ReadableDb, sight: Sight, selector: HeadSelector, atMs: number): SelectedHead {
  const { projectId, refName } = selector;
  const moved = findMoveAt(db, projectId, refName, atMs);
  if (moved !== undefined) {
    const row = getChangesetRow(db, moved.to_head, 'at');
    return { projectId, seq: row.seq, changesetId: changesetIdSchema.parse(row.changeset_id) };
  }
  const first = findFirstMove(db, projectId, refName);
  const seq = first === undefined ? 0 : findMadeBy(db, sight, getChangesetRow(db, first.to_head, 'at').seq, atMs);
  const row = seq === 0 ? undefined : findChangesetRowBySeq(db, seq);
  if (row !== undefined) return { projectId, seq: row.seq, changesetId: changesetIdSchema.parse(row.changeset_id) };
  throw new Fault('STATE_NOT_FOUND', 'at: this ref has no state at that moment, it began later. Give a later moment.', {
    field: 'at',
    ref: refName,
  });
}

/** The newest changeset on the first-parent line of a head that was made by a moment, or 0. */
function findMadeBy(db: ReadableDb, sight: Sight, head: number, atMs: number): number {
  const madeLater = (seq: number): boolean => (findChangesetRowBySeq(db, seq)?.created_ms ?? 0) > atMs;
  if (!madeLater(head)) return head;
  return findOldestOnLine(sight, sight.places.get(head), (place) => madeLater(place.seq)).firstParent;
}
