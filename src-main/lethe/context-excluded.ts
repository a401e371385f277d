import type { MemoryId } from '../../src-preload/contract/ids.ts';
import { utf8Length } from '../canonical/text.ts';
import { walkTouchesBack } from './context-known.ts';
import type { PageQuestion } from './context-page.ts';
import { findNewestTouch } from './projection/state.ts';
import { findRetiredReason } from './retired-reason.ts';
import { readVersion } from './rules/overlay.ts';
import type { Touch } from './tables/touches.ts';
import { withheldReason } from './withheld.ts';

/** Reasons of one page, and the bytes of all of them. */
export const excludedPerPageMax = 100;
export const excludedBytesMax = 24_576;

/** Memories that a context leaves out, each with its reason, and below which op the next page goes on. */
export interface ExcludedPage {
  readonly reasons: readonly (readonly [MemoryId, string])[];
  readonly next: number | undefined;
}

/**
 * The memories that the head knows and a page does not show, most recently touched first, each with its reason (`L214`):
 * retired, and by what; withheld, and by which conflict; kept out by a part of the filter; or beyond the limit. A page ends
 * with `bounds.leftOutMax` touches looked at, short, and the next goes on (`L107`).
 * @param shown numbers of the memories that the page shows
 * @param below only memories that an earlier op than this one touched last
 */
export function findExcluded(question: PageQuestion, shown: ReadonlySet<number>, below: number): ExcludedPage {
  const { sight, head, bounds, accepted } = question;
  const reasons: (readonly [MemoryId, string])[] = [];
  let bytes = 0;
  let looked = 0;
  let left: number | undefined;
  for (const touch of walkTouchesBack(sight, head, below)) {
    // An op touches two memories at most: a page ends between two ops.
    const isFull = looked >= bounds.leftOutMax || reasons.length >= excludedPerPageMax || bytes >= excludedBytesMax;
    if (isFull && touch.key !== left) return { reasons, next: left };
    left = touch.key;
    looked += 1;
    if (shown.has(touch.memory) || findNewestTouch(sight, [head], touch.memory)?.key !== touch.key) continue;
    const reason = [accepted.memoryId(touch.memory), reasonOf(question, touch)] as const;
    bytes += utf8Length(JSON.stringify(reason));
    reasons.push(reason);
  }
  return { reasons, next: undefined };
}

function reasonOf({ db, sieve, accepted, withheld }: PageQuestion, touch: Touch): string {
  const retired = findRetiredReason(db, accepted, touch);
  if (retired !== undefined) return retired;
  const conflictId = withheld.get(touch.memory);
  if (conflictId !== undefined) return withheldReason(conflictId);
  const part = sieve.keepsAll
    ? undefined
    : sieve.findFailing(touch, readVersion(accepted.version(touch), accepted.payloadOf));
  return part === undefined ? 'outside selected context limit' : `left out by the filter on ${part}`;
}
