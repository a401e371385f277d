import { memoryKinds, type Op, type OpType, visibilities } from '../../../src-preload/contract/changeset.ts';
import type { JsonObject, JsonValue } from '../../../src-preload/contract/json.ts';
import {
  contentBytesMax,
  stringValueBytesMax,
  summaryBytesMax,
  tagBytesMax,
  tagsMax,
} from '../../../src-preload/contract/limits.ts';
import { compareUtf8, isBlank, utf8Length } from '../../canonical/text.ts';
import { quoted } from './op-refusal.ts';

/** Keys that say where a reviewed operation came from (`lethe.md` §4). */
export const provenanceKeys = [
  'reviewer',
  'proposal_id',
  'source_changeset_id',
  'rejected_from',
  'cherrypicked_from',
  'left_branch',
  'right_branch',
] as const;

const common = ['summary', 'project_id', 'topic_id', 'actor_id', 'from_visibility', 'to_visibility', ...provenanceKeys];
const content = [
  'content',
  'kind',
  'event_type',
  'scope',
  'visibility',
  'tags',
  'confidence',
  'fact_key',
  'subject',
  'valid_from',
  'valid_to',
  'protected',
  'approval',
];
const attachment = new Set([...common, 'kind', 'source', 'note', 'status']);

/** The payload keys that each op may carry (`lethe.md` §4); any other key is refused by name. */
export const payloadKeysByType: Readonly<Record<OpType, ReadonlySet<string>>> = {
  add_memory: new Set([...common, ...content, 'memory_id', 'event_id']),
  correct_memory: new Set([...common, ...content, 'target_trust', 'source_trust']),
  supersede_memory: new Set([...common, ...content, 'target_trust', 'source_trust', 'memory_id', 'event_id']),
  mark_duplicate: new Set([...common, 'duplicate_id', 'duplicate_of']),
  add_relationship: new Set([...common, 'kind', 'from_memory_id', 'to_memory_id']),
  propose_deprecation: new Set([...common, 'reason']),
  attach_evidence: attachment,
  attach_verification: attachment,
};

/** The keys of a correction that restores a state (`lethe.md` §0.4). */
export const restoringKeys: ReadonlySet<string> = new Set([...common, 'restores']);

/**
 * Why the payload's keys and text lengths are not acceptable (`lethe.md` §4): keys in byte order, each first for being
 * known, then for the cap of its text.
 */
export function findKeyReason(opType: string, known: ReadonlySet<string>, payload: JsonObject): string | undefined {
  for (const key of Object.keys(payload).sort((a, b) => compareUtf8(a.toWellFormed(), b.toWellFormed()))) {
    if (!known.has(key)) return `payload field ${quoted(key)} is not supported for ${opType}`;
    const value = payload[key];
    const max = textBytesMax(key);
    if (typeof value === 'string' && utf8Length(value) > max) return `payload field ${key} is over ${max} bytes`;
  }
  return undefined;
}

function textBytesMax(key: string): number {
  if (key === 'content') return contentBytesMax;
  if (key === 'summary' || key === 'reason' || key === 'note') return summaryBytesMax;
  return stringValueBytesMax;
}

/**
 * Why a field that describes a memory has the wrong type or value, in a fixed order. Binds add, correct and supersede
 * alike (`lethe.md` §4, D10); a field that is absent is no reason.
 */
export function findContentReason(payload: JsonObject): string | undefined {
  if ('content' in payload && !isText(payload.content)) return 'content must be a string that is not blank';
  if ('kind' in payload && !isOneOf(memoryKinds, payload.kind)) return `kind must be one of ${memoryKinds.join(', ')}`;
  if ('scope' in payload && !isNonEmpty(payload.scope)) return 'scope must be a non-empty string';
  if ('visibility' in payload && !isOneOf(visibilities, payload.visibility)) {
    return `visibility must be one of ${visibilities.join(', ')}`;
  }
  if ('confidence' in payload && !isConfidence(payload.confidence)) return 'confidence must be a number from 0 to 1';
  return 'tags' in payload ? findTagsReason(payload.tags) : undefined;
}

function findTagsReason(tags: JsonValue | undefined): string | undefined {
  if (!isArray(tags)) return 'tags must be an array of strings';
  if (tags.length > tagsMax) return `tags has more than ${tagsMax} entries`;
  for (const [index, tag] of tags.entries()) {
    if (!isNonEmpty(tag)) return `tags[${index}] must be a non-empty string`;
    if (utf8Length(tag) > tagBytesMax) return `tags[${index}] is over ${tagBytesMax} bytes`;
  }
  return undefined;
}

/** The places where an op can name the memory that it makes. */
const identityChannels = ['resulting_event_id', 'memory_id', 'event_id'] as const;

/** Why the places that name the resulting memory disagree or are no texts. */
export function findIdentityReason(op: Op): string | undefined {
  const named: string[] = [];
  for (const channel of identityChannels) {
    const value = channel === 'resulting_event_id' ? op.resulting_event_id : op.payload?.[channel];
    if (value === undefined || value === '') continue;
    if (typeof value !== 'string') return `${channel} must be a string`;
    named.push(value);
    if (named[0] !== value)
      return `${channel} disagrees with another name of the resulting memory: give one, or the same`;
  }
  return undefined;
}

/** The id that an op gives to the memory it makes: resulting, else memory_id, else event_id; undefined when it gives none. */
export function findExplicitId(op: Op): string | undefined {
  for (const value of [op.resulting_event_id, op.payload?.memory_id, op.payload?.event_id])
    if (isNonEmpty(value)) return value;
  return undefined;
}

/** The changeset whose state of the target an op restores (`lethe.md` §0.4); undefined for every other op. */
export function restoredAt({ op_type, payload }: Op): string | undefined {
  const restores = op_type === 'correct_memory' ? payload?.restores : undefined;
  return isNonEmpty(restores) ? restores : undefined;
}

/** True for a text with at least one character. */
export function isNonEmpty(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value !== '';
}

function isText(value: JsonValue | undefined): boolean {
  return typeof value === 'string' && !isBlank(value);
}

function isConfidence(value: JsonValue | undefined): boolean {
  return typeof value === 'number' && value >= 0 && value <= 1;
}

function isOneOf(allowed: readonly string[], value: JsonValue | undefined): boolean {
  return typeof value === 'string' && allowed.includes(value);
}

function isArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}
