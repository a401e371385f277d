import type { Resolution, ResolutionInput } from '../../../src-preload/contract/conflict.ts';
import type { JsonObject } from '../../../src-preload/contract/json.ts';
import type { AcceptedMemory } from '../../../src-preload/contract/memory.ts';

/** One op of a resolution; its ordinal is given where the changeset is put together. */
export type PlannedOp = Resolution['ops'][number];

/** What came in the place of a memory on a side that retired it. */
export interface Succession {
  /** Live, and known to that side alone: they may not outlive the choice of the other side. */
  readonly rivals: readonly string[];
  /** Live on that side, and retired by the other: they come back with the choice of that side. */
  readonly kin: readonly string[];
}

/** What both sides say of one memory that a conflict names. */
export interface MemorySides {
  readonly memoryId: string;
  /** At the target's head; null when it has never known the memory. */
  readonly left: AcceptedMemory | null;
  /** At the proposal's head. */
  readonly right: AcceptedMemory | null;
  readonly leftSuccession: Succession;
  readonly rightSuccession: Succession;
  /** A changeset of the common history in which it was live, for a choice that brings it back. */
  readonly liveAt: string | undefined;
}

/** What a resolution is planned from, all of it read at the two heads. */
export interface PlanFacts {
  readonly proposalId: string;
  readonly targetHead: string;
  readonly proposalHead: string;
  /** The chosen ops are copied onto the target: its state at the proposal's head is in nobody's history then. */
  readonly isPick: boolean;
  /** The memories that the conflict names; of a pair the target's first. */
  readonly memories: readonly MemorySides[];
}

/** What a plan leaves of a memory: plans that leave different things of the same one contradict each other. */
export type Outcome = 'live' | 'ours' | 'theirs' | 'own' | 'retired';

/** The ops that carry a choice out, and what they leave of the memories; or why it cannot be carried out as things stand. */
export type ResolutionPlan =
  | {
      readonly kind: 'ops';
      readonly ops: readonly PlannedOp[];
      readonly outcomes: ReadonlyMap<string, Outcome>;
      /** Memories whose picked ops are not copied: the resolution stands for them. */
      readonly replaced: readonly string[];
    }
  | { readonly kind: 'impossible'; readonly reason: string };

/** A plan that is being written. */
export interface Writing {
  readonly chosen: ResolutionInput;
  readonly facts: PlanFacts;
  readonly ops: PlannedOp[];
  readonly outcomes: Map<string, Outcome>;
  readonly replaced: string[];
  /** Where an op comes from, with the note that was given. */
  readonly provenance: JsonObject;
}

/** True for a memory that is read as accepted; one that is withheld still is one. */
export function isLive(memory: AcceptedMemory | null): memory is AcceptedMemory {
  return memory !== null && !['corrected', 'superseded', 'duplicate'].includes(memory.status);
}

/** A plan without an op. */
export function openWriting(chosen: ResolutionInput, facts: PlanFacts): Writing {
  const provenance = {
    proposal_id: facts.proposalId,
    ...(chosen.note === undefined || chosen.note === '' ? {} : { summary: chosen.note }),
  };
  return { chosen, facts, ops: [], outcomes: new Map(), replaced: [], provenance };
}

/** Gives a memory the state that it had at a changeset (`lethe.md` §0.4). */
export function restore(writing: Writing, memoryId: string, changesetId: string, outcome: Outcome): void {
  writing.ops.push({
    op_type: 'correct_memory',
    target_event_id: memoryId,
    payload: { ...writing.provenance, restores: changesetId },
  });
  writing.outcomes.set(memoryId, outcome);
}

/** Retires a memory, with nothing in its place. */
export function retire(writing: Writing, memoryId: string): void {
  writing.ops.push({ op_type: 'supersede_memory', target_event_id: memoryId, payload: writing.provenance });
  writing.outcomes.set(memoryId, 'retired');
}

/** Gives a live memory the text that was chosen. */
export function editText(writing: Writing, memoryId: string): ResolutionPlan {
  const { content } = writing.chosen;
  if (content === undefined) return impossible('an edit needs its text: give content');
  writing.ops.push({
    op_type: 'correct_memory',
    target_event_id: memoryId,
    payload: { ...writing.provenance, content },
  });
  writing.outcomes.set(memoryId, 'own');
  return done(writing);
}

/** Relates two live memories. */
export function relate(writing: Writing, fromId: string, toId: string, kind: string): void {
  writing.ops.push({
    op_type: 'add_relationship',
    target_event_id: fromId,
    resulting_event_id: toId,
    payload: { ...writing.provenance, kind },
  });
}

/** The plan needs the memory live, whatever else it says. */
export function keepLive(writing: Writing, memoryId: string): void {
  if (!writing.outcomes.has(memoryId)) writing.outcomes.set(memoryId, 'live');
}

/** The plan as written. */
export function done({ ops, outcomes, replaced }: Writing): ResolutionPlan {
  return { kind: 'ops', ops, outcomes, replaced };
}

/** A choice that cannot be carried out, with what to choose instead. */
export function impossible(reason: string): ResolutionPlan {
  return { kind: 'impossible', reason };
}
