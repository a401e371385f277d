import type { Conflict } from '../../src-preload/contract/conflict.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import { changesetNotFound, getChangesetRow } from './changeset-rows.ts';
import type { ConflictSides } from './conflict-api.ts';
import { detectInOps } from './detection-ops.ts';
import { detectInPairs } from './detection-pairs.ts';
import { defaultPairLimits, type PairLimits } from './detection-positions.ts';
import { detectOfOneMemory } from './detection-three-way.ts';
import { openAccepted } from './projection/accepted.ts';
import { readPartedSides } from './projection/common-state.ts';
import { openSight, type Sight, sees } from './projection/sight.ts';
import { requireProject } from './projects.ts';
import { composeConflicts, openFindings } from './rules/detect/finding.ts';
import { type DeclaredBase, detectStaleBase } from './rules/detect/stale-base.ts';
import { type ChangesetRow, listParents } from './tables/changesets.ts';

/**
 * What the detectors find between two sides (`ConflictVerbs.detectConflicts`, `L160`): a pure read, the same again for the
 * same three changesets. Cost follows what the sides changed and what is found, never the memory behind them.
 * Throws PROJECT_NOT_FOUND, CHANGESET_NOT_FOUND (also for one of another project).
 * @param limits beyond which a finding says that there are more (`L174`)
 */
export function detectConflicts(
  db: ReadableDb,
  sides: ConflictSides,
  limits: PairLimits = defaultPairLimits,
): readonly Conflict[] {
  requireProject(db, sides.projectId);
  const base = rowIn(db, sides, sides.baseChangesetId, 'base_changeset_id');
  const left = rowIn(db, sides, sides.leftChangesetId, 'left_changeset_id');
  const right = rowIn(db, sides, sides.rightChangesetId, 'right_changeset_id');
  const sight = openSight(db);
  const findings = openFindings();
  for (const finding of detectStaleBase(declaredBase(sight, base, left, right))) findings.add(finding);
  const parted = readPartedSides(sight, left.seq, right.seq);
  const accepted = openAccepted(db);
  detectOfOneMemory(sight, parted, accepted, findings);
  detectInPairs(sight, parted, sides, accepted, findings, limits);
  detectInOps(sight, parted, accepted.memoryId, findings);
  return composeConflicts(findings.list(), sides);
}

function rowIn(db: ReadableDb, { projectId }: ConflictSides, changesetId: string, field: string): ChangesetRow {
  const row = getChangesetRow(db, changesetId, field);
  if (row.project_id !== projectId) throw changesetNotFound(changesetId, field);
  return row;
}

function declaredBase(sight: Sight, base: ChangesetRow, left: ChangesetRow, right: ChangesetRow): DeclaredBase {
  const parentsOf = ({ seq }: ChangesetRow): readonly string[] =>
    listParents(sight.db, seq).map((parent) => parent.changeset_id);
  return {
    baseChangesetId: base.changeset_id,
    isInLeft: sees(sight, left.seq, base.seq),
    isInRight: sees(sight, right.seq, base.seq),
    leftParents: parentsOf(left),
    rightParents: parentsOf(right),
  };
}
