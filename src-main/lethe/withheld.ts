import type { MemoryId } from '../../src-preload/contract/ids.ts';
import type { MemoryContext } from '../../src-preload/contract/memory.ts';
import { sha256Hex } from '../canonical/digest.ts';
import { utf8Length } from '../canonical/text.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import type { AcceptedReader } from './projection/accepted.ts';
import { findMemoryNumber } from './projection/identity.ts';
import type { Sight } from './projection/sight.ts';
import { findNewestTouch, isLive } from './projection/state.ts';
import type { Place } from './tables/chains.ts';

/** What conflicts withhold at a head, whether today's do or those of the day that a manifest pinned. */
export interface Withheld {
  /** The open conflicts that the head's history meets, as many as are told. */
  readonly conflictIds: readonly string[];
  /** Memories that are not shown, by number, with the conflict that withholds each. */
  readonly memories: ReadonlyMap<number, string>;
}

/** A withheld memory and its conflict, as a manifest pins them. */
export type PinnedWithheld = readonly (readonly [memoryId: string, conflictId: string])[];

/** Of the withheld memories those whose reason is always told: as many as this, and within so many bytes. */
export const withheldReasonsMax = 32;
export const withheldReasonBytesMax = 4_096;

/** What a manifest pinned as withheld, by memory number. */
export function withheldThen(
  db: ReadableDb,
  projectId: string,
  conflictIds: readonly string[],
  pinned: PinnedWithheld,
): Withheld {
  const memories = pinned.flatMap(([memoryId, conflictId]): [number, string][] => {
    const number = findMemoryNumber(db, projectId, memoryId);
    return number === undefined ? [] : [[number, conflictId]];
  });
  return { conflictIds, memories: new Map(memories) };
}

/** Those of the memories that are live at a head: the others are not shown anyway, and for reasons of their own. */
export function liveAmong(
  sight: Sight,
  head: Place,
  memories: ReadonlyMap<number, string>,
): ReadonlyMap<number, string> {
  return new Map([...memories].filter(([memory]) => isLive(findNewestTouch(sight, [head], memory))));
}

/**
 * What a cursor says of withheld memories: nothing where there are none, else which. Their pages would not fit together
 * with those of a day on which others are withheld.
 */
export function withheldMark(memories: ReadonlyMap<number, unknown>): { readonly withheld?: string } {
  if (memories.size === 0) return {};
  const numbers = [...memories.keys()].toSorted((one, other) => one - other);
  return { withheld: sha256Hex(numbers.join(' ')).slice(0, 16) };
}

/** Why a memory is withheld (`lethe.md` §5.8). */
export function withheldReason(conflictId: string): string {
  return `withheld by unresolved conflict ${conflictId}`;
}

/** The withheld memories by their public ids, for a manifest to pin. */
export function pinWithheld(accepted: Pick<AcceptedReader, 'memoryId'>, { memories }: Withheld): PinnedWithheld {
  return [...memories].map(([memory, conflictId]) => [accepted.memoryId(memory), conflictId]);
}

/** What every reply says of withheld memories (`L213`): the conflicts, how many memories, and the first of the reasons. */
export function withheldFields(
  accepted: Pick<AcceptedReader, 'memoryId'>,
  { conflictIds, memories }: Withheld,
): Pick<MemoryContext, 'unresolved_conflicts' | 'exclusion_reasons' | 'withheld_total'> {
  const reasons: [MemoryId, string][] = [];
  let bytes = 0;
  for (const [memory, conflictId] of memories) {
    const reason: [MemoryId, string] = [accepted.memoryId(memory), withheldReason(conflictId)];
    bytes += utf8Length(JSON.stringify(reason));
    if (reasons.length === withheldReasonsMax || (reasons.length > 0 && bytes > withheldReasonBytesMax)) break;
    reasons.push(reason);
  }
  return {
    ...(conflictIds.length === 0 ? {} : { unresolved_conflicts: [...conflictIds] }),
    ...(reasons.length === 0 ? {} : { exclusion_reasons: Object.fromEntries(reasons) }),
    ...(memories.size === 0 ? {} : { withheld_total: memories.size }),
  };
}
