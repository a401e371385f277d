import { describe, expect, test } from 'vitest';
import { openAccepted } from '../../src-main/lethe/projection/accepted.ts';
import { listContested, listUndecided } from '../../src-main/lethe/projection/contested.ts';
import { findMemoryNumber, memoryIdOf } from '../../src-main/lethe/projection/identity.ts';
import { walkRecency } from '../../src-main/lethe/projection/recency.ts';
import { listRelatedOps, readRelationship } from '../../src-main/lethe/projection/relationships.ts';
import { newestCommonAncestor, openSight, type Sight, sees } from '../../src-main/lethe/projection/sight.ts';
import { findNewestTouch } from '../../src-main/lethe/projection/state.ts';
import { opNumber } from '../../src-main/lethe/rules/numbers.ts';
import { listRecent, openReplay, type Replayed } from '../../src-main/lethe/rules/replay.ts';
import type { ReplayedAttachment, ReplayedMemory } from '../../src-main/lethe/rules/replay-ops.ts';
import type { Place } from '../../src-main/lethe/tables/chains.ts';
import type { JsonObject } from '../../src-preload/contract/json.ts';
import { type HistoryStore, historyProject, openHistoryStore, tentatively } from './history-store.ts';
import { howMany } from './how-many.ts';
import { type Random, seededRandom } from './random.ts';
import { growHistory } from './random-history.ts';
import { bereftOf } from './stand-ins.ts';

const histories = howMany(300);
const chunks = 10;

describe.each(Array.from({ length: chunks }, (_, chunk) => chunk))('random histories, part %i', (chunk) => {
  test('L80 L81 L82 L83 L84 L86 L87 L90 L91 L92 L94 L95 L130 L131 L132 L134 L135 L142 L143 L144 L145 L147 L150 L151 L241 L243 the index equals a plain replay at every head', () => {
    for (let seed = chunk; seed < histories; seed += chunks) checkSeed(seed);
  }, 60_000);
});

function checkSeed(seed: number): void {
  const random = seededRandom(seed);
  const store = openHistoryStore(
    {
      pageEvery: 2 + random.below(9),
      pageSize: 1 + random.below(8),
      scanMax: 10 + random.below(20),
    },
    seed % 3 === 0 ? 1 + (seed % 23) : 0,
  );
  try {
    growHistory(store, random, 45 + random.below(35));
    const replay = openReplay(store.history);
    const replays = new Map([...store.history.keys()].map((head) => [head, replay.at(head)]));
    for (const [head, replayed] of replays) checkHead(store, random, head, replayed, `seed ${seed}, head ${head}`);
    checkPairs(store, random, replays, `seed ${seed}`);
  } finally {
    store.close();
  }
}

function checkHead(store: HistoryStore, random: Random, head: number, replayed: Replayed, where: string): void {
  // Half of the heads look for states chain by chain almost at once.
  const sight = { ...openSight(store.db), unseenTouchesMax: random.chance(0.5) ? 2 : 16 };
  const place = sight.places.get(head);
  const reachable = new Set(replayed.changesets);
  const wrong = [...store.history.keys()].filter((seq) => sees(sight, head, seq) !== reachable.has(seq));
  expect(wrong, `${where} reachability`).toEqual([]);

  const recent = listRecent(replayed);
  expect(place.active, `${where} active`).toBe(recent.length);
  if (random.chance(0.5)) checkRecency(store, random, sight, place, recent, where);
  if (random.chance(0.2)) checkRelationships(store, random, sight, place, replayed, where);
  const accepted = openAccepted(store.db);
  const known = new Set(recent.map((memory) => memory.memoryId));
  for (const memory of replayed.memories.values()) {
    const number = findMemoryNumber(store.db, historyProject, memory.memoryId);
    const touch = number === undefined ? undefined : findNewestTouch(sight, [place], number);
    const status = statusOf(memory, known.has(memory.memoryId));
    if (touch?.status !== status) expect(touch?.status, `${where} ${memory.memoryId}`).toBe(status);
    if (touch !== undefined && random.chance(0.1))
      expect(accepted.read(touch), `${where} ${memory.memoryId}`).toEqual(acceptedFrom(memory));
  }
}

/** The whole walk, its memories read together, and a walk that starts anywhere in it. */
function checkRecency(
  store: HistoryStore,
  random: Random,
  sight: Sight,
  place: Place,
  recent: readonly ReplayedMemory[],
  where: string,
): void {
  const walked = [...walkRecency(sight, place)];
  const live = walked.flatMap((scanned) => (scanned.live === undefined ? [] : [scanned.live]));
  const ids = live.map((touch) => memoryIdOf(store.db, touch.memory));
  expect(ids, `${where} recency`).toEqual(recent.map((memory) => memory.memoryId));
  if (random.chance(0.3))
    expect(openAccepted(store.db).readAll(live), `${where} read together`).toEqual(recent.map(acceptedFrom));
  if (walked.length > 0) {
    const from = random.below(walked.length);
    const rest = [...walkRecency(sight, place, { after: walked[from]?.key })].flatMap(({ live: touch }) =>
      touch === undefined ? [] : [touch.key],
    );
    const wanted = walked.slice(from + 1).flatMap(({ live: touch }) => (touch === undefined ? [] : [touch.key]));
    expect(rest, `${where} recency after ${walked[from]?.key}`).toEqual(wanted);
  }
}

function statusOf(memory: ReplayedMemory, live: boolean): string {
  if (memory.status === 'deprecation_proposed') {
    if (!memory.active) return 'deprecation_retired';
    return live ? 'deprecation_proposed' : 'deprecation_blank';
  }
  if (memory.active) return live ? 'active' : 'blank';
  return memory.status;
}

function acceptedFrom(memory: ReplayedMemory): unknown {
  const { memoryId, active: _active, introduced, last, status, payload, tags, ...rest } = memory;
  const { evidence, verification, sourceEventId, ...fields } = rest;
  return {
    ...fields,
    memory_id: memoryId,
    status,
    ...(sourceEventId === undefined ? {} : { source_event_id: sourceEventId }),
    ...(introduced === '' ? {} : { introduced_changeset_id: introduced }),
    ...(last === '' ? {} : { last_changeset_id: last }),
    ...(tags === undefined || tags.length === 0 ? {} : { tags }),
    ...(Object.keys(payload).length === 0 ? {} : { payload }),
    ...attachedFrom('evidence', evidence),
    ...attachedFrom('verification', verification),
  };
}

/** The newest eight within 4 096 bytes, oldest first, and how many there are when that is not all. */
function attachedFrom(list: string, newest: ReplayedAttachment | undefined): JsonObject {
  const entries: JsonObject[] = [];
  for (let link = newest; link !== undefined; link = link.previous) entries.unshift(link.payload);
  if (entries.length === 0) return {};
  const bytes = (from: number): number =>
    entries.slice(from).reduce((sum, entry) => sum + Buffer.byteLength(JSON.stringify(entry)), 0);
  let from = Math.max(0, entries.length - 8);
  while (from < entries.length - 1 && bytes(from) > 4_096) from += 1;
  return { [list]: entries.slice(from), ...(from === 0 ? {} : { [`${list}_total`]: entries.length }) };
}

/** What is related to a memory, whole and from anywhere, against the replay. */
function checkRelationships(
  store: HistoryStore,
  random: Random,
  sight: Sight,
  place: Place,
  replayed: Replayed,
  where: string,
): void {
  const accepted = openAccepted(store.db);
  const relationships = replayed.relationships();
  const related = new Set(relationships.flatMap(({ from, to }) => [from, to]));
  const some = [...replayed.memories.keys()].filter((id) => related.has(id) || random.chance(0.02));
  for (const id of some) {
    const wanted = relationships
      .filter(({ from, to }) => from === id || to === id)
      .map((one) => ({ op: opNumber(one.seq, one.ordinal), one }))
      .toSorted((left, right) => right.op - left.op);
    const memory = findMemoryNumber(store.db, historyProject, id) ?? 0;
    const below = random.chance(0.5) ? Number.MAX_SAFE_INTEGER : (wanted[random.below(wanted.length)]?.op ?? 1);
    const limit = 1 + random.below(4);
    const page = wanted.filter(({ op }) => op < below).slice(0, limit);
    // Mostly few are looked at before the search goes chain by chain.
    const hasty = { ...sight, unseenTouchesMax: random.pick([2, 2, sight.unseenTouchesMax]) };
    expect(listRelatedOps(hasty, place, memory, below, limit), `${where} ${id} related`).toEqual(
      page.map(({ op }) => op),
    );
    for (const { op, one } of page.slice(0, 1)) {
      expect(readRelationship(sight, accepted, op)).toEqual({
        from_memory_id: one.from,
        to_memory_id: one.to,
        kind: one.payload.kind,
        payload: one.payload,
        changeset_id: one.changesetId,
      });
    }
  }
}

function checkPairs(store: HistoryStore, random: Random, replays: ReadonlyMap<number, Replayed>, where: string): void {
  const sight = openSight(store.db);
  const heads = [...replays.keys()];
  for (let pair = 0; pair < 30; pair += 1) {
    const left = random.pick(heads);
    const right = random.pick(heads);
    const leftHas = new Set(replays.get(left)?.changesets);
    const rightHas = new Set(replays.get(right)?.changesets);
    const shared = [...leftHas].filter((seq) => rightHas.has(seq));
    expect(newestCommonAncestor(sight, left, right), `${where} ${left} and ${right}`).toBe(Math.max(0, ...shared));
    const contested = listContested(sight, left, right).map((number) => memoryIdOf(store.db, number));
    const wanted = contestedFrom(replays.get(left), replays.get(right));
    expect(contested.toSorted(), `${where} ${left} against ${right}`).toEqual(wanted.toSorted());
    if (wanted.length === 0 || random.chance(0.2)) checkUndecided(store, left, right, `${where} ${left} with ${right}`);
  }
}

/** What a merge has to decide about: what a replay of it would touch without an op, and what would be left without a stand-in. */
function checkUndecided(store: HistoryStore, left: number, right: number, where: string): void {
  const undecided = listUndecided(openSight(store.db), left, right, new Set());
  const decided = tentatively(store, [left, right], (head) => openReplay(store.history).touchesOf(head));
  const differing = undecided.contested.map((number) => memoryIdOf(store.db, number));
  expect(decided.map(({ memory }) => memory)).toEqual(expect.arrayContaining(differing));
  // What stands for what is nobody's question while what both sides changed is not decided.
  if (decided.length > 0) return;
  expect(differing).toEqual([]);
  const bereft = undecided.bereft.map((number) => memoryIdOf(store.db, number));
  expect(bereft.toSorted(), where).toEqual(bereftOf(store, left, right));
}

/** The memories whose newest state on either side is one that the other side has not seen. */
function contestedFrom(left: Replayed | undefined, right: Replayed | undefined): readonly string[] {
  const leftHas = new Set(left?.changesets);
  const rightHas = new Set(right?.changesets);
  return [...(left?.states ?? [])].flatMap(([id, entry]) => {
    const other = right?.states.get(id);
    return other !== undefined && !rightHas.has(entry.seq) && !leftHas.has(other.seq) ? [id] : [];
  });
}
