import type { ProjectId } from '../../src-preload/contract/ids.ts';
import { Fault } from '../base/fault.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import { detectConflicts } from './detection.ts';
import { changesetIdOf } from './projection/identity.ts';
import { newestCommonAncestor, openSight } from './projection/sight.ts';
import { listStatusesOfFinding } from './tables/conflicts.ts';

/**
 * Refuses a protected move while there is a blocking conflict between the target's head and the proposal's side that
 * nobody resolved (`lethe.md` §0.1): what detection finds for itself, whether somebody kept it or not. A resolution
 * counts under whatever base it was declared. Cost follows what the sides changed. Throws OPEN_CONFLICT.
 * @param leftSeq and rightSeq: changeset numbers of one project
 */
export function requireNoOpenBlocking(db: ReadableDb, projectId: ProjectId, leftSeq: number, rightSeq: number): void {
  const conflictId = findOpenBlocking(db, projectId, leftSeq, rightSeq);
  if (conflictId === undefined) return;
  throw new Fault('OPEN_CONFLICT', `open blocking conflict ${conflictId}: resolve it, then merge again.`, {
    conflict_id: conflictId,
  });
}

/** The id of what is blocking and not resolved: of the row that is open, else as detection finds it now. */
function findOpenBlocking(db: ReadableDb, projectId: ProjectId, leftSeq: number, rightSeq: number): string | undefined {
  const sides = {
    projectId,
    baseChangesetId: changesetIdOf(db, newestCommonAncestor(openSight(db), leftSeq, rightSeq)),
    leftChangesetId: changesetIdOf(db, leftSeq),
    rightChangesetId: changesetIdOf(db, rightSeq),
  };
  for (const finding of detectConflicts(db, sides)) {
    if (finding.severity !== 'blocking') continue;
    const kept = listStatusesOfFinding(db, projectId, leftSeq, rightSeq, finding.conflict_key);
    if (kept.some(({ status }) => status === 'resolved')) continue;
    return kept.find(({ status }) => status === 'open')?.conflict_id ?? finding.conflict_id;
  }
  return undefined;
}
