import type { MemoryFilterPart } from '../../src-preload/contract/memory.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import { askingParts, findFailingPart, type LastChange, type MemoryFilter } from './rules/memory-filter.ts';
import { seqOf } from './rules/numbers.ts';
import type { OverlaidState } from './rules/overlay.ts';
import { findLastChange } from './tables/changesets.ts';
import { listEventsOfMemories } from './tables/events.ts';
import { findOpRow } from './tables/ops.ts';
import type { Touch } from './tables/touches.ts';

/** The filter of one read, over the states that a head shows. */
export interface MemorySieve {
  /** It keeps everything: nothing has to be read to say so. */
  readonly keepsAll: boolean;
  /** The first part of the filter that the state a touch left does not pass; undefined when it is kept. */
  findFailing(touch: Touch, state: OverlaidState): MemoryFilterPart | undefined;
}

/** Opens a filter for one verb (`L210`). Who changed a memory last, and when, is read once a changeset and only when asked. */
export function openSieve(db: ReadableDb, filter: MemoryFilter): MemorySieve {
  const known = new Map<number, LastChange | undefined>();
  const changeOf = (seq: number): LastChange | undefined => {
    if (!known.has(seq)) known.set(seq, findLastChange(db, seq));
    return known.get(seq);
  };
  return {
    keepsAll: askingParts(filter).length === 0,
    findFailing: (touch, state) =>
      findFailingPart(filter, state, () => findEventChange(db, touch.version) ?? changeOf(seqOf(touch.version))),
  };
}

/** Of a memory that is still what a baseline event says: the time of the event, which no principal's changeset has. */
function findEventChange(db: ReadableDb, version: number): LastChange | undefined {
  if (findOpRow(db, version) !== undefined) return undefined;
  const [event] = listEventsOfMemories(db, [version]);
  return event === undefined ? undefined : { author: '', changedMs: Date.parse(event.created_at) };
}
