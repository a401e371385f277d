import type { Conflict } from '../../src-preload/contract/conflict.ts';
import type { Digest, ProjectId } from '../../src-preload/contract/ids.ts';
import { summaryBytesMax } from '../../src-preload/contract/limits.ts';
import type { Advance } from '../../src-preload/contract/proposal.ts';
import { Fault } from '../base/fault.ts';
import { utf8Length } from '../canonical/text.ts';
import type { ReadableDb, WritableDb } from '../sqlite/driver.ts';
import type { ConflictVerbs } from './conflict-api.ts';
import { conflictCauses, lifeStamp, openConflictLife } from './conflict-life.ts';
import { openConflictReader } from './conflict-rows.ts';
import { openSight, type Sight, sees } from './projection/sight.ts';
import { advanceCause } from './ref-move.ts';
import { listWaitingConflicts } from './tables/conflict-events.ts';
import { type ConflictRow, findConflictRow, findConflictRowByNumber } from './tables/conflicts.ts';
import { listOpenOfPair, listOpenPairs } from './tables/open-conflicts.ts';
import type { Emit, VerbContext } from './verb-context.ts';

/** Open → resolved, in the caller's transaction. Throws CONFLICT_NOT_FOUND, INPUT_INVALID for a note over its bound. */
export function resolveConflict(
  db: WritableDb,
  emit: Emit,
  context: VerbContext,
  input: Parameters<ConflictVerbs['resolveConflict']>[0],
): Conflict {
  const note = input.note.toWellFormed();
  if (utf8Length(note) > summaryBytesMax)
    throw new Fault('INPUT_INVALID', `resolution_note is over ${summaryBytesMax} bytes.`, { field: 'resolution_note' });
  const row = getOpen(db, input.projectId, input.conflictId);
  const stamp = lifeStamp(context.clock.nowMs(), input.principal, conflictCauses.resolve);
  openConflictLife(db, stamp).change(row.number, 'resolved', note);
  emit({ kind: 'conflicts_changed', project_id: input.projectId });
  return openConflictReader(db).read({ ...row, status: 'resolved' });
}

function getOpen(db: ReadableDb, projectId: ProjectId, conflictId: Digest): ConflictRow {
  const row = findConflictRow(db, conflictId);
  if (row?.project_id === projectId && row.status === 'open') return row;
  throw new Fault('CONFLICT_NOT_FOUND', 'conflict_id: there is no such open conflict in this project.', {
    conflict_id: conflictId,
  });
}

/**
 * Ends, in the caller's transaction, the open conflicts of a proposal that no other waiting one is bound to; from all of
 * them the proposal is released. At most `limit` are looked at: how many of them ended, and whether there are more.
 */
export function retireConflicts(
  db: WritableDb,
  emit: Emit,
  context: VerbContext,
  input: Parameters<ConflictVerbs['retireConflicts']>[0],
  limit: number,
): { readonly retired: number; readonly more: boolean } {
  const life = openConflictLife(db, lifeStamp(context.clock.nowMs(), input.principal, conflictCauses.retire));
  const proposalId = input.proposalId.toWellFormed();
  const waiting = listWaitingConflicts(db, input.projectId, proposalId, limit);
  let retired = 0;
  for (const number of waiting) {
    const othersWait = life.release(number, proposalId);
    if (othersWait || findConflictRowByNumber(db, number)?.status !== 'open') continue;
    life.change(number, input.status);
    retired += 1;
  }
  if (retired > 0) emit({ kind: 'conflicts_changed', project_id: input.projectId });
  return { retired, more: waiting.length === limit };
}

/**
 * What a landed merge leaves of open conflicts, in its transaction (`lethe.md` §0.3): those of its proposal are superseded,
 * whoever else waits for them, and so are those whose sides it brings together, for what they ask has been decided.
 * Cost follows the conflicts of the proposal and the pairs between which some are open.
 */
export function supersedeConflicts(
  db: WritableDb,
  landed: { readonly advance: Advance; readonly fromSeq: number; readonly toSeq: number },
): void {
  const { advance, fromSeq, toSeq } = landed;
  const cause = advanceCause(advance.advance_id);
  const life = openConflictLife(db, { at: advance.created_at, principal: advance.merger_principal, cause });
  const { project_id: projectId, merge_proposal_id: proposalId } = advance;
  for (const number of listWaitingConflicts(db, projectId, proposalId, Number.MAX_SAFE_INTEGER)) {
    life.release(number, proposalId);
    if (findConflictRowByNumber(db, number)?.status === 'open') life.change(number, 'superseded');
  }
  const sight = openSight(db);
  const joined = [...listOpenPairs(db, projectId)].filter(
    (pair) => seesBoth(sight, toSeq, pair) && !seesBoth(sight, fromSeq, pair),
  );
  for (const pair of joined)
    for (const { number } of listOpenOfPair(db, projectId, pair, Number.MAX_SAFE_INTEGER))
      life.change(number, 'superseded');
}

function seesBoth(sight: Sight, head: number, pair: { readonly left: number; readonly right: number }): boolean {
  return sees(sight, head, pair.left) && sees(sight, head, pair.right);
}
