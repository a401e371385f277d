import type { Op } from '../../../src-preload/contract/changeset.ts';
import type { JsonValue } from '../../../src-preload/contract/json.ts';
import { isNonEmpty } from './op-fields.ts';

/** One of the two memories that an op is about, and the places where the op can name it, the preferred one first. */
interface End {
  /** What a refusal calls it. */
  readonly name: string;
  readonly channels: readonly string[];
}

interface Ends {
  readonly first: End;
  readonly second: End;
}

/** `lethe.md` §4; of a duplicate's canonical memory `duplicate_of` is preferred (§5.6). */
const endsByType: Partial<Readonly<Record<Op['op_type'], Ends>>> = {
  mark_duplicate: {
    first: { name: 'the duplicate', channels: ['target_event_id', 'duplicate_id'] },
    second: { name: 'the memory that stays', channels: ['duplicate_of', 'resulting_event_id'] },
  },
  add_relationship: {
    first: { name: 'the memory that it starts at', channels: ['target_event_id', 'from_memory_id'] },
    second: { name: 'the memory that it leads to', channels: ['resulting_event_id', 'to_memory_id'] },
  },
};

/** One of the memories that an op names. */
export interface NamedEnd {
  readonly name: string;
  readonly memoryId: string;
}

/**
 * The two memories that mark_duplicate (duplicate, canonical) and add_relationship (from, to) are about, in that order; an
 * end that the op does not name is left out. None of any other op.
 */
export function listEnds(op: Op): readonly NamedEnd[] {
  const ends = endsByType[op.op_type];
  if (ends === undefined) return [];
  return [ends.first, ends.second].flatMap((end) => {
    const memoryId = valuesOf(op, end).find((value) => isNonEmpty(value));
    return memoryId === undefined ? [] : [{ name: end.name, memoryId }];
  });
}

/** The first end of an op that is about two memories: the duplicate, or where a relationship starts. */
export function findFirstEnd(op: Op): string | undefined {
  const end = endsByType[op.op_type]?.first;
  return end === undefined ? undefined : valuesOf(op, end).find((value) => isNonEmpty(value));
}

/** The second end: the memory that stays, or where a relationship leads. */
export function findSecondEnd(op: Op): string | undefined {
  const end = endsByType[op.op_type]?.second;
  return end === undefined ? undefined : valuesOf(op, end).find((value) => isNonEmpty(value));
}

/** Why an op does not name two memories: both named, each the same wherever it is, and not the same as the other (`L121`). */
export function findEndsReason(op: Op): string | undefined {
  const ends = endsByType[op.op_type];
  if (ends === undefined) return undefined;
  const reason = findEndReason(op, ends.first) ?? findEndReason(op, ends.second);
  if (reason !== undefined) return reason;
  if (findFirstEnd(op) !== findSecondEnd(op)) return undefined;
  return `${ends.first.name} and ${ends.second.name} must be two different memories`;
}

function findEndReason(op: Op, end: End): string | undefined {
  const named: string[] = [];
  for (const [index, value] of valuesOf(op, end).entries()) {
    if (value === undefined || value === '') continue;
    if (typeof value !== 'string') return `${end.channels[index]} must be a string`;
    named.push(value);
  }
  const [first, second] = named;
  if (first === undefined) return `${end.channels.join(' or ')} must name ${end.name}`;
  if (second === undefined || second === first) return undefined;
  return `${end.channels.join(' and ')} disagree about ${end.name}: give one, or the same`;
}

function valuesOf(op: Op, end: End): readonly (JsonValue | undefined)[] {
  return end.channels.map((channel) => {
    if (channel === 'target_event_id') return op.target_event_id;
    return channel === 'resulting_event_id' ? op.resulting_event_id : op.payload?.[channel];
  });
}
