import { describe, expect, test } from 'vitest';
import { conflictIdentity } from '../../src-main/canonical/conflict-digest.ts';
import { detectConflicts } from '../../src-main/lethe/detection.ts';
import { listUndecided } from '../../src-main/lethe/projection/contested.ts';
import { memoryIdOf } from '../../src-main/lethe/projection/identity.ts';
import { openSight } from '../../src-main/lethe/projection/sight.ts';
import { openReplay } from '../../src-main/lethe/rules/replay.ts';
import type { Conflict } from '../../src-preload/contract/conflict.ts';
import { changesetIdSchema } from '../../src-preload/contract/ids.ts';
import { detectFromScratch, type SaidFinding } from './detection-twin.ts';
import { type HistoryStore, historyProject, openHistoryStore } from './history-store.ts';
import { seededRandom } from './random.ts';
import { growClaims } from './random-claims.ts';

const histories = 300;
const chunks = 6;

describe.each(Array.from({ length: chunks }, (_, chunk) => chunk))(
  'detection in random histories, part %i',
  (chunk) => {
    test('L179 L161 L169 detection equals a comparison of all pairs of plain replays', () => {
      const store = openHistoryStore();
      let found = 0;
      try {
        for (let seed = chunk; seed < histories; seed += chunks) found += checkSeed(store, seed + 20_000);
      } finally {
        store.close();
      }
      expect(found).toBeGreaterThan(300);
    }, 120_000);
  },
);

/** Answers how many conflicts were compared. Histories of one store share nothing but the ids that their ops give. */
function checkSeed(store: HistoryStore, seed: number): number {
  const random = seededRandom(seed);
  const heads = growClaims(store, random, 20 + random.below(30));
  const replay = openReplay(store.history);
  let found = 0;
  for (let pair = 0; pair < 5; pair += 1) {
    const [left, right] = [random.pick(heads), random.pick(heads)];
    const where = `seed ${seed}, ${left} and ${right}`;
    const conflicts = detect(store, left, right);
    expect(conflicts.map(said).toSorted(bySaid), where).toEqual(
      detectFromScratch(store, replay, left, right).toSorted(bySaid),
    );
    if (pair === 0) expect(detect(store, left, right), where).toEqual(conflicts);
    checkUndecided(store, left, right, conflicts, where);
    found += conflicts.length;
  }
  return found;
}

/** Whatever a merge would have to decide about is a conflict that blocks it. */
function checkUndecided(
  store: HistoryStore,
  left: number,
  right: number,
  conflicts: readonly Conflict[],
  where: string,
): void {
  const blocking = conflicts.filter(({ severity }) => severity === 'blocking');
  const named = new Set(blocking.map(({ details }) => details?.memory_id));
  const { contested } = listUndecided(openSight(store.db), left, right, new Set());
  for (const memory of contested) expect(named, where).toContain(memoryIdOf(store.db, memory));
}

function detect(store: HistoryStore, left: number, right: number): readonly Conflict[] {
  const idOf = (seq: number): ReturnType<typeof changesetIdSchema.parse> => changesetIdSchema.parse(store.idOf(seq));
  return detectConflicts(store.db, {
    projectId: historyProject,
    baseChangesetId: idOf(1),
    leftChangesetId: idOf(left),
    rightChangesetId: idOf(right),
  }).filter(({ conflict_type }) => conflict_type !== 'stale_base');
}

function said(conflict: Conflict): SaidFinding {
  const ids = conflict.details?.memory_ids;
  return {
    type: conflict.conflict_type,
    about: conflictIdentity(conflict),
    memoryIds: Array.isArray(ids) ? ids.map((id) => String(id)) : [],
  };
}

function bySaid(one: SaidFinding, other: SaidFinding): number {
  return `${one.type} ${one.about}` < `${other.type} ${other.about}` ? -1 : 1;
}
