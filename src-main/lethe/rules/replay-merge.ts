import type { JsonObject } from '../../../src-preload/contract/json.ts';
import { encodeCanonical } from '../../canonical/json.ts';
import { type ShownFields, shownFields } from './attachments.ts';
import type { ReplayedAttachment, ReplayedFound, ReplayedMemory, ReplayedState } from './replay-ops.ts';
import { type Trie, trieDifferences, trieSet } from './trie.ts';

/** A state of a memory and the touch that made it. */
export interface ReplayedEntry {
  readonly state: ReplayedState;
  /** Orders the touches of the whole history: by changeset, then by op. */
  readonly key: number;
  readonly seq: number;
  /** The states that it was made over; of one that stands for two of the same meaning, both. */
  readonly over: readonly ReplayedEntry[];
}

/** A memory that both sides of a merge changed to different meanings. */
export interface ReplayedContest {
  readonly left: ReplayedEntry;
  readonly right: ReplayedEntry;
}

/** The states of two sides together, and those about which they do not agree, by the number of the memory. */
export interface ReplayedMerge {
  readonly entries: Trie<ReplayedEntry>;
  readonly contested: ReadonlyMap<number, ReplayedContest>;
}

/**
 * Three ways, memory by memory: who has seen the state of the other has the newer one; of two of the same meaning the newer
 * touch stands; two of different meanings are contested, and the newer one stands until it is decided about.
 */
export function mergeEntries(left: Trie<ReplayedEntry>, right: Trie<ReplayedEntry>): ReplayedMerge {
  const contested = new Map<number, ReplayedContest>();
  let entries = left;
  for (const { place, one, other } of trieDifferences(left, right)) {
    if (other === undefined || (one !== undefined && isOver(one, other))) continue;
    if (one === undefined || isOver(other, one)) {
      entries = trieSet(entries, place, other);
      continue;
    }
    const newer = one.key > other.key ? one : other;
    entries = trieSet(entries, place, { ...newer, over: [one, other] });
    if (meaningOf(one.state.memory) !== meaningOf(other.state.memory))
      contested.set(place, { left: one, right: other });
  }
  return { entries, contested };
}

/** What an op finds of a contested memory: its state as the merge makes it; what retires it keeps the newer side's. */
export function findContested({ left, right }: ReplayedContest, mixed: ReplayedState): ReplayedFound {
  return { state: mixed, kept: left.key > right.key ? left.state : right.state };
}

/** Whether a state was made over another one, over however many in between. */
function isOver(entry: ReplayedEntry, older: ReplayedEntry): boolean {
  const visited = new Set<ReplayedEntry>();
  const waiting = [entry];
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    if (one.key === older.key) return true;
    if (one.key < older.key || visited.has(one)) continue;
    visited.add(one);
    waiting.push(...one.over);
  }
  return false;
}

/** What is shown of a memory, apart from the changesets that made it so and from where it was picked. */
function meaningOf(memory: ReplayedMemory): string {
  const { active: _active, introduced: _introduced, last: _last, evidence, verification, ...said } = memory;
  const shown = {
    ...said,
    tags: [...(said.tags ?? [])],
    payload: withoutPick(said.payload),
    evidence: listOf(shownFields('evidence', evidence?.count ?? 0, walk(evidence))),
    verification: listOf(shownFields('verification', verification?.count ?? 0, walk(verification))),
  };
  return encodeCanonical(Object.fromEntries(Object.entries(shown).filter(([, value]) => value !== undefined)));
}

function* walk(newest: ReplayedAttachment | undefined): IterableIterator<JsonObject> {
  for (let link = newest; link !== undefined; link = link.previous) yield link.payload;
}

function listOf({ evidence, verification, ...totals }: ShownFields): JsonObject {
  return { ...totals, list: [...(evidence ?? verification ?? [])].map(withoutPick) };
}

function withoutPick(payload: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(payload).filter(([key]) => key !== 'cherrypicked_from'));
}
