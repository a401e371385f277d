import type { JsonObject } from '../../../src-preload/contract/json.ts';

export const eventTypes = ['record', 'log', 'flag', 'task', 'summary', 'system'] as const;

/** What an event says of itself, as far as a memory made of it says it too. */
export interface EventFields {
  readonly projectId: string;
  readonly eventType: string;
  readonly content: string;
  /** As stored: a JSON array, or the text of an older store. */
  readonly tags: string;
  readonly confidence: number | null;
}

/**
 * A moment at a fixed width, to the nanosecond: the text order of these is the order of time, which that of timestamps
 * without trailing zeros is not. Takes RFC 3339 in UTC with at most nine digits of a fraction.
 */
export function toOrder(timestamp: string): string {
  const [seconds = '', fraction = ''] = timestamp.replace(/Z$/, '').split('.');
  return `${seconds}.${fraction.padEnd(9, '0')}Z`;
}

/** The tags of an event: those of a JSON array, or of an older store's text, split on commas and white space (`lethe.md` §5.5). */
export function readTags(stored: string): string[] {
  const parts = stored.startsWith('[') ? parseList(stored) : undefined;
  return (parts ?? stored.split(/[,\s]+/)).filter((tag) => tag !== '');
}

function parseList(stored: string): string[] | undefined {
  try {
    const list: unknown = JSON.parse(stored);
    return Array.isArray(list) ? list.filter((tag): tag is string => typeof tag === 'string') : undefined;
  } catch {
    return undefined;
  }
}

/** What a baseline memory says, as if an op had said it: the values of its state are read from here (`lethe.md` §5.5). */
export function baselineFields(event: EventFields): JsonObject {
  const tags = readTags(event.tags);
  return {
    content: event.content,
    event_type: event.eventType,
    kind: kindOf(event.eventType),
    scope: event.projectId,
    ...(tags.length === 0 ? {} : { tags }),
    ...(event.confidence === null ? {} : { confidence: event.confidence }),
  };
}

function kindOf(eventType: string): string {
  return eventType === 'task' || eventType === 'flag' || eventType === 'record' ? eventType : 'observation';
}
