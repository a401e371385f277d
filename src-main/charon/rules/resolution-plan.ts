import type { Conflict, ResolutionInput } from '../../../src-preload/contract/conflict.ts';
import type { JsonObject } from '../../../src-preload/contract/json.ts';
import { memoryIdBytesMax } from '../../../src-preload/contract/limits.ts';
import type { AcceptedMemory } from '../../../src-preload/contract/memory.ts';
import {
  done,
  editText,
  impossible,
  isLive,
  keepLive,
  type MemorySides,
  openWriting,
  type PlanFacts,
  type ResolutionPlan,
  relate,
  restore,
  retire,
  type Writing,
} from './resolution-writing.ts';

/** Each memory by itself, both sides having said something of it (`lethe.md` D6). */
const threeWayTypes: ReadonlySet<string> = new Set(['identity_collision', 'concurrent_edit', 'delete_modify']);
/** Two memories that contradict each other. */
const pairTypes: ReadonlySet<string> = new Set(['contradictory_decision', 'protected_decision', 'incompatible_fact']);

/** True for a conflict about what both sides made of one memory. */
export function isThreeWay(conflict: Conflict): boolean {
  return threeWayTypes.has(conflict.conflict_type);
}

/**
 * The ops that settle a blocking conflict as chosen (`charon.md` §4): every choice becomes explicit ops, and nothing is left
 * to a rule of the store.
 */
export function planResolution(conflict: Conflict, chosen: ResolutionInput, facts: PlanFacts): ResolutionPlan {
  const writing = openWriting(chosen, facts);
  const [first, second] = facts.memories;
  if (isThreeWay(conflict) && first !== undefined) return planThreeWay(writing, first);
  if (pairTypes.has(conflict.conflict_type) && first !== undefined && second !== undefined)
    return planPair(writing, first, second);
  return planFinding(writing);
}

function planThreeWay(writing: Writing, memory: MemorySides): ResolutionPlan {
  const { left, right } = memory;
  const { isPick } = writing.facts;
  switch (writing.chosen.choice) {
    case 'ours':
      if (isPick) writing.replaced.push(memory.memoryId);
      return giveState(writing, memory, 'ours');
    case 'theirs':
      return isPick ? letPicked(writing, memory) : giveState(writing, memory, 'theirs');
    case 'both':
      if (!isLive(left) || !isLive(right)) return impossible('one side retired it: keep ours, take theirs, or edit');
      return keepBoth(writing, memory, right);
    case 'edit':
      if (!isLive(left) && !isLive(right)) return impossible('both sides retired it: keep ours or take theirs');
      if (isPick) return editPicked(writing, memory);
      giveState(writing, memory, isLive(left) ? 'ours' : 'theirs');
      return editText(writing, memory.memoryId);
  }
}

/** Returns a memory to what one side made of it, and retires what the other side put in its place. */
function giveState(writing: Writing, memory: MemorySides, side: 'ours' | 'theirs'): ResolutionPlan {
  const { facts } = writing;
  const isOurs = side === 'ours';
  const state = isOurs ? memory.left : memory.right;
  const own = isOurs ? memory.leftSuccession : memory.rightSuccession;
  const other = isOurs ? memory.rightSuccession : memory.leftSuccession;
  const head = isOurs ? facts.targetHead : facts.proposalHead;
  if (state === null) retire(writing, memory.memoryId);
  else restore(writing, memory.memoryId, head, isLive(state) ? side : 'retired');
  for (const kin of own.kin) restore(writing, kin, head, side);
  // What is not copied never comes to be, and need not be retired.
  if (!(facts.isPick && isOurs)) for (const rival of other.rivals) retire(writing, rival);
  return done(writing);
}

/** The picked ops stand as they are; a memory that the target retired is live again for them. */
function letPicked(writing: Writing, memory: MemorySides): ResolutionPlan {
  if (!isLive(memory.left) && !bringBack(writing, memory)) return gone();
  writing.outcomes.set(memory.memoryId, isLive(memory.right) ? 'theirs' : 'retired');
  return done(writing);
}

function editPicked(writing: Writing, memory: MemorySides): ResolutionPlan {
  if (!isLive(memory.left) && !bringBack(writing, memory)) return gone();
  writing.replaced.push(memory.memoryId);
  return editText(writing, memory.memoryId);
}

/** Makes a memory that the target retired live again as it was before, without what came in its place. */
function bringBack(writing: Writing, memory: MemorySides): boolean {
  if (memory.left === null || memory.liveAt === undefined) return false;
  restore(writing, memory.memoryId, memory.liveAt, 'live');
  for (const rival of memory.leftSuccession.rivals) retire(writing, rival);
  return true;
}

function keepBoth(writing: Writing, memory: MemorySides, right: AcceptedMemory): ResolutionPlan {
  const otherId = `${memory.memoryId}~${writing.facts.proposalHead.slice(-8)}`;
  if (Buffer.byteLength(otherId) > memoryIdBytesMax)
    return impossible('the id of the memory is too long for a second one beside it: keep ours, take theirs, or edit');
  if (writing.facts.isPick) writing.replaced.push(memory.memoryId);
  giveState(writing, memory, 'ours');
  writing.ops.push({
    op_type: 'add_memory',
    resulting_event_id: otherId,
    payload: { ...contentOf(right), ...sourceOf(right), ...writing.provenance },
  });
  relate(writing, otherId, memory.memoryId, 'alternative_of');
  writing.outcomes.set(otherId, 'own');
  return done(writing);
}

function planPair(writing: Writing, ours: MemorySides, theirs: MemorySides): ResolutionPlan {
  switch (writing.chosen.choice) {
    case 'ours':
      keepLive(writing, ours.memoryId);
      retire(writing, theirs.memoryId);
      return done(writing);
    case 'theirs':
      keepLive(writing, theirs.memoryId);
      retire(writing, ours.memoryId);
      return done(writing);
    case 'both':
      keepLive(writing, ours.memoryId);
      return separate(writing, ours.memoryId, theirs.memoryId);
    case 'edit':
      retire(writing, theirs.memoryId);
      return editText(writing, ours.memoryId);
  }
}

/** Both stand: the proposal's one under a scope of its own, or the two related as contradicting each other. */
function separate(writing: Writing, ours: string, theirs: string): ResolutionPlan {
  const { scope } = writing.chosen;
  if (scope === undefined) {
    keepLive(writing, theirs);
    relate(writing, theirs, ours, 'contradicts');
  } else {
    writing.ops.push({
      op_type: 'correct_memory',
      target_event_id: theirs,
      payload: { ...writing.provenance, scope },
    });
    writing.outcomes.set(theirs, 'own');
  }
  return done(writing);
}

/**
 * A finding about what one side wrote, or that there was too much to compare: it is taken back, let through on the record, or
 * given another text.
 */
function planFinding(writing: Writing): ResolutionPlan {
  const { chosen, facts } = writing;
  const [only] = facts.memories;
  switch (chosen.choice) {
    case 'ours':
      if (only === undefined) return impossible('it names no memory that could be taken back: take theirs');
      for (const memory of facts.memories) giveState(writing, memory, 'ours');
      return done(writing);
    case 'theirs':
      return letThrough(writing);
    case 'both':
      return impossible('there is only one: keep ours, take theirs, or edit');
    case 'edit':
      if (only === undefined || facts.memories.length > 1)
        return impossible('a text can be given to one memory only: keep ours or take theirs');
      if (!isThere(only)) return impossible('the memory is not active: keep ours or take theirs');
      return editText(writing, only.memoryId);
  }
}

function letThrough(writing: Writing): ResolutionPlan {
  const payload = {
    summary: 'Let through after review.',
    ...writing.provenance,
    kind: 'resolution',
    source_changeset_id: writing.facts.proposalHead,
  };
  const live = writing.facts.memories.filter(isThere);
  if (live.length === 0) writing.ops.push({ op_type: 'attach_verification', payload });
  for (const { memoryId } of live) {
    writing.ops.push({ op_type: 'attach_verification', target_event_id: memoryId, payload });
    keepLive(writing, memoryId);
  }
  return done(writing);
}

/** Whether a memory that one side wrote is live once both are together. */
function isThere({ left, right }: MemorySides): boolean {
  return isLive(right) || (right === null && isLive(left));
}

function gone(): ResolutionPlan {
  return impossible('the target retired it: keep ours');
}

const describingKeys = ['fact_key', 'subject', 'valid_from', 'valid_to', 'protected', 'approval'] as const;

/** What a memory says, as the payload of an op that makes another one say it. */
function contentOf(memory: AcceptedMemory): JsonObject {
  const payload: Record<string, JsonObject[string]> = { content: memory.content };
  for (const field of ['event_type', 'kind', 'scope', 'visibility', 'tags', 'confidence'] as const) {
    const value = memory[field];
    if (value !== undefined) payload[field] = value;
  }
  for (const key of describingKeys) {
    const value = memory.payload?.[key];
    if (value !== undefined) payload[key] = value;
  }
  return payload;
}

function sourceOf({ last_changeset_id: changesetId }: AcceptedMemory): JsonObject {
  return changesetId === undefined ? {} : { source_changeset_id: changesetId };
}
