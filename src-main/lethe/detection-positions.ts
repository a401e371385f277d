import type { AcceptedMemory } from '../../src-preload/contract/memory.ts';
import { compareUtf8 } from '../canonical/text.ts';
import type { ConflictSides } from './conflict-api.ts';
import type { AcceptedReader } from './projection/accepted.ts';
import { findNewestCommonTouch, type PartedSides } from './projection/common-state.ts';
import type { Sight } from './projection/sight.ts';
import { isLive } from './projection/state.ts';
import { listSemanticKeys, type SemanticKey, semanticKeyNumber, semanticKeyText } from './rules/detect/keys.ts';
import { statesSame } from './rules/detect/pair.ts';
import { saysSame } from './rules/overlay.ts';
import { listMemoriesOfKey } from './tables/semantic-keys.ts';

/** Bounds of one detection; tests make them small. */
export interface PairLimits {
  /** Memories of one key that are compared on each side, and of the common state: the newest ones. */
  readonly comparedMax: number;
  /** Memories of one key that are looked at to find those of the common state. */
  readonly scannedMax: number;
  /** Findings about pairs in all. */
  readonly findingsMax: number;
}

export const defaultPairLimits: PairLimits = { comparedMax: 1_000, scannedMax: 10_000, findingsMax: 10_000 };

/** Memories of a key that are read from the index at once. */
const memoriesPerRead = 256;

/** A memory as it stands at one position of a comparison. */
export interface Compared {
  readonly number: number;
  readonly memory: AcceptedMemory;
}

/** Memories of one key at one position. */
export interface Group {
  readonly key: SemanticKey;
  readonly members: Compared[];
}

/** What the memories of two sides are compared by. */
export interface Comparison {
  readonly sight: Sight;
  readonly parted: PartedSides;
  readonly sides: ConflictSides;
  readonly accepted: AcceptedReader;
  readonly limits: PairLimits;
  /** Memories that one of the sides says otherwise than before, or retired: what was common is obsolete there. */
  readonly changed: ReadonlySet<number>;
}

/** The live memories that a side says otherwise than before, or did not find there (`L169`). Adds to `changed` what it changed. */
export function changedMemories(
  parted: PartedSides,
  accepted: AcceptedReader,
  side: 'left' | 'right',
  changed: Set<number>,
): readonly Compared[] {
  const own = [...parted.touched.values()].filter(({ isByLeft, isByRight }) =>
    side === 'left' ? isByLeft : isByRight,
  );
  const touches = own.flatMap((memory) => [memory[side], memory.common]).filter(isLive);
  accepted.readAll(touches);
  const compared: Compared[] = [];
  for (const { memory: number, common, [side]: touch } of own) {
    if (!isLive(touch)) {
      if (isLive(common)) changed.add(number);
      continue;
    }
    if (isLive(common) && saysSame(accepted.version(touch), accepted.version(common))) continue;
    const memory = accepted.read(touch);
    if (isLive(common) && statesSame(memory, accepted.read(common))) continue;
    changed.add(number);
    compared.push({ number, memory });
  }
  return compared.filter(isComparable);
}

/** What came from the time before changesets is not compared until a changeset says it (`lethe.md` §7). */
function isComparable({ memory }: Compared): boolean {
  return memory.source === 'memory_git';
}

/**
 * The memories of a key that both sides have as they had it when they parted (`L169`): what one of them changed since is
 * compared as it is there, and what it retired is obsolete (D7).
 */
export function readCommon(
  { sight, parted, sides, accepted, limits, changed }: Comparison,
  text: string,
): { readonly members: readonly Compared[]; readonly isCut: boolean } {
  const number = semanticKeyNumber(text);
  const found: Compared[] = [];
  let below = Number.MAX_SAFE_INTEGER;
  for (let scanned = 0; scanned < limits.scannedMax && found.length <= limits.comparedMax; ) {
    const memories = listMemoriesOfKey(sight.db, number, below, memoriesPerRead);
    const touches = memories
      .filter((memory) => !changed.has(memory))
      .map((memory) => findNewestCommonTouch(sight, parted.left, parted.right, memory))
      .filter(isLive);
    const states = touches.length === 0 ? [] : accepted.readAll(touches);
    for (const [index, memory] of states.entries()) {
      const one = { number: touches[index]?.memory ?? 0, memory };
      if (isComparable(one) && hasKey(sides.projectId, one, text)) found.push(one);
    }
    if (memories.length < memoriesPerRead) return bounded(found, limits);
    scanned += memories.length;
    below = memories.at(-1) ?? 0;
  }
  return { ...bounded(found, limits), isCut: true };
}

function hasKey(projectId: string, { memory }: Compared, text: string): boolean {
  return listSemanticKeys(projectId, memory).some((key) => semanticKeyText(projectId, key) === text);
}

/** The memories of one position by the text of each of their keys. */
export function groupByKey(projectId: string, compared: readonly Compared[]): ReadonlyMap<string, Group> {
  const groups = new Map<string, Group>();
  for (const one of compared) {
    for (const key of listSemanticKeys(projectId, one.memory)) {
      const text = semanticKeyText(projectId, key);
      const group = groups.get(text);
      if (group === undefined) groups.set(text, { key, members: [one] });
      else group.members.push(one);
    }
  }
  return groups;
}

/** The newest members of a group, in the order of their ids. */
export function bounded(
  members: readonly Compared[],
  { comparedMax }: PairLimits,
): { readonly members: readonly Compared[]; readonly isCut: boolean } {
  const newest = members.toSorted((one, other) => other.number - one.number).slice(0, comparedMax);
  return {
    members: newest.toSorted((one, other) => compareUtf8(one.memory.memory_id, other.memory.memory_id)),
    isCut: newest.length < members.length,
  };
}
