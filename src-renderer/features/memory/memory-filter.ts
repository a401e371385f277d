import type { CommandInput } from '../../../src-preload/contract/commands/table.ts';

type ContextInput = CommandInput<'memory.context_at'>;

/** What the engine keeps a list of memories to; absent parts keep all. */
export type MemoryFilter = Pick<
  ContextInput,
  'kinds' | 'tags' | 'visibilities' | 'scopes' | 'authors' | 'trusts' | 'since' | 'until'
>;

/** The parts that stand behind the Filters button. */
const hiddenParts = ['visibilities', 'scopes', 'authors', 'trusts', 'since', 'until'] as const;

/** How many of the parts behind the button restrict the list. */
export function countHidden(filter: MemoryFilter): number {
  return hiddenParts.filter((part) => isGiven(filter[part])).length;
}

/** The filter with a part changed; an empty part is left out. */
export function changed(filter: MemoryFilter, part: MemoryFilter): MemoryFilter {
  const entries = Object.entries({ ...filter, ...part }).filter(([, value]) => isGiven(value));
  return Object.fromEntries(entries);
}

/** The start of a day of the owner's time zone as the engine takes it; undefined for no day. */
export function dayStart(day: string): string | undefined {
  const time = Date.parse(`${day}T00:00:00`);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

/** The last millisecond of a day of the owner's time zone. */
export function dayEnd(day: string): string | undefined {
  const time = Date.parse(`${day}T23:59:59.999`);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

/** The day, in the owner's time zone, of a moment that `dayStart` or `dayEnd` made; empty for none. */
export function dayOf(at: string | undefined): string {
  if (at === undefined) return '';
  const date = new Date(at);
  const two = (amount: number): string => String(amount).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function isGiven(value: string | readonly unknown[] | undefined): boolean {
  return value !== undefined && value.length > 0;
}
