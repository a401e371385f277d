import { compareUtf8 } from '../canonical/text.ts';
import type { ConflictSides } from './conflict-api.ts';
import {
  bounded,
  type Compared,
  type Comparison,
  changedMemories,
  type Group,
  groupByKey,
  type PairLimits,
  readCommon,
} from './detection-positions.ts';
import type { AcceptedReader } from './projection/accepted.ts';
import { followHeirs, type PartedSides } from './projection/common-state.ts';
import type { Sight } from './projection/sight.ts';
import { isLive, seesTouch } from './projection/state.ts';
import { detectDecision } from './rules/detect/decision.ts';
import { detectDuplicateContent } from './rules/detect/duplicate-content.ts';
import type { Finding, FindingBook } from './rules/detect/finding.ts';
import { detectIncompatibleFact } from './rules/detect/incompatible-fact.ts';
import type { SemanticKey } from './rules/detect/keys.ts';
import type { Pair } from './rules/detect/pair.ts';
import { tooManyFindings, tooManyOfKey, typeOfKey } from './rules/detect/too-many.ts';

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
  limits: PairLimits,
): void {
  const changed = new Set<number>();
  const left = changedMemories(parted, accepted, 'left', changed);
  const right = changedMemories(parted, accepted, 'right', changed);
  const comparison: Comparison = { sight, parted, sides, accepted, limits, changed };
  const [ofLeft, ofRight] = [groupByKey(sides.projectId, left), groupByKey(sides.projectId, right)];
  const first = findings.size;
  const cut = new Set<Finding['type']>();
  for (const [text, { key }] of [...new Map([...ofLeft, ...ofRight])].toSorted(byWeight)) {
    if (cut.has(typeOfKey(key))) continue;
    for (const finding of detectOfKey(comparison, text, key, ofLeft.get(text), ofRight.get(text))) {
      if (findings.size - first < limits.findingsMax || findings.has(finding)) findings.add(finding);
      else cut.add(typeOfKey(key));
      if (cut.has(typeOfKey(key))) break;
    }
  }
  for (const type of cut) findings.add(tooManyFindings(type, sides, limits.findingsMax));
}

/** Duplicates come last: where not all findings are told, those that block are. */
function byWeight(
  [one, { key: ofOne }]: readonly [string, Group],
  [other, { key: ofOther }]: readonly [string, Group],
): number {
  return Number(ofOne.kind === 'content') - Number(ofOther.kind === 'content') || compareUtf8(one, other);
}

/** What is found among the memories of one key. */
function* detectOfKey(
  comparison: Comparison,
  text: string,
  key: SemanticKey,
  ofLeft: Group | undefined,
  ofRight: Group | undefined,
): IterableIterator<Finding> {
  const { sides, limits } = comparison;
  const common = readCommon(comparison, text);
  const left = bounded(ofLeft?.members ?? [], limits);
  const right = bounded(ofRight?.members ?? [], limits);
  if (common.isCut || left.isCut || right.isCut) yield tooManyOfKey(key, sides);
  const { baseChangesetId: base, leftChangesetId: ours, rightChangesetId: theirs } = sides;
  for (const pair of pairsOf(left.members, right.members, ours, theirs)) {
    const found = detectPair(key, pair, sides.projectId);
    if (found !== undefined && !isOfOneLineage(comparison, pair)) yield found;
  }
  for (const [members, side] of [
    [right.members, theirs],
    [left.members, ours],
  ] as const) {
    for (const pair of pairsOf(common.members, members, base, side)) {
      const found = detectPair(key, pair, sides.projectId);
      if (found !== undefined) yield found;
    }
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

/**
 * Whether one memory of a pair from both sides came out of the other, which the side that retired it has no more (D7). Two that
 * one side has beside each other are not: one of them was taken up again.
 */
function isOfOneLineage({ sight, parted }: Comparison, { leftNumber, rightNumber }: NumberedPair): boolean {
  const becomes = (from: number, to: number, side: 'left' | 'right'): boolean => {
    const other = side === 'left' ? 'right' : 'left';
    const there = parted.touched.get(from)?.[side];
    if (there === undefined || isLive(there) || seesTouch(sight, [parted[other]], there)) return false;
    return followHeirs(sight, parted[side], from).live?.memory === to;
  };
  return becomes(leftNumber, rightNumber, 'right') || becomes(rightNumber, leftNumber, 'left');
}
