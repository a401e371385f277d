import type { PartedSides } from './projection/common-state.ts';
import type { ChainRange, Sight } from './projection/sight.ts';
import { detectBoundaryViolation } from './rules/detect/boundary.ts';
import type { FindingBook } from './rules/detect/finding.ts';
import { detectScopeFlow } from './rules/detect/scope-flow.ts';
import type { SideOp } from './rules/detect/side-op.ts';
import { detectTrustDowngrade } from './rules/detect/trust-downgrade.ts';
import { decodeOp } from './tables/ops.ts';
import { listOpsOfRun, type SideOpRow } from './tables/side-ops.ts';

const changesetsPerRead = 256;

/**
 * What the ops of the changesets that only one side has say of themselves (`lethe.md` §7 rows 6 to 8, `L170` to `L172`),
 * each compared with its own changeset. The left side's count too: what one merge let through is asked again under the same key.
 */
export function detectInOps(
  sight: Sight,
  sides: PartedSides,
  memoryIdOf: (memory: number) => string,
  findings: FindingBook,
): void {
  for (const range of [...sides.leftRanges, ...sides.rightRanges]) {
    for (const row of opsOfRange(sight, range)) {
      const memoryIds = (sides.memoriesOfOp.get(row.op) ?? []).map(memoryIdOf);
      const op = toSideOp(row, memoryIds);
      for (const detect of [detectBoundaryViolation, detectScopeFlow, detectTrustDowngrade])
        for (const finding of detect(op)) findings.add(finding);
    }
  }
}

function* opsOfRange(sight: Sight, range: ChainRange): IterableIterator<SideOpRow> {
  const last = sight.places.get(range.upTo).position;
  const first = last - range.changesets;
  for (let from = first; from < last; from += changesetsPerRead)
    yield* listOpsOfRun(sight.db, range.chain, from, Math.min(from + changesetsPerRead, last));
}

function toSideOp(row: SideOpRow, memoryIds: readonly string[]): SideOp {
  return {
    op: decodeOp(row),
    changesetId: row.changeset_id,
    projectId: row.project_id,
    refName: row.ref_name,
    topicId: row.topic_id,
    actorId: row.actor_id,
    memoryIds,
  };
}
