import { describe, expect, test } from 'vitest';
import { conflictIdentity } from '../../src-main/canonical/conflict-digest.ts';
import { detectConflicts } from '../../src-main/lethe/detection.ts';
import { listUndecided } from '../../src-main/lethe/projection/contested.ts';
import { memoryIdOf } from '../../src-main/lethe/projection/identity.ts';
import { openSight } from '../../src-main/lethe/projection/sight.ts';
import { openReplay, type Replay } from '../../src-main/lethe/rules/replay.ts';
import type { Conflict } from '../../src-preload/contract/conflict.ts';
import { changesetIdSchema } from '../../src-preload/contract/ids.ts';
import { detectFromScratch, type SaidFinding } from './detection-twin.ts';
import { type HistoryStore, historyProject, type OpDraft, openHistoryStore } from './history-store.ts';
import { howMany } from './how-many.ts';
import { seededRandom } from './random.ts';
import { claim, growClaims, lineOps } from './random-claims.ts';

const histories = howMany(300);
const chunks = 6;

describe.each(Array.from({ length: chunks }, (_, chunk) => chunk))(
  'detection in random histories, part %i',
  (chunk) => {
    test('L179 L161 L162 L169 detection equals a comparison of all pairs of plain replays', () => {
      const store = openHistoryStore();
      let found = 0;
      try {
        for (let seed = chunk; seed < histories; seed += chunks) found += checkSeed(store, seed + 20_000);
      } finally {
        store.close();
      }
      expect(found).toBeGreaterThan(histories);
    }, 120_000);
  },
);

describe('the order in which two sides were committed', () => {
  test('L160 changes neither what is found nor under which keys', () => {
    let found = 0;
    for (let seed = 0; seed < 25; seed += 1) found += checkOrders(seed + 30_000);
    expect(found).toBeGreaterThan(100);
  }, 120_000);
});

/** Two stores with the same two sides, committed one after the other in one of them and mixed in the other. */
function checkOrders(seed: number): number {
  const random = seededRandom(seed);
  const known = Array.from({ length: 8 }, (_, index) => `base-${index}`);
  const base = known.map((id): OpDraft => ({ op_type: 'add_memory', resulting_event_id: id, payload: claim(random) }));
  const lines = ['left', 'right'].map((line) =>
    Array.from({ length: 6 }, (_, step) => lineOps(random, line, known, step)),
  );
  const orders = [
    [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1],
    [1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0],
    [0, 1, 1, 0, 0, 1, 1, 1, 0, 0, 1, 0],
  ];
  const answers = orders.map((order) => {
    const store = openHistoryStore();
    try {
      const at = store.commit([store.commit([], [])], base);
      const heads = [at, at];
      const next = [0, 0];
      for (const side of order) {
        heads[side] = store.commit([heads[side] ?? at], lines[side]?.[next[side] ?? 0] ?? []);
        next[side] = (next[side] ?? 0) + 1;
      }
      return detect(store, heads[0] ?? at, heads[1] ?? at).map((conflict) => [conflict.conflict_key, said(conflict)]);
    } finally {
      store.close();
    }
  });
  const sorted = answers.map((answer) => answer.toSorted());
  expect(sorted[1], `seed ${seed}`).toEqual(sorted[0]);
  expect(sorted[2], `seed ${seed}`).toEqual(sorted[0]);
  return answers[0]?.length ?? 0;
}

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
    checkTouched(replay, left, right, conflicts, where);
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

/** Nothing is said of a memory that only one side touched, but that it does not go with another one; and nothing of what neither did. */
function checkTouched(
  replay: Replay,
  left: number,
  right: number,
  conflicts: readonly Conflict[],
  where: string,
): void {
  const [onLeft, onRight] = [replay.at(left).changesets, replay.at(right).changesets];
  const touchedOn = (side: readonly number[], other: readonly number[]): ReadonlySet<string> =>
    new Set(
      side.filter((seq) => !other.includes(seq)).flatMap((seq) => replay.touchesOf(seq).map(({ memory }) => memory)),
    );
  const [ofLeft, ofRight] = [touchedOn(onLeft, onRight), touchedOn(onRight, onLeft)];
  for (const conflict of conflicts) {
    const { type, memoryIds } = said(conflict);
    if (type === 'identity_collision' || type === 'concurrent_edit')
      expect(
        memoryIds.every((id) => ofLeft.has(id) && ofRight.has(id)),
        `${where}: ${type} of ${memoryIds.join(', ')}`,
      ).toBe(true);
    else if (ofPairs.has(type))
      expect(
        memoryIds.some((id) => ofLeft.has(id) || ofRight.has(id)),
        `${where}: ${type} of ${memoryIds.join(', ')}`,
      ).toBe(true);
  }
}

const ofPairs: ReadonlySet<string> = new Set([
  'duplicate_content',
  'contradictory_decision',
  'protected_decision',
  'incompatible_fact',
]);

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
