import { openReplay } from '../../src-main/lethe/rules/replay.ts';
import type { ReplayedMemory } from '../../src-main/lethe/rules/replay-ops.ts';
import type { JsonObject, JsonValue } from '../../src-preload/contract/json.ts';
import type { HistoryStore, OpDraft } from './history-store.ts';
import type { Random } from './random.ts';

/**
 * Grows a history of branches and merges from a root of its own, whose memories claim things of a few scopes, subjects and keys
 * in a few words, so that they go together or not: as claims of different branches do, only more often. Answers its changesets.
 */
export function growClaims(store: HistoryStore, random: Random, changesets: number): readonly number[] {
  const heads: number[] = [store.commit([], [])];
  const grown = [...heads];
  while (grown.length < changesets) {
    const dice = random.next();
    const at = random.below(heads.length);
    const head = heads[at] ?? 1;
    const isMerge = dice >= 0.15 && dice < 0.35;
    const from = dice < 0.15 ? random.pick(grown) : head;
    const made = isMerge
      ? mergeClaims(store, random, head, random.pick(heads))
      : store.commit([from], claimOps(store, random, from === head ? head : undefined));
    if (dice < 0.15) heads.push(made);
    else heads[at] = made;
    if (made !== head) grown.push(made);
  }
  return grown;
}

/** A merge with or without decisions about what both sides changed; what is left over is settled as an import settles it. */
function mergeClaims(store: HistoryStore, random: Random, into: number, from: number): number {
  if (into === from) return into;
  const known = [...openReplay(store.history).at(from).memories.values()];
  const decisions = known
    .filter(() => random.chance(0.1))
    .map(({ memoryId }): OpDraft => {
      const restores = store.idOf(random.chance(0.5) ? into : from);
      return { op_type: 'correct_memory', target_event_id: memoryId, payload: { restores } };
    });
  return store.commit([into, from], decisions, 'override');
}

function claimOps(store: HistoryStore, random: Random, at: number | undefined): readonly OpDraft[] {
  const replayed = at === undefined ? undefined : openReplay(store.history).at(at);
  const active = [...(replayed?.memories.values() ?? [])].filter((memory) => memory.active);
  const ops = Array.from({ length: 1 + random.below(3) }, () => claimOp(random, active));
  const line = replayed?.changesets ?? [];
  if (active.length === 0 || !random.chance(0.1)) return ops;
  const restores = store.idOf(random.pick(line));
  return [...ops, { op_type: 'correct_memory', target_event_id: random.pick(active).memoryId, payload: { restores } }];
}

function claimOp(random: Random, active: readonly ReplayedMemory[]): OpDraft {
  const dice = random.next();
  if (active.length === 0 || dice < 0.35)
    return { op_type: 'add_memory', ...identity(random, 0.3), payload: { ...claim(random), ...stray(random) } };
  const target_event_id = random.pick(active).memoryId;
  if (dice < 0.6)
    return { op_type: 'correct_memory', target_event_id, payload: { ...change(random), ...stray(random) } };
  if (dice < 0.7)
    return {
      op_type: 'correct_memory',
      target_event_id,
      resulting_event_id: `c${random.below(40)}`,
      payload: change(random),
    };
  if (dice < 0.8)
    return { op_type: 'supersede_memory', target_event_id, ...identity(random, 0.5), payload: { ...claim(random) } };
  if (dice < 0.85) return { op_type: 'supersede_memory', target_event_id, payload: { summary: 'gone' } };
  if (dice < 0.93)
    return { op_type: 'mark_duplicate', target_event_id, resulting_event_id: random.pick(active).memoryId };
  if (dice < 0.96)
    return { op_type: 'propose_deprecation', target_event_id, payload: { reason: 'stale', ...stray(random) } };
  return { op_type: 'attach_evidence', target_event_id, payload: { note: `note ${random.below(3)}` } };
}

/** Mostly no id, sometimes one of a few that other branches may give too. */
function identity(random: Random, share: number): Partial<OpDraft> {
  return random.chance(share) ? { resulting_event_id: `shared-${random.below(12)}` } : {};
}

const words = ['one', 'two', 'one ', ' two\n', 'Decision: one', 'DECISION: two'] as const;

/** What a memory claims. */
export function claim(random: Random): JsonObject {
  return {
    content: random.pick(words),
    ...(random.chance(0.8) ? { kind: random.pick(['decision', 'fact', 'observation']) } : {}),
    ...(random.chance(0.4) ? { scope: random.pick(['a', 'b', 'fuzz']) } : {}),
    ...(random.chance(0.3) ? { subject: random.pick(['a', 'x', 'y']) } : {}),
    ...(random.chance(0.4) ? { fact_key: random.pick(['x', 'z']) } : {}),
    ...(random.chance(0.2) ? { valid_from: `20${10 + random.below(20)}` } : {}),
    ...(random.chance(0.2) ? { valid_to: `20${10 + random.below(20)}` } : {}),
    ...(random.chance(0.1) ? { protected: random.chance(0.7) } : {}),
    ...(random.chance(0.1) ? { approval: random.pick(['user_approved', 'reviewed']) } : {}),
  };
}

const fields = ['content', 'kind', 'scope', 'subject', 'fact_key', 'valid_to', 'protected'] as const;

/** Ops that one line after the other can be given, whatever the store knows already: every memory has an id of its line's own choice. */
export function lineOps(random: Random, line: string, known: readonly string[], step: number): readonly OpDraft[] {
  const own = `${line}${step}`;
  const target_event_id = random.pick(known);
  return random.pick<readonly OpDraft[]>([
    [{ op_type: 'add_memory', resulting_event_id: own, payload: claim(random) }],
    [{ op_type: 'add_memory', resulting_event_id: `shared-${step}`, payload: claim(random) }],
    [{ op_type: 'correct_memory', target_event_id, payload: change(random) }],
    [{ op_type: 'correct_memory', target_event_id, payload: change(random) }],
    [{ op_type: 'supersede_memory', target_event_id, resulting_event_id: own, payload: claim(random) }],
    [{ op_type: 'mark_duplicate', target_event_id, resulting_event_id: random.pick(known) }],
    [{ op_type: 'attach_evidence', target_event_id, payload: { note: 'n' } }],
  ]);
}

/** One or two fields of a claim. */
function change(random: Random): JsonObject {
  const values = claim(random);
  const set = Array.from({ length: 2 }, () => random.pick(fields)).flatMap((field): [string, JsonValue][] => {
    const value = values[field];
    return value === undefined ? [] : [[field, value]];
  });
  return set.length === 0 ? { content: random.pick(words) } : Object.fromEntries(set);
}

/** What an op says of itself, now and then across a boundary. */
function stray(random: Random): JsonObject {
  if (!random.chance(0.15)) return {};
  return random.pick<JsonObject>([
    { project_id: random.pick(['fuzz', 'elsewhere']) },
    { topic_id: 't', actor_id: 'b' },
    { from_visibility: random.pick(['private', 'shared']), to_visibility: random.pick(['private', 'public']) },
    { target_trust: 'user_approved', source_trust: random.pick(['inference', 'user_approved']) },
  ]);
}
