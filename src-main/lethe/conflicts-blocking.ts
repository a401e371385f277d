import { changesetIdSchema, type ProjectId } from '../../src-preload/contract/ids.ts';
import { Fault } from '../base/fault.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import { detectConflicts } from './detection.ts';
import { changesetIdOf } from './projection/identity.ts';
import { newestCommonAncestor, openSight } from './projection/sight.ts';
import { listStatusesOfFinding } from './tables/conflicts.ts';

/**
 * The id of a blocking conflict between a target's head and a proposal's side that nobody resolved (`lethe.md` §0.1): what
 * detection finds for itself, whether somebody kept it or not. A resolution counts under whatever base it was
 * declared. Cost follows what the sides changed.
 * @param leftSeq and rightSeq: changeset numbers of one project
 */
export function findOpenBlocking(
  db: ReadableDb,
  projectId: ProjectId,
  leftSeq: number,
  rightSeq: number,
): string | undefined {
  const base = newestCommonAncestor(openSight(db), leftSeq, rightSeq);
  const [baseChangesetId, leftChangesetId, rightChangesetId] = [base, leftSeq, rightSeq].map((seq) =>
    changesetIdOf(db, seq),
  );
  const sides = {
    projectId,
    baseChangesetId: changesetIdSchema.parse(baseChangesetId),
    leftChangesetId: changesetIdSchema.parse(leftChangesetId),
    rightChangesetId: changesetIdSchema.parse(rightChangesetId),
  };
  for (const finding of detectConflicts(db, sides)) {
    if (finding.severity !== 'blocking') continue;
    const kept = listStatusesOfFinding(db, projectId, leftSeq, rightSeq, finding.conflict_key);
    if (kept.some(({ status }) => status === 'resolved')) continue;
    return kept.find(({ status }) => status === 'open')?.conflict_id ?? finding.conflict_id;
  }
  return undefined;
}

/** Refuses a move while `findOpenBlocking` finds something. Throws OPEN_CONFLICT. */
export function requireNoOpenBlocking(db: ReadableDb, projectId: ProjectId, leftSeq: number, rightSeq: number): void {
  const conflictId = findOpenBlocking(db, projectId, leftSeq, rightSeq);
  if (conflictId === undefined) return;
  throw new Fault('OPEN_CONFLICT', `open blocking conflict ${conflictId}: resolve it, then merge again.`, {
    conflict_id: conflictId,
  });
}
