import { describe, expect, test } from 'vitest';
import { isBlank } from '../../src-main/canonical/text.ts';
import { listChanges } from '../../src-main/lethe/projection/changes.ts';
import { memoryIdOf } from '../../src-main/lethe/projection/identity.ts';
import { listAddedRelationships } from '../../src-main/lethe/projection/relationships.ts';
import { openSight } from '../../src-main/lethe/projection/sight.ts';
import { opNumber } from '../../src-main/lethe/rules/numbers.ts';
import {
  openReplay,
  type Replay,
  type Replayed,
  type ReplayedRelationship,
  type ReplayedTouch,
} from '../../src-main/lethe/rules/replay.ts';
import type { ReplayedMemory } from '../../src-main/lethe/rules/replay-ops.ts';
import { type HistoryStore, openHistoryStore } from './history-store.ts';
import { howMany } from './how-many.ts';
import { seededRandom } from './random.ts';
import { growHistory } from './random-history.ts';
import { touchLog } from './touch-log.ts';

const histories = howMany(300);
const chunks = 10;

describe.each(Array.from({ length: chunks }, (_, chunk) => chunk))('diffs of random histories, part %i', (chunk) => {
  test('L110 L114 L115 L138 a diff equals the comparison of two plain replays', () => {
    for (let seed = chunk; seed < histories; seed += chunks) checkSeed(seed + 10_000);
  }, 60_000);
});

/** One change as both sides of the comparison say it. */
interface Said {
  readonly op: number;
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly relation: string;
}

function checkSeed(seed: number): void {
  const random = seededRandom(seed);
  const store = openHistoryStore();
  try {
    growHistory(store, random, 45 + random.below(35));
    const heads = [...store.history.keys()];
    const replay = openReplay(store.history);
    for (let pair = 0; pair < 15; pair += 1) {
      const base = random.pick(heads);
      const target = random.pick(heads);
      checkRelationships(store, replay, base, target, `seed ${seed}, ${base} to ${target}`);
      for (const side of ['both', 'target'] as const) {
        const where = `seed ${seed}, ${base} to ${target}, ${side}`;
        const wanted = diffFromScratch(replay, base, target, side);
        expect(changesOf(store, base, target, side, 0), where).toEqual(wanted);
        const after = wanted[Math.floor(wanted.length / 2)]?.op ?? 0;
        expect(changesOf(store, base, target, side, after), `${where}, second page`).toEqual(
          wanted.filter((said) => said.op > after),
        );
      }
    }
  } finally {
    store.close();
  }
}

/** Relationships that the target has and the base has not, whole and from the middle on. */
function checkRelationships(store: HistoryStore, replay: Replay, base: number, target: number, where: string): void {
  const [atBase, atTarget] = [replay.at(base), replay.at(target)];
  const baseHas = new Set(atBase.changesets);
  const had = new Set(atBase.relationships().map(opOf));
  for (const side of ['both', 'target'] as const) {
    const wanted = atTarget
      .relationships()
      .filter((one) => !had.has(opOf(one)))
      .flatMap((one) => {
        const by = baseHas.has(one.seq) ? restoredBy(atBase, atTarget, one.from, side) : opOf(one);
        return by === undefined ? [] : [{ op: opOf(one), by }];
      })
      .toSorted((one, other) => one.by - other.by || one.op - other.op);
    const sight = openSight(store.db);
    const added = (after: number): readonly unknown[] =>
      [...listAddedRelationships(sight, sight.places.get(base), sight.places.get(target), side, after)].flatMap(
        ({ by, row }) => (row === undefined ? [] : [{ op: row.op, by }]),
      );
    expect(added(0), `${where} ${side}`).toEqual(wanted);
    const after = wanted[Math.floor(wanted.length / 2)]?.by ?? 0;
    expect(added(after), `${where} ${side}, second page`).toEqual(wanted.filter(({ by }) => by > after));
  }
}

/** The touch by which a relationship that both sides see is shown at the target alone: of the target, else of the base. */
function restoredBy(base: Replayed, target: Replayed, memory: string, side: 'both' | 'target'): number | undefined {
  const [onBase, onTarget] = [base.states.get(memory), target.states.get(memory)];
  if (onTarget !== undefined && !base.changesets.includes(onTarget.seq)) return onTarget.key;
  return side === 'both' ? onBase?.key : undefined;
}

function opOf({ seq, ordinal }: ReplayedRelationship): number {
  return opNumber(seq, ordinal);
}

function changesOf(
  store: HistoryStore,
  base: number,
  target: number,
  side: 'both' | 'target',
  after: number,
): readonly Said[] {
  const sight = openSight(store.db);
  const id = (memory: number | undefined): string | undefined =>
    memory === undefined ? undefined : memoryIdOf(store.db, memory);
  const said = [...listChanges(sight, sight.places.get(base), sight.places.get(target), side, after)].map((change) => ({
    op: change.op,
    before: id(change.before?.memory),
    after: id(change.after?.memory),
    relation: change.relation,
  }));
  expect(said.map((one) => one.op)).toEqual(said.map((one) => one.op).toSorted((one, other) => one - other));
  return inOrder(said);
}

/** By op; two changes of one op by the memory. */
function inOrder(said: readonly Said[]): readonly Said[] {
  return said.toSorted(
    (one, other) => one.op - other.op || compare(one.after ?? one.before, other.after ?? other.before),
  );
}

function diffFromScratch(replay: Replay, base: number, target: number, side: 'both' | 'target'): readonly Said[] {
  const atBase = replay.at(base);
  const atTarget = replay.at(target);
  const baseHas = new Set(atBase.changesets);
  const targetHas = new Set(atTarget.changesets);
  const [baseLog, targetLog] = [touchLog(replay, base).toSorted(byKey), touchLog(replay, target).toSorted(byKey)];
  const own = targetLog.filter((touch) => !baseHas.has(touch.seq));
  const theirs = baseLog.filter((touch) => !targetHas.has(touch.seq));
  const live = (memory: ReplayedMemory | undefined): boolean => memory?.active === true && !isBlank(memory.content);
  const liveBase = (id: string): boolean => live(atBase.memories.get(id));
  const liveTarget = (id: string): boolean => live(atTarget.memories.get(id));
  // A side touched a memory when its state there is one that the other side has not seen.
  const touched = (at: Replayed, otherHas: ReadonlySet<number>): ReadonlySet<string> =>
    new Set([...at.states].flatMap(([id, { seq }]) => (otherHas.has(seq) ? [] : [id])));
  const [ownTouched, theirTouched] = [touched(atTarget, baseHas), touched(atBase, targetHas)];

  const hasHeir = (id: string): boolean => {
    const heir = findHeir(targetLog, id, liveTarget);
    return heir !== undefined && !liveBase(heir);
  };

  const said: Said[] = [];
  for (const id of ownTouched) {
    const op = atTarget.states.get(id)?.key ?? 0;
    const apart = theirTouched.has(id);
    const before = liveBase(id) ? id : undefined;
    if (liveTarget(id)) {
      const origin = before ?? findOrigin(own, id, liveBase);
      const relation =
        apart && (before !== undefined || origin === undefined) ? 'apart' : origin === undefined ? 'new' : 'grown';
      said.push({ op, before: origin, after: id, relation });
    } else if (before !== undefined && !hasHeir(id)) {
      said.push({ op, before, after: undefined, relation: apart ? 'apart' : 'gone' });
    }
  }
  if (side === 'both') {
    for (const id of theirTouched) {
      if (ownTouched.has(id)) continue;
      const op = atBase.states.get(id)?.key ?? 0;
      if (liveBase(id)) {
        const origin = liveTarget(id) ? id : findOrigin(theirs, id, liveTarget);
        const told = origin !== undefined && !ownTouched.has(origin);
        said.push({ op, before: id, after: told ? origin : undefined, relation: told ? 'grown' : 'gone' });
      } else if (liveTarget(id)) {
        const heir = findHeir(baseLog, id, liveBase);
        const told = heir !== undefined && !liveTarget(heir) && !ownTouched.has(heir);
        if (!told) said.push({ op, before: undefined, after: id, relation: 'new' });
      }
    }
  }
  return inOrder(said);
}

/** The nearest memory, back over the links of one side, that is live at the other. */
function findOrigin(log: readonly ReplayedTouch[], id: string, live: (id: string) => boolean): string | undefined {
  let upTo = Number.POSITIVE_INFINITY;
  for (let at = id; ; ) {
    const link = log.findLast((touch) => touch.memory === at && touch.from !== undefined && touch.key <= upTo);
    if (link?.from === undefined || live(link.from)) return link?.from;
    upTo = link.key;
    at = link.from;
  }
}

/** The first memory, on over what retired memories became, that is live there. */
function findHeir(log: readonly ReplayedTouch[], id: string, live: (id: string) => boolean): string | undefined {
  let link = log.findLast((touch) => touch.memory === id);
  while (link?.to !== undefined) {
    const next: string = link.to;
    if (live(next)) return next;
    link = log.findLast((touch) => touch.memory === next);
  }
  return undefined;
}

function byKey(one: ReplayedTouch, other: ReplayedTouch): number {
  return one.key - other.key;
}

function compare(one: string | undefined, other: string | undefined): number {
  return (one ?? '') < (other ?? '') ? -1 : 1;
}
