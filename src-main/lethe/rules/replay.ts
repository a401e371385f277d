import type { Op } from '../../../src-preload/contract/changeset.ts';
import type { JsonObject } from '../../../src-preload/contract/json.ts';
import { opsMax } from '../../../src-preload/contract/limits.ts';
import { assert } from '../../base/assert.ts';
import { compareUtf8, isBlank } from '../../canonical/text.ts';
import { opNumber } from './numbers.ts';
import { findContested, mergeEntries, type ReplayedContest, type ReplayedEntry } from './replay-merge.ts';
import {
  nonEmpty,
  type ReplayedChange,
  type ReplayedEvent,
  type ReplayedFound,
  type ReplayedMemory,
  type ReplayedRestore,
  type ReplayedState,
  replayEvent,
  replayOp,
} from './replay-ops.ts';
import { type Trie, trieDifferences, trieGet, trieSet } from './trie.ts';

/** A changeset as the replay sees it. */
export interface ReplayedChangeset {
  readonly changesetId: string;
  /** Parents by whatever numbers the history has, smaller than the changeset's own, in their order. */
  readonly parents: readonly number[];
  readonly ops: readonly Op[];
  /** Of a root the events that it froze, in their order. */
  readonly baseline?: readonly ReplayedEvent[];
}

export type History = ReadonlyMap<number, ReplayedChangeset>;

/** A relationship that an op of the history added. */
export interface ReplayedRelationship {
  readonly from: string;
  readonly to: string;
  readonly changesetId: string;
  readonly seq: number;
  readonly ordinal: number;
  readonly payload: JsonObject;
}

/** What a changeset did to one memory. */
export interface ReplayedTouch {
  readonly memory: string;
  readonly seq: number;
  readonly key: number;
  readonly state: ReplayedState;
  /** The memory that it was made of by this op, or that this op made of it. */
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** The state at one head, from scratch. */
export interface Replayed {
  /** Every changeset of the head's history in replay order. */
  readonly changesets: readonly number[];
  readonly memories: ReadonlyMap<string, ReplayedMemory>;
  readonly states: ReadonlyMap<string, ReplayedEntry>;
  /** In replay order, those that a restore took away left out. One whose ends the history had not named by then is none (`L134`). */
  relationships(): readonly ReplayedRelationship[];
}

/** The replays of one history: each of its changesets is looked at once, for however many heads. */
export interface Replay {
  /** Takes the next changeset in, after its parents, so that the work can be done bit by bit. */
  take(seq: number): void;
  at(head: number): Replayed;
  /** What one changeset did, in the order of its ops; what a merge decided without an op comes last. */
  touchesOf(seq: number): readonly ReplayedTouch[];
}

interface Step {
  readonly entries: Trie<ReplayedEntry>;
  readonly touches: readonly ReplayedTouch[];
  readonly relationships: readonly ReplayedRelationship[];
}

/** What is known of a history while it is replayed. */
interface Session {
  readonly history: History;
  readonly steps: Map<number, Step>;
  /** A number for each memory. */
  readonly places: Map<string, number>;
  readonly seqs: Map<string, number>;
}

/**
 * The from-scratch twin of the derived index: `lethe.md` §5.4 to §5.6 with D6, D8 and §0.4 read literally over a history that
 * is held in memory. The state at a changeset is what its ops make of the states of its parents, which are merged memory by
 * memory. The history may grow meanwhile. Cost: all of it, once.
 */
export function openReplay(history: History): Replay {
  const session: Session = { history, steps: new Map(), places: new Map(), seqs: new Map() };
  return {
    take: (seq) => void stepOf(session, seq),
    at: (head) => replayHead(session, head),
    touchesOf: (seq) => {
      for (const one of replayOrder(history, seq)) stepOf(session, one);
      return stepOf(session, seq).touches;
    },
  };
}

/** The state at one head, for who asks for no other. */
export function replay(history: History, head: number): Replayed {
  return openReplay(history).at(head);
}

/** Memories that are active, most recently touched first (§5.9, §5.10 without a query): by the place of that touch in replay order. */
export function listRecent({ changesets, states }: Replayed): readonly ReplayedMemory[] {
  const places = new Map(changesets.map((seq, place) => [seq, place]));
  const placeOf = ({ seq }: ReplayedEntry): number => places.get(seq) ?? -1;
  return [...states.values()]
    .filter(({ state: { memory } }) => memory.active && !isBlank(memory.content))
    .toSorted((one, other) => placeOf(other) - placeOf(one) || other.key - one.key)
    .map(({ state }) => state.memory);
}

function replayHead(session: Session, head: number): Replayed {
  const changesets = replayOrder(session.history, head);
  for (const seq of changesets) stepOf(session, seq);
  const states = new Map<string, ReplayedEntry>();
  for (const { other: entry } of trieDifferences(undefined, stepOf(session, head).entries))
    if (entry !== undefined) states.set(entry.state.memory.memoryId, entry);
  return {
    changesets,
    states,
    memories: new Map([...states].map(([memoryId, { state }]) => [memoryId, state.memory])),
    relationships: () =>
      changesets
        .flatMap((seq) => stepOf(session, seq).relationships)
        .filter((relationship) => isVisible(session, relationship, head)),
  };
}

/** A relationship that the head sees and that no restore of the memory where it starts took away (`lethe.md` §0.4). */
function isVisible(session: Session, relationship: ReplayedRelationship, head: number): boolean {
  const { seq, ordinal, from } = relationship;
  if (!isAncestor(session, seq, head)) return false;
  const restore: ReplayedRestore | undefined = findEntry(session, head, from)?.state.restored;
  if (restore === undefined) return true;
  const parents = getChangeset(session.history, restore.seq).parents;
  const isEarlier = seq === restore.seq ? ordinal < restore.ordinal : isSeenBy(session, seq, parents);
  return !isEarlier || isVisible(session, relationship, restore.at);
}

function findEntry(session: Session, seq: number, memoryId: string): ReplayedEntry | undefined {
  return trieGet(stepOf(session, seq).entries, placeOf(session, memoryId));
}

function placeOf({ places }: Session, memoryId: string): number {
  const known = places.get(memoryId);
  if (known !== undefined) return known;
  places.set(memoryId, places.size);
  return places.size - 1;
}

/** What one changeset makes of its parents; they have been looked at before. */
function stepOf(session: Session, seq: number): Step {
  const known = session.steps.get(seq);
  if (known !== undefined) return known;
  const changeset = getChangeset(session.history, seq);
  const step = takeStep(session, seq, changeset);
  session.steps.set(seq, step);
  session.seqs.set(changeset.changesetId, seq);
  return step;
}

function takeStep(session: Session, seq: number, changeset: ReplayedChangeset): Step {
  const { parents, ops, changesetId, baseline = [] } = changeset;
  const [left, right] = parents;
  const leftEntries = left === undefined ? undefined : stepOf(session, left).entries;
  const merge =
    left === undefined || right === undefined
      ? { entries: leftEntries, contested: new Map<number, ReplayedContest>() }
      : mergeEntries(leftEntries, stepOf(session, right).entries);
  const contested = new Map(merge.contested);
  let opened: Mix | undefined;
  const mix = (): Mix => {
    opened ??= openMix(session, parents);
    return opened;
  };
  let { entries } = merge;
  const touches: ReplayedTouch[] = [];
  const touch = (change: ReplayedChange, key: number): void => {
    const place = placeOf(session, change.memoryId);
    const contest = contested.get(place);
    const before = trieGet(entries, place);
    const over = contest === undefined ? (before === undefined ? [] : [before]) : [contest.left, contest.right];
    entries = trieSet(entries, place, { state: change.state, key, seq, over });
    contested.delete(place);
    touches.push({ memory: change.memoryId, seq, key, state: change.state, from: change.from, to: change.to });
  };
  const find = (memoryId: string): ReplayedFound | undefined => {
    const place = placeOf(session, memoryId);
    const contest = contested.get(place);
    if (contest !== undefined) return findContested(contest, mix().stateOf(memoryId));
    const entry = trieGet(entries, place);
    return entry && { state: entry.state, kept: entry.state };
  };
  const findPast = openPast(session, parents);
  const relationships: ReplayedRelationship[] = [];
  for (const [index, event] of baseline.entries())
    touch(
      { memoryId: event.eventId, state: { memory: replayEvent(event) } },
      opNumber(seq, 0) - baseline.length + index,
    );
  for (const op of ops) {
    relationships.push(...relationshipsOf(op, seq, changesetId, find));
    for (const change of replayOp({ op, seq, changesetId, find, findPast })) touch(change, opNumber(seq, op.ordinal));
  }
  if (contested.size > 0) {
    const mixed = mix();
    const silent = [...contested.values()].map(({ left: entry }) => entry.state.memory.memoryId);
    const decided = new Set(touches.map(({ memory }) => memory));
    const made = mixed.madeOf(silent).filter((memoryId) => !decided.has(memoryId));
    for (const [index, memoryId] of [...silent, ...made].toSorted(compareUtf8).entries()) {
      const { memory, ...more } = mixed.stateOf(memoryId);
      touch({ memoryId, state: { ...more, memory: { ...memory, last: changesetId } } }, opNumber(seq, opsMax + index));
    }
  }
  return { entries, touches, relationships };
}

/** The ops of the right side over the states of the left side. */
interface Mix {
  stateOf(memoryId: string): ReplayedState;
  /** The memories that corrections of the right side made of some, and of those, and so on. */
  madeOf(memoryIds: readonly string[]): readonly string[];
}

function openMix(session: Session, parents: readonly number[]): Mix {
  const [left = 0, right = 0] = parents;
  const onLeft = new Set(replayOrder(session.history, left));
  const ownSeqs = replayOrder(session.history, right).filter((seq) => !onLeft.has(seq));
  const touches = ownSeqs.toSorted((one, other) => one - other).flatMap((seq) => stepOf(session, seq).touches);
  const byKey = Map.groupBy(touches, ({ key }) => key);
  const states = new Map<string, ReplayedState | undefined>();
  const find = (memoryId: string): ReplayedFound | undefined => {
    const state = states.has(memoryId) ? states.get(memoryId) : findEntry(session, left, memoryId)?.state;
    return state && { state, kept: state };
  };
  const findPast = openPast(session, parents);
  for (const seq of ownSeqs.toSorted((one, other) => one - other)) {
    const { ops, changesetId } = getChangeset(session.history, seq);
    for (const op of ops) {
      const touched = new Set(byKey.get(opNumber(seq, op.ordinal))?.map(({ memory }) => memory));
      for (const { memoryId, state } of replayOp({ op, seq, changesetId, find, findPast }))
        if (touched.has(memoryId)) states.set(memoryId, state);
    }
  }
  return {
    stateOf: (memoryId) => {
      const found = find(memoryId);
      assert(found !== undefined, 'a memory that both sides touched has a state on the left');
      return found.state;
    },
    madeOf: (memoryIds) => {
      const made = new Set(memoryIds);
      for (const memoryId of made)
        for (const { memory, to, state } of touches)
          if (memory === memoryId && to !== undefined && state.memory.status === 'corrected') made.add(to);
      return [...made].filter((memoryId) => !memoryIds.includes(memoryId));
    },
  };
}

function openPast(
  session: Session,
  parents: readonly number[],
): (memoryId: string, changesetId: string) => { readonly state: ReplayedState; readonly at: number } | undefined {
  return (memoryId, changesetId) => {
    const at = session.seqs.get(changesetId);
    if (at === undefined || !isSeenBy(session, at, parents)) return undefined;
    const entry = findEntry(session, at, memoryId);
    return entry && { state: entry.state, at };
  };
}

function isSeenBy(session: Session, seq: number, heads: readonly number[]): boolean {
  return heads.some((head) => isAncestor(session, seq, head));
}

/** Whether a changeset is another one or an ancestor of it; parents have smaller numbers. */
function isAncestor({ history }: Session, seq: number, head: number): boolean {
  const visited = new Set<number>();
  const waiting = [head];
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    if (one === seq) return true;
    if (one < seq || visited.has(one)) continue;
    visited.add(one);
    waiting.push(...getChangeset(history, one).parents);
  }
  return false;
}

/** Depth-first post-order without recursion, since a history may be deeper than a stack. */
function replayOrder(history: History, head: number): readonly number[] {
  const order: number[] = [];
  const visited = new Set<number>();
  const stack = [{ seq: head, next: 0 }];
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    visited.add(top.seq);
    const parent = getChangeset(history, top.seq).parents[top.next];
    if (parent === undefined) {
      order.push(top.seq);
      stack.pop();
      continue;
    }
    top.next += 1;
    if (!visited.has(parent)) stack.push({ seq: parent, next: 0 });
  }
  return order;
}

function getChangeset(history: History, seq: number): ReplayedChangeset {
  const changeset = history.get(seq);
  assert(changeset !== undefined, 'a history holds every parent of its changesets');
  return changeset;
}

function relationshipsOf(
  op: Op,
  seq: number,
  changesetId: string,
  find: (memoryId: string) => ReplayedFound | undefined,
): readonly ReplayedRelationship[] {
  if (op.op_type !== 'add_relationship') return [];
  const payload = op.payload ?? {};
  const from = nonEmpty(op.target_event_id) ?? nonEmpty(payload.from_memory_id) ?? '';
  const to = nonEmpty(op.resulting_event_id) ?? nonEmpty(payload.to_memory_id) ?? '';
  if (find(from) === undefined || find(to) === undefined) return [];
  return [{ from, to, changesetId, seq, ordinal: op.ordinal, payload }];
}
