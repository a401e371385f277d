import type { Conflict } from '../../src-preload/contract/conflict.ts';
import type { ProjectId } from '../../src-preload/contract/ids.ts';
import { Fault } from '../base/fault.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import type { Detector } from './detection-memo.ts';
import { changesetIdOf } from './projection/identity.ts';
import { newestCommonAncestor, openSight } from './projection/sight.ts';
import { listStatusesOfFinding } from './tables/conflicts.ts';

/** The two sides of a protected move, as changeset numbers of one project: the target's head, and the proposal's side. */
export interface MoveSides {
  readonly projectId: ProjectId;
  readonly leftSeq: number;
  readonly rightSeq: number;
}

/** What detection finds blocking between two sides. It is the same for ever: changesets do not change. */
export interface BlockingFindings extends MoveSides {
  readonly findings: readonly Conflict[];
}

/** Detects what blocks a protected move, whether somebody kept it or not. Cost follows what the sides changed; nothing is written. */
export function detectBlocking(
  db: ReadableDb,
  detector: Detector,
  { projectId, leftSeq, rightSeq }: MoveSides,
): BlockingFindings {
  const sides = {
    projectId,
    baseChangesetId: changesetIdOf(db, newestCommonAncestor(openSight(db), leftSeq, rightSeq)),
    leftChangesetId: changesetIdOf(db, leftSeq),
    rightChangesetId: changesetIdOf(db, rightSeq),
  };
  const findings = detector.detectUnderAnyBase(db, sides).filter(({ severity }) => severity === 'blocking');
  return { projectId, leftSeq, rightSeq, findings };
}

/**
 * Refuses a protected move while one of the blocking conflicts between the target's head and the proposal's side is resolved by
 * nobody (`lethe.md` §0.1). A resolution counts under whatever base it was declared. Cost follows the findings. Throws
 * OPEN_CONFLICT.
 */
export function requireNoOpenBlocking(db: ReadableDb, blocking: BlockingFindings): void {
  const conflictId = findOpenBlocking(db, blocking);
  if (conflictId === undefined) return;
  throw new Fault('OPEN_CONFLICT', `open blocking conflict ${conflictId}: resolve it, then merge again.`, {
    conflict_id: conflictId,
  });
}

/** The id of what is not resolved: of the row that is open, else as detection found it. */
function findOpenBlocking(
  db: ReadableDb,
  { projectId, leftSeq, rightSeq, findings }: BlockingFindings,
): string | undefined {
  for (const finding of findings) {
    const kept = listStatusesOfFinding(db, projectId, leftSeq, rightSeq, finding.conflict_key);
    if (kept.some(({ status }) => status === 'resolved')) continue;
    return kept.find(({ status }) => status === 'open')?.conflict_id ?? finding.conflict_id;
  }
  return undefined;
}
