import type { Conflict } from '../../src-preload/contract/conflict.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import type { ConflictSides } from './conflict-api.ts';
import { detectConflicts } from './detection.ts';

/** Detection that does not look twice: changesets do not change, so between the same ones the answer is the same for ever (`L330`). */
export interface Detector {
  /** What `detectConflicts` finds. Throws what it throws; nothing of that is kept. */
  detect(db: ReadableDb, sides: ConflictSides): readonly Conflict[];
  /**
   * The same for those who ask for severities and keys alone, which do not hang on the declared base: found under whatever base was
   * asked last for this left and right, else under the one given.
   */
  detectUnderAnyBase(db: ReadableDb, sides: ConflictSides): readonly Conflict[];
}

/** Pairs of changesets, and findings of all of them together, that are kept. */
const pairsMax = 16;
const findingsMax = 1_000;

interface Kept {
  readonly baseChangesetId: string;
  readonly conflicts: readonly Conflict[];
}

/** Opens a detector that keeps the newest few answers, under the base that was asked last; one that is too long is not kept. */
export function openDetector(): Detector {
  const kept = new Map<string, Kept>();
  const detect: Detector['detect'] = (db, sides) => {
    const known = kept.get(pairOf(sides));
    if (known?.baseChangesetId === sides.baseChangesetId) return known.conflicts;
    const conflicts = detectConflicts(db, sides);
    keep(kept, pairOf(sides), { baseChangesetId: sides.baseChangesetId, conflicts });
    return conflicts;
  };
  return {
    detect,
    detectUnderAnyBase: (db, sides) => kept.get(pairOf(sides))?.conflicts ?? detect(db, sides),
  };
}

function pairOf({ projectId, leftChangesetId, rightChangesetId }: ConflictSides): string {
  return `${projectId}\n${leftChangesetId}\n${rightChangesetId}`;
}

function keep(kept: Map<string, Kept>, pair: string, found: Kept): void {
  kept.delete(pair);
  if (found.conflicts.length > findingsMax) return;
  kept.set(pair, found);
  let findings = [...kept.values()].reduce((sum, { conflicts }) => sum + conflicts.length, 0);
  for (const [oldest, { conflicts }] of kept) {
    if (kept.size <= pairsMax && findings <= findingsMax) return;
    kept.delete(oldest);
    findings -= conflicts.length;
  }
}
