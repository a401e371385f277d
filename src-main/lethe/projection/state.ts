import type { JsonObject } from '../../../src-preload/contract/json.ts';
import { assert } from '../../base/assert.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { lastOpOf, seqOf } from '../rules/numbers.ts';
import { startVersion, type Version } from '../rules/overlay.ts';
import type { Place } from '../tables/chains.ts';
import {
  findNewestOf,
  findNewestOfChain,
  findNextTouchingChain,
  findTouch,
  listNewestTouches,
  liveStatuses,
  type Touch,
  type TouchStatus,
} from '../tables/touches.ts';
import { findVersion, readPayload } from '../tables/versions.ts';
import { type Sight, seenOfAny } from './sight.ts';

/** Whether one of the heads sees a touch. */
export function seesTouch(sight: Sight, heads: readonly Place[], touch: Touch): boolean {
  return seenOfAny(sight, heads, touch.chain) >= seqOf(touch.key);
}

/**
 * The newest touch of a memory that one of the heads sees: its state there (`L86`). A merge of sides that both touched it is
 * one of its touches, unless both mean the same: then the newer of theirs stands (`L143`). Reads one touch where nothing newer
 * was made elsewhere; after some unseen ones (`unseenTouchesMax`) it asks each chain that touched the memory instead.
 * @param below only touches by earlier ops than this one count
 */
export function findNewestTouch(
  sight: Sight,
  heads: readonly Place[],
  memory: number,
  below = Number.POSITIVE_INFINITY,
): Touch | undefined {
  const upTo = Math.min(below - 1, lastOpOf(Math.max(...heads.map((head) => head.seq))));
  return findNewestSeen(sight, memory, upTo, (chain) => seenOfAny(sight, heads, chain));
}

/**
 * The same at or below an op number for whoever sees a prefix of each chain.
 * @param seenIn the newest changeset of a chain that is seen, or 0
 */
export function findNewestSeen(
  sight: Sight,
  memory: number,
  upTo: number,
  seenIn: (chain: number) => number,
): Touch | undefined {
  const isSeen = (touch: Touch): boolean => seenIn(touch.chain) >= seqOf(touch.key);
  const first = findNewestOf(sight.db, memory, upTo);
  if (first === undefined || isSeen(first)) return first;
  const limit = sight.unseenTouchesMax - 1;
  const touches = listNewestTouches(sight.db, memory, first.key - 1, limit);
  const seen = touches.find(isSeen);
  const last = touches.at(-1);
  if (seen !== undefined || last === undefined || touches.length < limit) return seen;
  return findByChains(sight, memory, last.key - 1, seenIn);
}

function findByChains(
  sight: Sight,
  memory: number,
  upTo: number,
  seenIn: (chain: number) => number,
): Touch | undefined {
  const first = findTouch(sight.db, memory, memory);
  const isFirstSeen = first !== undefined && first.key <= upTo && seenIn(first.chain) >= seqOf(first.key);
  let newest = isFirstSeen ? first : undefined;
  for (
    let chain = findNextTouchingChain(sight.db, memory, -1);
    chain !== undefined;
    chain = findNextTouchingChain(sight.db, memory, chain)
  ) {
    const bound = Math.min(upTo, lastOpOf(seenIn(chain)));
    if (bound <= (newest?.key ?? 0)) continue;
    const touch = findNewestOfChain(sight.db, memory, chain, bound);
    if (touch !== undefined && touch.key > (newest?.key ?? 0)) newest = touch;
  }
  return newest;
}

/** Whether a memory in that status is active and has a text; one whose deprecation is proposed still is. */
export function isLiveStatus(status: TouchStatus | undefined): boolean {
  return liveStatuses.some((live) => live === status);
}

/** Whether an op that leaves a memory in that status retired it in favour of another, or of none. */
export function isRetiredStatus(status: TouchStatus): boolean {
  return status === 'corrected' || status === 'superseded' || status === 'duplicate';
}

/** Whether a touch leaves its memory active. */
export function isLive(touch: Touch | undefined): touch is Touch {
  return touch !== undefined && isLiveStatus(touch.status);
}

/**
 * A state by the op that made it: the row of a correction, or the op's own payload.
 * @param payloadOf where payloads come from, for readers that keep them
 */
export function loadVersion(
  db: ReadableDb,
  op: number,
  payloadOf: (op: number) => JsonObject = (one) => readPayload(db, one),
): Version {
  assert(op > 0, 'a version is made by an op');
  return findVersion(db, op) ?? startVersion(op, payloadOf(op));
}
