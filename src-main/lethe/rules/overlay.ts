import type { JsonObject, JsonValue } from '../../../src-preload/contract/json.ts';
import { assert } from '../../base/assert.ts';
import type { AttachmentList } from './attachments.ts';

/** The fields of a memory that ops set, each with its own rule of replacement (`lethe.md` §5.6). */
export const overlaidFields = ['content', 'event_type', 'kind', 'scope', 'visibility', 'tags', 'confidence'] as const;
export type OverlaidField = (typeof overlaidFields)[number];

const textFields = ['content', 'event_type', 'kind', 'scope', 'visibility'] as const;

/**
 * A state of a memory as the ops that made it: for each field and for each payload key the number of the op that set it
 * last. Values stay in the ops' payloads; both maps are bounded by the closed key sets of the ops.
 */
export interface Version {
  /** The op that made this state. */
  readonly version: number;
  /** The op under which the memory got its id. */
  readonly introduced: number;
  readonly fields: Readonly<Partial<Record<OverlaidField, number>>>;
  readonly payload: Readonly<Record<string, number>>;
  /** The op that attached evidence last; what came before hangs on it. */
  readonly evidence?: number | undefined;
  /** The op that attached a verification last. */
  readonly verification?: number | undefined;
  /** Lists that a merge joined out of those of both sides: what was attached to them no longer hangs on one another. */
  readonly joined?: Readonly<Partial<Record<AttachmentList, JoinedList>>> | undefined;
  /** The op that restored the memory last: it says which of the relationships that start here are seen (`L147`). */
  readonly restored?: number | undefined;
  /** The number that stands for the baseline event out of which the state grew. */
  readonly source?: number | undefined;
}

/** As much of a joined list as is ever shown. */
export interface JoinedList {
  /** The ops that attached last, oldest first, `attachmentsShownMax` at most. */
  readonly newest: readonly number[];
  readonly total: number;
}

/** The values of a state. */
export interface OverlaidState {
  readonly content: string;
  readonly event_type?: string;
  readonly kind?: string;
  readonly scope?: string;
  readonly visibility?: string;
  readonly tags?: string[];
  readonly confidence?: number;
  readonly payload?: JsonObject;
}

/** The state that an add or a replacement starts with: its own payload and nothing else (`L91`). */
export function startVersion(op: number, payload: JsonObject): Version {
  return overlayVersion({ version: op, introduced: op, fields: {}, payload: {} }, op, payload);
}

/**
 * The state after a correction (`L92`): every payload key is merged; non-empty strings replace content, event_type, kind,
 * scope and visibility; a tags key replaces the tags; a number replaces the confidence. Empty strings never clear.
 */
export function overlayVersion(before: Version, op: number, payload: JsonObject): Version {
  const fields: Partial<Record<OverlaidField, number>> = { ...before.fields };
  for (const field of overlaidFields) if (setsField(field, payload)) fields[field] = op;
  const keys = { ...before.payload };
  for (const key of Object.keys(payload)) keys[key] = op;
  return { ...before, version: op, fields, payload: keys };
}

/** The values of a state, read from the payloads of the ops that set them (`L92`). */
export function readVersion(version: Version, payloadOf: (op: number) => JsonObject): OverlaidState {
  const value = (field: OverlaidField): JsonValue | undefined => {
    const op = version.fields[field];
    return op === undefined ? undefined : payloadOf(op)[field];
  };
  const state: { -readonly [Key in keyof OverlaidState]: OverlaidState[Key] } = { content: '' };
  for (const field of textFields) {
    const text = value(field);
    if (typeof text === 'string') state[field] = text;
  }
  const tags = value('tags');
  if (tags !== undefined) {
    const parsed = parseTags(tags);
    if (parsed.length > 0) state.tags = parsed;
  }
  const confidence = value('confidence');
  if (typeof confidence === 'number') state.confidence = confidence;
  const payload = mergedPayload(version, payloadOf);
  if (payload !== undefined) state.payload = payload;
  return state;
}

/** The ops in whose payloads the values of a state stand. */
export function opsOfVersion({ fields, payload }: Version): readonly number[] {
  return [...new Set([...Object.values(fields), ...Object.values(payload)])];
}

/**
 * Whether a state is still what an event of the baseline said: nobody corrected it. What is attached to it, and that it is to
 * be given up, is not said by a correction and leaves it the event's (`L241`).
 */
export function isStillEvent({ source, introduced, payload }: Version): boolean {
  return source !== undefined && introduced === source && Object.keys(payload).length === 0;
}

/** Whether two states say the same of themselves, whatever was attached to them. */
export function saysSame(one: Version, other: Version): boolean {
  const isSame = (left: Readonly<Record<string, number>>, right: Readonly<Record<string, number>>): boolean => {
    const keys = Object.keys(left);
    return keys.length === Object.keys(right).length && keys.every((key) => left[key] === right[key]);
  };
  return isSame(one.fields, other.fields) && isSame(one.payload, other.payload);
}

/** Whether a payload's content starts a memory at all: an empty one does not (`lethe.md` §5.6). */
export function hasContent(payload: JsonObject): boolean {
  return typeof payload.content === 'string' && payload.content !== '';
}

function setsField(field: OverlaidField, payload: JsonObject): boolean {
  const value = Object.hasOwn(payload, field) ? payload[field] : undefined;
  if (field === 'tags') return value !== undefined;
  if (field === 'confidence') return typeof value === 'number';
  return typeof value === 'string' && value !== '';
}

function mergedPayload(version: Version, payloadOf: (op: number) => JsonObject): JsonObject | undefined {
  const entries = Object.entries(version.payload).map(([key, op]): readonly [string, JsonValue] => {
    const value = payloadOf(op)[key];
    assert(value !== undefined, 'a version names payload keys that its ops have');
    return [key, value];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** An array keeps its non-empty strings, a string is split on commas and white space, anything else is no tags. */
function parseTags(value: JsonValue): string[] {
  if (typeof value === 'string') return value.split(/[,\s]+/).filter((tag) => tag !== '');
  if (!Array.isArray(value)) return [];
  return value.flatMap((tag: JsonValue) => (typeof tag === 'string' && tag !== '' ? [tag] : []));
}
