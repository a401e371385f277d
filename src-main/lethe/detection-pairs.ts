import type { AcceptedMemory } from '../../src-preload/contract/memory.ts';
import { compareUtf8 } from '../canonical/text.ts';
import type { ConflictSides } from './conflict-api.ts';
import type { AcceptedReader } from './projection/accepted.ts';
import {
  findLiveHeir,
  findNewestCommonTouch,
  type PartedSides,
  type TouchedMemory,
} from './projection/common-state.ts';
import type { Sight } from './projection/sight.ts';
import { isLive, seesTouch } from './projection/state.ts';
import { detectDecision } from './rules/detect/decision.ts';
import { detectDuplicateContent } from './rules/detect/duplicate-content.ts';
import type { Finding, FindingBook } from './rules/detect/finding.ts';
import { detectIncompatibleFact } from './rules/detect/incompatible-fact.ts';
import { listSemanticKeys, type SemanticKey, semanticKeyNumber, semanticKeyText } from './rules/detect/keys.ts';
import { type Pair, statesSame } from './rules/detect/pair.ts';
import { tooManyFindings, tooManyOfKey } from './rules/detect/too-many.ts';
import { saysSame } from './rules/overlay.ts';
import { listMemoriesOfKey } from './tables/semantic-keys.ts';
import type { Touch } from './tables/touches.ts';

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

interface Compared {
  readonly number: number;
  readonly memory: AcceptedMemory;
}

/** Memories of one key at one position. */
interface Group {
  readonly key: SemanticKey;
  readonly members: Compared[];
}

type Position = ReadonlyMap<string, Group>;

interface Comparison {
  readonly sight: Sight;
  readonly parted: PartedSides;
  readonly sides: ConflictSides;
  readonly accepted: AcceptedReader;
  readonly limits: PairLimits;
  /** Memories that one of the sides says otherwise than before, or retired: what was common is obsolete there. */
  readonly changed: ReadonlySet<number>;
}

/**
 * Duplicates, decisions and facts that do not go together (`lethe.md` §7 rows 2 to 5, D7, `L165` to `L169`): what each side
 * changed against the common state that both still have, and against what the other side changed. Memories are brought together
 * by what they must share, so nothing else is read. Beyond a bound there is a finding that says so (`L174`).
 */
export function detectInPairs(
  sight: Sight,
  parted: PartedSides,
  sides: ConflictSides,
  accepted: AcceptedReader,
  findings: FindingBook,
  limits: PairLimits = defaultPairLimits,
): void {
  const changed = new Set<number>();
  const left = changedMemories(parted, accepted, 'left', changed);
  const right = changedMemories(parted, accepted, 'right', changed);
  const comparison: Comparison = { sight, parted, sides, accepted, limits, changed };
  const [ofLeft, ofRight] = [groupByKey(sides.projectId, left), groupByKey(sides.projectId, right)];
  const first = findings.size;
  const cut = new Set<Finding['type']>();
  for (const text of [...new Set([...ofLeft.keys(), ...ofRight.keys()])].toSorted(compareUtf8)) {
    for (const finding of detectOfKey(comparison, text, ofLeft.get(text), ofRight.get(text))) {
      if (findings.size - first < limits.findingsMax) findings.add(finding);
      else cut.add(finding.type);
    }
  }
  for (const type of cut) findings.add(tooManyFindings(type, sides, limits.findingsMax));
}

/** The live memories that a side says otherwise than before, or did not find there (`L169`). Adds to `changed` what it changed. */
function changedMemories(
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
  for (const memory of own) {
    const touch = memory[side];
    if (!isChanged(accepted, memory, touch)) continue;
    changed.add(memory.memory);
    if (isLive(touch)) compared.push({ number: memory.memory, memory: accepted.read(touch) });
  }
  return compared.filter(isComparable);
}

function isChanged(accepted: AcceptedReader, { common }: TouchedMemory, touch: Touch | undefined): boolean {
  if (!isLive(touch) || !isLive(common)) return isLive(touch) || isLive(common);
  if (touch.version === common.version || saysSame(accepted.version(touch), accepted.version(common))) return false;
  return !statesSame(accepted.read(touch), accepted.read(common));
}

/** What came from the time before changesets is not compared until a changeset says it (`lethe.md` §7). */
function isComparable({ memory }: Compared): boolean {
  return memory.source === 'memory_git';
}

function groupByKey(projectId: string, compared: readonly Compared[]): Position {
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

/** What is found among the memories of one key. */
function* detectOfKey(
  comparison: Comparison,
  text: string,
  ofLeft: Group | undefined,
  ofRight: Group | undefined,
): IterableIterator<Finding> {
  const key = ofLeft?.key ?? ofRight?.key;
  if (key === undefined) return;
  const { sides, limits } = comparison;
  const common = readCommon(comparison, text);
  const left = bounded(ofLeft?.members ?? [], limits);
  const right = bounded(ofRight?.members ?? [], limits);
  if (common.isCut || left.isCut || right.isCut) yield tooManyOfKey(key, sides, limits.comparedMax);
  const { baseChangesetId: base, leftChangesetId: ours, rightChangesetId: theirs } = sides;
  for (const pair of pairsOf(left.members, right.members, ours, theirs)) {
    const found = detectPair(key, pair, sides.projectId);
    if (found !== undefined && !isOfOneLineage(comparison, pair)) yield found;
  }
  for (const pair of [
    ...pairsOf(common.members, right.members, base, theirs),
    ...pairsOf(common.members, left.members, base, ours),
  ]) {
    const found = detectPair(key, pair, sides.projectId);
    if (found !== undefined) yield found;
  }
}

interface NumberedPair extends Pair {
  readonly leftNumber: number;
  readonly rightNumber: number;
}

/** Every memory of one position with every other one of the other; a memory is never compared with itself. */
function* pairsOf(
  left: readonly Compared[],
  right: readonly Compared[],
  leftChangesetId: string,
  rightChangesetId: string,
): IterableIterator<NumberedPair> {
  for (const one of left) {
    for (const other of right) {
      if (one.number === other.number) continue;
      yield {
        left: one.memory,
        right: other.memory,
        leftChangesetId,
        rightChangesetId,
        leftNumber: one.number,
        rightNumber: other.number,
      };
    }
  }
}

function detectPair(key: SemanticKey, pair: Pair, projectId: string): Finding | undefined {
  switch (key.kind) {
    case 'content':
      return detectDuplicateContent(pair);
    case 'decision_scope':
    case 'decision_subject':
      return detectDecision(pair);
    case 'fact':
      return detectIncompatibleFact(pair, projectId);
  }
}

/** The newest members of a group, in the order of their ids. */
function bounded(
  members: readonly Compared[],
  { comparedMax }: PairLimits,
): { readonly members: readonly Compared[]; readonly isCut: boolean } {
  const newest = members.toSorted((one, other) => other.number - one.number).slice(0, comparedMax);
  return {
    members: newest.toSorted((one, other) => compareUtf8(one.memory.memory_id, other.memory.memory_id)),
    isCut: newest.length < members.length,
  };
}

/**
 * The memories of a key that both sides have as they had it when they parted (`L169`): what one of them changed since is
 * compared as it is there, and what it retired is obsolete (D7).
 */
function readCommon(
  { sight, parted, sides, accepted, limits, changed }: Comparison,
  text: string,
): { readonly members: readonly Compared[]; readonly isCut: boolean } {
  const number = semanticKeyNumber(text);
  const touches: Touch[] = [];
  let below = Number.MAX_SAFE_INTEGER;
  let scanned = 0;
  let isCut = false;
  while (!isCut) {
    const memories = listMemoriesOfKey(sight.db, number, below, memoriesPerRead);
    for (const memory of memories) {
      const touch = changed.has(memory) ? undefined : findNewestCommonTouch(sight, parted.left, parted.right, memory);
      if (isLive(touch)) touches.push(touch);
    }
    if (memories.length < memoriesPerRead) break;
    scanned += memories.length;
    below = memories.at(-1) ?? 0;
    isCut = touches.length > limits.comparedMax || scanned >= limits.scannedMax;
  }
  const compared = accepted
    .readAll(touches)
    .map((memory, index) => ({ number: touches[index]?.memory ?? 0, memory }))
    .filter((one) => isComparable(one) && hasKey(sides.projectId, one, text));
  const { members, isCut: isBounded } = bounded(compared, limits);
  return { members, isCut: isCut || isBounded };
}

function hasKey(projectId: string, { memory }: Compared, text: string): boolean {
  return listSemanticKeys(projectId, memory).some((key) => semanticKeyText(projectId, key) === text);
}

/**
 * Whether one memory of a pair from both sides came out of the other, which the side that retired it has no more (D7). Two that
 * one side has beside each other are not: one of them was taken up again.
 */
function isOfOneLineage({ sight, parted }: Comparison, { leftNumber, rightNumber }: NumberedPair): boolean {
  const becomes = (from: number, to: number, side: 'left' | 'right'): boolean => {
    const other = side === 'left' ? 'right' : 'left';
    const there = parted.touched.get(from)?.[side];
    if (there === undefined || isLive(there) || seesTouch(sight, [parted[other]], there)) return false;
    return findLiveHeir(sight, parted[side], from)?.memory === to;
  };
  return becomes(leftNumber, rightNumber, 'right') || becomes(rightNumber, leftNumber, 'left');
}
