import type { Op } from '../../../src-preload/contract/changeset.ts';
import type { JsonObject, JsonValue } from '../../../src-preload/contract/json.ts';
import { type EventFields, readTags } from './event-fields.ts';

/** An event of a baseline as the replay sees it. */
export interface ReplayedEvent extends EventFields {
  readonly eventId: string;
}

/** What was attached to a memory last, and what before it. */
export interface ReplayedAttachment {
  readonly payload: JsonObject;
  readonly previous: ReplayedAttachment | undefined;
  /** How many there are, this one among them. */
  readonly count: number;
}

/** A memory as the replay leaves it. */
export interface ReplayedMemory {
  readonly memoryId: string;
  readonly active: boolean;
  readonly status: 'active' | 'corrected' | 'superseded' | 'duplicate' | 'deprecation_proposed';
  /** Empty when no changeset did: of a baseline event. */
  readonly introduced: string;
  readonly last: string;
  readonly source: 'legacy_event' | 'memory_git';
  /** The baseline event out of which the state grew. */
  readonly sourceEventId?: string;
  readonly content: string;
  readonly event_type?: string;
  readonly kind?: string;
  readonly scope?: string;
  readonly visibility?: string;
  readonly tags?: readonly string[];
  readonly confidence?: number;
  readonly payload: JsonObject;
  readonly evidence?: ReplayedAttachment | undefined;
  readonly verification?: ReplayedAttachment | undefined;
}

/** The op that restored a memory, and the changeset whose state it brought back. */
export interface ReplayedRestore {
  readonly seq: number;
  readonly ordinal: number;
  readonly at: number;
}

/** A state of a memory with what people are not shown of it. */
export interface ReplayedState {
  readonly memory: ReplayedMemory;
  /** The restore that says which relationships of the memory are seen. */
  readonly restored?: ReplayedRestore | undefined;
  /** Of a retired memory the one that took its place, or that it says the same as. */
  readonly heir?: string | undefined;
}

/** A memory as an op finds it. */
export interface ReplayedFound {
  readonly state: ReplayedState;
  /** The state that a retiring op leaves. */
  readonly kept: ReplayedState;
}

/** What an op makes of a memory. */
export interface ReplayedChange {
  readonly memoryId: string;
  readonly state: ReplayedState;
  /** The memory that it was made of by this op, or that this op made of it. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** An op in its place, and what it finds. */
export interface ReplayedOp {
  readonly op: Op;
  readonly seq: number;
  readonly changesetId: string;
  find(memoryId: string): ReplayedFound | undefined;
  /** The state at a changeset that the op's changeset descends from, and the number of that changeset. */
  findPast(memoryId: string, changesetId: string): { readonly state: ReplayedState; readonly at: number } | undefined;
}

/** What one op changes, read literally from `lethe.md` §5.6 and §0.4; of two changes of one memory the later stands. */
export function replayOp(replayed: ReplayedOp): readonly ReplayedChange[] {
  const { op, changesetId } = replayed;
  const payload = op.payload ?? {};
  const isRestore = op.op_type === 'correct_memory' && nonEmpty(payload.restores) !== undefined;
  if (isRestore) return restoreMemory(replayed);
  const target = op.target_event_id === undefined ? undefined : replayed.find(op.target_event_id);
  const touched = target && { ...target.state, memory: { ...target.state.memory, last: changesetId } };
  switch (op.op_type) {
    case 'add_memory':
      return addMemory(replayed, undefined);
    case 'supersede_memory': {
      const added = addMemory(replayed, target?.state.memory.memoryId);
      const made = added[0]?.memoryId;
      if (target === undefined || target.state.memory.memoryId === made) return added;
      return [retired(target, 'superseded', made, made), ...added];
    }
    case 'correct_memory':
      return correctMemory(replayed, target);
    case 'mark_duplicate': {
      const duplicate = replayed.find(nonEmpty(op.target_event_id) ?? nonEmpty(payload.duplicate_id) ?? '');
      const stays = nonEmpty(payload.duplicate_of) ?? nonEmpty(op.resulting_event_id);
      return duplicate === undefined ? [] : [retired(duplicate, 'duplicate', undefined, stays)];
    }
    case 'propose_deprecation':
      return changed(touched, (memory) => ({ ...memory, status: 'deprecation_proposed' }));
    case 'attach_evidence':
      return changed(touched, (memory) => ({ ...memory, evidence: attach(memory.evidence, payload) }));
    case 'attach_verification':
      return changed(touched, (memory) => ({ ...memory, verification: attach(memory.verification, payload) }));
    case 'add_relationship':
      return [];
  }
}

function changed(
  state: ReplayedState | undefined,
  change: (memory: ReplayedMemory) => ReplayedMemory,
): readonly ReplayedChange[] {
  if (state === undefined) return [];
  return [{ memoryId: state.memory.memoryId, state: { ...state, heir: undefined, memory: change(state.memory) } }];
}

function retired(
  { kept }: ReplayedFound,
  status: ReplayedMemory['status'],
  to: string | undefined,
  heir: string | undefined,
): ReplayedChange {
  const { memoryId } = kept.memory;
  return { memoryId, state: { ...kept, memory: { ...kept.memory, active: false, status }, heir }, to };
}

function correctMemory({ op, changesetId }: ReplayedOp, target: ReplayedFound | undefined): readonly ReplayedChange[] {
  if (target === undefined) return [];
  const { memory, restored } = target.state;
  const payload = op.payload ?? {};
  const resulting = op.resulting_event_id ?? '';
  const touched = { ...memory, active: true, status: 'active', last: changesetId } as const;
  if (resulting === '' || resulting === memory.memoryId)
    return [
      {
        memoryId: memory.memoryId,
        state: { memory: overlay({ ...touched, source: sourceAfter(memory, payload) }, payload), restored },
      },
    ];
  const fresh = { memoryId: resulting, introduced: changesetId, source: 'memory_git' } as const;
  const renamed = overlay({ ...touched, ...fresh }, payload);
  return [
    retired(target, 'corrected', resulting, resulting),
    { memoryId: resulting, state: { memory: renamed }, from: memory.memoryId },
  ];
}

/** A correction in place makes an event a memory of Git, unless it says nothing: a file of elsewhere can hold one that does not. */
function sourceAfter({ source }: ReplayedMemory, payload: JsonObject): ReplayedMemory['source'] {
  return Object.keys(payload).length === 0 ? source : 'memory_git';
}

function restoreMemory({ op, seq, changesetId, findPast }: ReplayedOp): readonly ReplayedChange[] {
  const memoryId = op.target_event_id ?? '';
  const past = findPast(memoryId, nonEmpty(op.payload?.restores) ?? '');
  if (past === undefined) return [];
  const { memory, heir } = past.state;
  const restored = { seq, ordinal: op.ordinal, at: past.at };
  return [{ memoryId, state: { memory: { ...memory, last: changesetId }, restored, heir } }];
}

function attach(previous: ReplayedAttachment | undefined, payload: JsonObject): ReplayedAttachment {
  return { payload, previous, count: (previous?.count ?? 0) + 1 };
}

function addMemory({ op, changesetId }: ReplayedOp, from: string | undefined): readonly ReplayedChange[] {
  const payload = op.payload ?? {};
  if (nonEmpty(payload.content) === undefined) return [];
  const memoryId =
    nonEmpty(op.resulting_event_id) ??
    nonEmpty(payload.memory_id) ??
    nonEmpty(payload.event_id) ??
    `mem:${changesetId}:${op.ordinal}`;
  const fresh = {
    memoryId,
    active: true,
    status: 'active',
    source: 'memory_git',
    introduced: changesetId,
    last: changesetId,
    content: '',
    payload: {},
  } as const;
  return [{ memoryId, state: { memory: overlay(fresh, payload) }, from: from === memoryId ? undefined : from }];
}

/** What `lethe.md` §5.5 makes of an event of a baseline. */
export function replayEvent(event: ReplayedEvent): ReplayedMemory {
  const { eventType, eventId, content, confidence } = event;
  const tags = readTags(event.tags);
  return {
    memoryId: eventId,
    active: true,
    status: 'active',
    introduced: '',
    last: '',
    source: 'legacy_event',
    sourceEventId: eventId,
    content,
    event_type: eventType,
    kind: ['task', 'flag', 'record'].includes(eventType) ? eventType : 'observation',
    scope: event.projectId,
    ...(tags.length === 0 ? {} : { tags }),
    ...(confidence === null ? {} : { confidence }),
    payload: {},
  };
}

function overlay(memory: ReplayedMemory, payload: JsonObject): ReplayedMemory {
  const texts: Partial<Record<'content' | 'event_type' | 'kind' | 'scope' | 'visibility', string>> = {};
  for (const field of ['content', 'event_type', 'kind', 'scope', 'visibility'] as const) {
    const text = nonEmpty(payload[field]);
    if (text !== undefined) texts[field] = text;
  }
  return {
    ...memory,
    ...texts,
    ...(payload.tags === undefined ? {} : { tags: tagsFrom(payload.tags) }),
    ...(typeof payload.confidence === 'number' ? { confidence: payload.confidence } : {}),
    payload: { ...memory.payload, ...payload },
  };
}

/** The text, when it is one with a character. */
export function nonEmpty(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function tagsFrom(value: JsonValue): readonly string[] {
  const parts = typeof value === 'string' ? value.split(/[,\s]/) : Array.isArray(value) ? value : [];
  return parts.filter((tag: JsonValue): tag is string => typeof tag === 'string' && tag !== '');
}
