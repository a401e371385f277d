import { listUndecided } from '../../src-main/lethe/projection/contested.ts';
import { memoryIdOf } from '../../src-main/lethe/projection/identity.ts';
import { openSight } from '../../src-main/lethe/projection/sight.ts';
import { replay } from '../../src-main/lethe/rules/replay.ts';
import type { ReplayedMemory } from '../../src-main/lethe/rules/replay-ops.ts';
import type { JsonObject, JsonValue } from '../../src-preload/contract/json.ts';
import { type HistoryStore, type OpDraft, tentatively } from './history-store.ts';
import type { Random } from './random.ts';

/**
 * Grows a history of branches, branches of branches and merges, with ops of every kind that touches a memory, some of
 * which no validation would let through (targets that are retired or that nobody knows).
 */
export function growHistory(store: HistoryStore, random: Random, changesets: number): void {
  const heads: number[] = [store.commit([], [])];
  const chosen: string[] = [];
  while (store.history.size < changesets) {
    const dice = random.next();
    if (dice < 0.14)
      heads.push(store.commit([random.pick([...store.history.keys()])], randomOps(store, random, undefined, chosen)));
    else if (dice < 0.36 && heads.length > 1) growMerge(store, random, heads, chosen);
    else {
      const at = random.below(heads.length);
      const head = heads[at] ?? 1;
      heads[at] = store.commit([head], randomOps(store, random, head, chosen));
    }
  }
}

/**
 * Merges one branch into another. What both sides changed is decided by an op of some kind, or left to a merge that
 * overrides, as one that was made elsewhere does.
 */
function growMerge(store: HistoryStore, random: Random, heads: number[], chosen: string[]): void {
  const at = random.below(heads.length);
  const into = heads[at] ?? 1;
  const from = random.chance(0.9) ? random.pick(heads) : random.pick([...store.history.keys()]);
  if (into === from) return;
  const { contested, bereft } = listUndecided(openSight(store.db), into, from, new Set());
  const isDecided = random.chance(0.7);
  const undecided = [...new Set([...contested, ...bereft])].filter(() => isDecided || random.chance(0.5));
  const decisions = undecided.map((memory) => decide(store, random, memoryIdOf(store.db, memory), [into, from]));
  const more = random.chance(0.3)
    ? tentatively(store, [into, from], (head) => randomOps(store, random, head, chosen))
    : [];
  const ops = random.chance(0.5) ? [...decisions, ...more] : [...more, ...decisions];
  heads[at] = store.commit([into, from], ops, 'override');
}

/** An op that says what becomes of a memory that both sides changed. */
function decide(store: HistoryStore, random: Random, memory: string, [into, from]: readonly [number, number]): OpDraft {
  const dice = random.next();
  if (dice < 0.5) {
    const restores = store.idOf(dice < 0.25 ? into : from);
    return { op_type: 'correct_memory', target_event_id: memory, payload: { restores } };
  }
  if (dice < 0.7) return { op_type: 'correct_memory', target_event_id: memory, payload: randomPatch(random) };
  if (dice < 0.8)
    return {
      op_type: 'supersede_memory',
      target_event_id: memory,
      payload: { content: `instead ${random.below(99)}` },
    };
  if (dice < 0.9) return { op_type: 'supersede_memory', target_event_id: memory, payload: { summary: 'neither' } };
  return { op_type: 'attach_evidence', target_event_id: memory, payload: { note: 'decided' } };
}

/** The ops of some changeset again, with the ids that they gave, on another line. */
function pickOps(store: HistoryStore, random: Random): readonly OpDraft[] {
  const seq = random.pick([...store.history.keys()]);
  const source = store.history.get(seq);
  return (source?.ops ?? [])
    .filter(() => random.chance(0.7))
    .map(({ ordinal, ...op }) => {
      const makes =
        op.op_type === 'add_memory' || (op.op_type === 'supersede_memory' && op.payload?.content !== undefined);
      const made = op.resulting_event_id ?? `mem:${source?.changesetId}:${ordinal}`;
      return {
        ...op,
        ...(makes ? { resulting_event_id: made } : {}),
        payload: { ...op.payload, cherrypicked_from: store.idOf(seq) },
      };
    });
}

/** Ops over the state at a changeset; with none, ops on whatever memory there is anywhere. */
function randomOps(store: HistoryStore, random: Random, at: number | undefined, chosen: string[]): readonly OpDraft[] {
  if (random.chance(0.05)) return pickOps(store, random);
  const replayed = at === undefined ? undefined : replay(store.history, at);
  const memories = [...(replayed?.memories.values() ?? [])];
  const active = memories.filter((memory) => memory.active);
  const most = random.chance(0.01) ? 90 : random.chance(0.1) ? 6 : 2;
  const count = random.chance(0.1) ? 0 : 1 + random.below(most);
  return Array.from({ length: count }, () =>
    memories.length > 0 && random.chance(0.08)
      ? randomRestore(store, random, replayed?.changesets ?? [], memories)
      : randomOp(random, active, memories, chosen),
  );
}

/** Mostly a state that the line has had, of a memory that is known there; sometimes any changeset there is. */
function randomRestore(
  store: HistoryStore,
  random: Random,
  line: readonly number[],
  known: readonly ReplayedMemory[],
): OpDraft {
  const seq = random.pick(random.chance(0.9) ? line : [...store.history.keys()]);
  const restores = store.idOf(seq);
  return { op_type: 'correct_memory', target_event_id: random.pick(known).memoryId, payload: { restores } };
}

function randomOp(
  random: Random,
  active: readonly ReplayedMemory[],
  known: readonly ReplayedMemory[],
  chosen: string[],
): OpDraft {
  if (active.length > 0 && random.chance(0.3)) return randomMark(random, active, known);
  const dice = random.next();
  if (active.length === 0 || dice < 0.4)
    return { op_type: 'add_memory', ...newIdentity(random, chosen), payload: randomContent(random) };
  const target = random.chance(0.04) ? strayTarget(random, known) : random.pick(active).memoryId;
  if (dice < 0.72) return { op_type: 'correct_memory', target_event_id: target, payload: randomPatch(random) };
  if (dice < 0.82) {
    return {
      op_type: 'correct_memory',
      target_event_id: target,
      resulting_event_id: freshId(random, chosen),
      payload: randomPatch(random),
    };
  }
  if (dice < 0.9) return { op_type: 'supersede_memory', target_event_id: target, payload: { summary: 'gone' } };
  if (dice < 0.97)
    return {
      op_type: 'supersede_memory',
      target_event_id: target,
      ...newIdentity(random, chosen),
      payload: randomContent(random),
    };
  return { op_type: 'attach_verification', payload: { summary: 'reviewed', reviewer: 'someone' } };
}

/** An op that says something of memories without changing their text. */
function randomMark(random: Random, active: readonly ReplayedMemory[], known: readonly ReplayedMemory[]): OpDraft {
  const pick = (): string => (random.chance(0.06) ? strayTarget(random, known) : random.pick(active).memoryId);
  const dice = random.next();
  if (dice < 0.2) {
    const [duplicate, stays] = [pick(), pick()];
    return random.chance(0.5)
      ? { op_type: 'mark_duplicate', target_event_id: duplicate, resulting_event_id: stays }
      : { op_type: 'mark_duplicate', payload: { duplicate_id: duplicate, duplicate_of: stays } };
  }
  if (dice < 0.35) return { op_type: 'propose_deprecation', target_event_id: pick(), payload: { reason: 'stale' } };
  if (dice < 0.6) {
    const op_type = random.pick(['attach_evidence', 'attach_verification'] as const);
    const note = 'x'.repeat(random.chance(0.1) ? 1_500 : random.below(20));
    return { op_type, target_event_id: pick(), payload: { note, source: `source ${random.below(1_000_000)}` } };
  }
  // Mostly between the same few, so that some memories have many from everywhere.
  const hub = active[random.below(Math.min(2, active.length))]?.memoryId ?? pick();
  const [from, to] = random.chance(0.5) ? [hub, pick()] : [pick(), random.chance(0.5) ? hub : pick()];
  return random.chance(0.5)
    ? { op_type: 'add_relationship', target_event_id: from, resulting_event_id: to, payload: { kind: 'supports' } }
    : { op_type: 'add_relationship', payload: { kind: 'refutes', from_memory_id: from, to_memory_id: to } };
}

function strayTarget(random: Random, known: readonly ReplayedMemory[]): string {
  return random.chance(0.7) ? random.pick(known).memoryId : 'mem:nowhere:0';
}

/** Mostly no id, sometimes a new one, sometimes one that another branch may have taken too. */
function newIdentity(random: Random, chosen: string[]): Partial<OpDraft> {
  const dice = random.next();
  if (dice < 0.6) return {};
  return { resulting_event_id: dice < 0.7 ? `shared-${random.below(6)}` : freshId(random, chosen) };
}

function freshId(random: Random, chosen: string[]): string {
  const id = `chosen-${chosen.length}-${random.below(1_000)}`;
  chosen.push(id);
  return id;
}

function randomContent(random: Random): JsonObject {
  return { ...randomPatch(random), content: random.chance(0.02) ? ' \t ' : `content ${random.below(1_000_000)}` };
}

const patches: readonly ((random: Random) => readonly [string, JsonValue])[] = [
  (random) => [
    'content',
    random.chance(0.1) ? '' : random.chance(0.04) ? '   ' : `corrected ${random.below(1_000_000)}`,
  ],
  (random) => ['kind', random.pick(['fact', 'decision', 'task', ''])],
  (random) => ['scope', random.pick(['desk', 'engine', ''])],
  (random) => ['visibility', random.pick(['private', 'shared'])],
  (random) => ['event_type', random.pick(['task', 'record'])],
  (random) => ['tags', random.pick<JsonValue>([['a', 'b'], [], 'a, b  c', ['', 'x'], 7])],
  (random) => ['confidence', random.pick<JsonValue>([0, 1, 0.5, 'high'])],
  (random) => ['subject', `subject ${random.below(10)}`],
];

function randomPatch(random: Random): JsonObject {
  const count = 1 + random.below(3);
  return Object.fromEntries(Array.from({ length: count }, () => random.pick(patches)(random)));
}
