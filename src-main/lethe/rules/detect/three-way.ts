import type { JsonObject } from '../../../../src-preload/contract/json.ts';
import type { AcceptedMemory } from '../../../../src-preload/contract/memory.ts';
import { meaningOf, meansSame } from '../meaning.ts';
import type { Finding } from './finding.ts';

/** What one side says of a memory. */
export interface SideState {
  readonly memory: AcceptedMemory;
  readonly isLive: boolean;
  /** Of a retired memory, the one that came in its place on that side. */
  readonly replacedBy: string | undefined;
  /** The changeset that touched it last on that side. */
  readonly changesetId: string;
}

/** A memory before the sides parted and on both of them; null where it was not known. */
export interface ThreeWayStates {
  readonly memoryId: string;
  readonly base: SideState | null;
  readonly left: SideState | null;
  readonly right: SideState | null;
}

/**
 * The conflicts of a memory that changesets of both sides touched (`lethe.md` D6, §0.3): both added it, one retired what the
 * other did not, or both changed it. Nothing when both sides say the same.
 */
export function detectThreeWay(states: ThreeWayStates): readonly Finding[] {
  const { base, left, right } = states;
  if (saysSame(left, right)) return [];
  if (base === null) return [found(states, 'identity_collision', 'Both sides added different memories under one id')];
  if (left?.isLive !== right?.isLive)
    return [
      found(
        states,
        'delete_modify',
        `The ${left?.isLive === true ? 'right' : 'left'} side retired a memory that the other side kept`,
      ),
    ];
  if (left?.isLive === true) return [found(states, 'concurrent_edit', 'Both sides changed one memory differently')];
  return [found(states, 'concurrent_edit', 'Both sides retired one memory differently')];
}

/**
 * The conflict of a memory that stands for a duplicate of one side and that the other side retired (`L163`), whoever touched it.
 */
export function detectBereft(states: ThreeWayStates): Finding {
  return found(states, 'delete_modify', 'One side retired the memory that stands for a duplicate of the other side');
}

function saysSame(left: SideState | null, right: SideState | null): boolean {
  if (left === null || right === null) return left === right;
  return left.isLive === right.isLive && left.replacedBy === right.replacedBy && meansSame(left.memory, right.memory);
}

function found(states: ThreeWayStates, type: Finding['type'], summary: string): Finding {
  const { memoryId, base, left, right } = states;
  return {
    type,
    severity: 'blocking',
    summary,
    details: {
      memory_id: memoryId,
      base: shownOf(base),
      left: shownOf(left),
      right: shownOf(right),
      ...(left === null ? {} : { left_changeset: left.changesetId }),
      ...(right === null ? {} : { right_changeset: right.changesetId }),
      ...(left?.replacedBy === undefined ? {} : { left_replaced_by: left.replacedBy }),
      ...(right?.replacedBy === undefined ? {} : { right_replaced_by: right.replacedBy }),
    },
    memoryIds: [memoryId],
    left: new Map([[memoryId, saidOf(left)]]),
    right: new Map([[memoryId, saidOf(right)]]),
  };
}

function shownOf(state: SideState | null): JsonObject | null {
  if (state === null) return null;
  return Object.fromEntries(
    Object.entries(state.memory).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}

/** What came in the place of a retired memory is part of what the side says of it. */
function saidOf(state: SideState | null): JsonObject | null {
  if (state === null) return null;
  const { memory, replacedBy } = state;
  return { ...meaningOf(memory), ...(replacedBy === undefined ? {} : { replaced_by: replacedBy }) };
}
