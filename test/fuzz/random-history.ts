import { contestedMemories } from '../../src-main/lethe/projection/contested.ts';
import { type ReplayedMemory, replay } from '../../src-main/lethe/rules/replay.ts';
import type { JsonObject, JsonValue } from '../../src-preload/contract/json.ts';
import type { HistoryStore, OpDraft } from './history-store.ts';
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

/** Merges one branch into another; sides that both touched a memory are left alone, as the store refuses them. */
function growMerge(store: HistoryStore, random: Random, heads: number[], chosen: string[]): void {
  const at = random.below(heads.length);
  const into = heads[at] ?? 1;
  const from = random.chance(0.9) ? random.pick(heads) : random.pick([...store.history.keys()]);
  if (into === from || contestedMemories(store.db, into, from, 1).total > 0) return;
  store.history.set(0, { changesetId: 'tentative', parents: [into, from], ops: [] });
  const ops = random.chance(0.3) ? randomOps(store, random, 0, chosen) : [];
  store.history.delete(0);
  heads[at] = store.commit([into, from], ops);
}

/** Ops over the state at a changeset; with none, ops on whatever memory there is anywhere. */
function randomOps(store: HistoryStore, random: Random, at: number | undefined, chosen: string[]): readonly OpDraft[] {
  const memories = at === undefined ? [] : [...replay(store.history, at).memories.values()];
  const active = memories.filter((memory) => memory.active);
  const most = random.chance(0.01) ? 90 : random.chance(0.1) ? 6 : 2;
  const count = random.chance(0.1) ? 0 : 1 + random.below(most);
  return Array.from({ length: count }, () => randomOp(random, active, memories, chosen));
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
