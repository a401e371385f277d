import { compareUtf8 } from '../canonical/text.ts';
import type { AcceptedReader } from './projection/accepted.ts';
import { listBereft, successorOf } from './projection/bereft.ts';
import { findNewestCommonTouch, followHeirs, type PartedSides } from './projection/common-state.ts';
import type { Sight } from './projection/sight.ts';
import { findNewestTouch, isLive, isLiveStatus } from './projection/state.ts';
import type { FindingBook } from './rules/detect/finding.ts';
import { detectBereft, detectThreeWay, type SideState, type ThreeWayStates } from './rules/detect/three-way.ts';
import { seqOf } from './rules/numbers.ts';
import type { Place } from './tables/chains.ts';
import type { Touch } from './tables/touches.ts';

/**
 * The conflicts of single memories (`lethe.md` §0.3, D6): those that changesets of both sides touched, and those that stand
 * for a duplicate of one side and that the other side retired (`L163`).
 */
export function detectOfOneMemory(
  sight: Sight,
  sides: PartedSides,
  accepted: AcceptedReader,
  findings: FindingBook,
): void {
  const found = new Set<number>();
  for (const { memory, isByLeft, isByRight, common, left, right } of sides.touched.values()) {
    if (!isByLeft || !isByRight) continue;
    for (const finding of detectThreeWay(statesOf(sight, accepted, memory, common, left, right))) {
      findings.add(finding);
      found.add(memory);
    }
  }
  const byId = (one: number, other: number): number => compareUtf8(accepted.memoryId(one), accepted.memoryId(other));
  for (const bereft of [...listBereft(sight, sides.left.seq, sides.right.seq).keys()].toSorted(byId)) {
    const onLeft = followHeirs(sight, sides.left, bereft);
    const onRight = followHeirs(sight, sides.right, bereft);
    // What is decided about one of those that stand for it decides about it.
    if ([...onLeft.followed, ...onRight.followed].some((memory) => found.has(memory))) continue;
    const memory = retiredBy(sight, sides.right, onLeft.live) ?? retiredBy(sight, sides.left, onRight.live) ?? bereft;
    found.add(memory);
    const left = findNewestTouch(sight, [sides.left], memory);
    const right = findNewestTouch(sight, [sides.right], memory);
    const common = findNewestCommonTouch(sight, sides.left, sides.right, memory);
    findings.add(detectBereft(statesOf(sight, accepted, memory, common, left, right)));
  }
}

/** The memory that stands for a bereft one on one side, when the other side retired just that one. */
function retiredBy(sight: Sight, other: Place, heir: Touch | undefined): number | undefined {
  const there = heir === undefined ? undefined : findNewestTouch(sight, [other], heir.memory);
  return there === undefined || isLiveStatus(there.status) ? undefined : there.memory;
}

function statesOf(
  sight: Sight,
  accepted: AcceptedReader,
  memory: number,
  common: Touch | undefined,
  left: Touch | undefined,
  right: Touch | undefined,
): ThreeWayStates {
  const stateOf = (touch: Touch | undefined): SideState | null =>
    touch === undefined ? null : readSideState(sight, accepted, touch);
  return { memoryId: accepted.memoryId(memory), base: stateOf(common), left: stateOf(left), right: stateOf(right) };
}

function readSideState(sight: Sight, accepted: AcceptedReader, touch: Touch): SideState {
  const successor = isLive(touch) ? undefined : successorOf(sight.db, touch);
  return {
    memory: accepted.read(touch),
    isLive: isLive(touch),
    replacedBy: successor === undefined ? undefined : accepted.memoryId(successor),
    changesetId: accepted.changesetId(seqOf(touch.key)),
  };
}
