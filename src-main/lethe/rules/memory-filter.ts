import type { Timestamp } from '../../../src-preload/contract/ids.ts';
import type { JsonObject } from '../../../src-preload/contract/json.ts';
import { type MemoryFilterPart, memoryFilterParts, unspecified } from '../../../src-preload/contract/memory.ts';
import { fromTimestamp } from '../../base/clock.ts';
import type { OverlaidState } from './overlay.ts';

/** Which memories a read keeps (`L210`); see `memoryFilterShape`. */
export interface MemoryFilter {
  readonly kinds?: readonly string[] | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly visibilities?: readonly string[] | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly authors?: readonly string[] | undefined;
  readonly trusts?: readonly string[] | undefined;
  readonly since?: Timestamp | undefined;
  readonly until?: Timestamp | undefined;
}

/** Who changed a memory last, and when (milliseconds since 1970); undefined where no changeset did. */
export interface LastChange {
  readonly author: string;
  readonly changedMs: number;
}

/** The parts of a filter that ask something. */
export function askingParts(filter: MemoryFilter): readonly MemoryFilterPart[] {
  return memoryFilterParts.filter((part) => (filter[part] ?? []).length > 0);
}

/** A filter with the parts that ask something and no others, for a cursor or a manifest to pin. */
export function pinnedFilter(filter: MemoryFilter): JsonObject {
  return Object.fromEntries(
    askingParts(filter).map((part) => {
      const value = filter[part] ?? [];
      return [part, typeof value === 'string' ? value : [...value]];
    }),
  );
}

/** How a memory came to be trusted: its `approval`, else its `source_trust`, else `unspecified` (`L211`). */
export function trustOf(payload: JsonObject | undefined): string {
  const said = [payload?.approval, payload?.source_trust];
  return said.find((one): one is string => typeof one === 'string' && one !== '') ?? unspecified;
}

/**
 * The first part of a filter that a memory does not pass; undefined when it passes.
 * @param lastChange asked for only when a part needs it
 */
export function findFailingPart(
  filter: MemoryFilter,
  state: OverlaidState,
  lastChange: () => LastChange | undefined,
): MemoryFilterPart | undefined {
  return askingParts(filter).find((part) => !passesPart(part, filter, state, lastChange));
}

function passesPart(
  part: MemoryFilterPart,
  filter: MemoryFilter,
  state: OverlaidState,
  lastChange: () => LastChange | undefined,
): boolean {
  const { kinds = [], tags = [], visibilities = [], scopes = [], authors = [], trusts = [], since, until } = filter;
  switch (part) {
    case 'kinds':
      return kinds.includes(state.kind ?? '');
    case 'tags':
      return tags.every((tag) => (state.tags ?? []).includes(tag));
    case 'visibilities':
      return visibilities.includes(state.visibility ?? unspecified);
    case 'scopes':
      return scopes.includes(state.scope ?? '');
    case 'trusts':
      return trusts.includes(trustOf(state.payload));
    case 'authors':
      return authors.includes(lastChange()?.author ?? '');
    case 'since':
      return isInTime(lastChange(), (ms) => since === undefined || ms >= fromTimestamp(since));
    case 'until':
      return isInTime(lastChange(), (ms) => until === undefined || ms <= fromTimestamp(until));
  }
}

/** What no changeset changed has no time of change, and is in none. */
function isInTime(change: LastChange | undefined, holds: (changedMs: number) => boolean): boolean {
  return change !== undefined && holds(change.changedMs);
}
