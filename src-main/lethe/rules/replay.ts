import type { Op } from '../../../src-preload/contract/changeset.ts';
import type { JsonObject, JsonValue } from '../../../src-preload/contract/json.ts';
import { assert } from '../../base/assert.ts';
import { isBlank } from '../../canonical/text.ts';

/** A changeset as the replay sees it. */
export interface ReplayedChangeset {
  readonly changesetId: string;
  /** Parents by whatever key the history has, in their order. */
  readonly parents: readonly number[];
  readonly ops: readonly Op[];
}

export type History = ReadonlyMap<number, ReplayedChangeset>;

/** What was attached to a memory last, and what before it. */
export interface ReplayedAttachment {
  readonly payload: JsonObject;
  readonly previous: ReplayedAttachment | undefined;
  /** How many there are, this one among them. */
  readonly count: number;
}

/** A relationship that an op of the history added. */
export interface ReplayedRelationship {
  readonly from: string;
  readonly to: string;
  readonly changesetId: string;
  readonly ordinal: number;
  readonly payload: JsonObject;
}

/** A memory as the replay leaves it. */
export interface ReplayedMemory {
  readonly memoryId: string;
  readonly active: boolean;
  readonly status: 'active' | 'corrected' | 'superseded' | 'duplicate' | 'deprecation_proposed';
  /** Number of the op in replay order that touched it last; retiring is no touch. */
  readonly order: number;
  readonly introduced: string;
  readonly last: string;
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

/** The state at one head, from scratch. */
export interface Replayed {
  /** Every changeset of the head's history in replay order. */
  readonly changesets: readonly number[];
  readonly memories: ReadonlyMap<string, ReplayedMemory>;
  /** In replay order. One whose ends the history had not named by then is none (`L134`). */
  readonly relationships: readonly ReplayedRelationship[];
}

type Memories = Map<string, ReplayedMemory>;

/**
 * The from-scratch twin of the derived index: the projection of `lethe.md` §5.4 to §5.6 read literally over a history that is
 * held in memory. Depth-first post-order, parents in their order, each changeset once; then op by op. Cost: all of it.
 */
export function replay(history: History, head: number): Replayed {
  const changesets = replayOrder(history, head);
  const memories: Memories = new Map();
  const relationships: ReplayedRelationship[] = [];
  let order = 0;
  for (const seq of changesets) {
    const changeset = getChangeset(history, seq);
    for (const op of changeset.ops) {
      order += 1;
      replayOp(memories, changeset.changesetId, op, order);
      relationships.push(...relationshipsOf(memories, changeset.changesetId, op));
    }
  }
  return { changesets, memories, relationships };
}

/** Memories that are active, most recently touched first (§5.9, §5.10 without a query). */
export function listRecent(replayed: Replayed): readonly ReplayedMemory[] {
  const active = [...replayed.memories.values()].filter((memory) => memory.active && !isBlank(memory.content));
  return active.toSorted((one, other) => other.order - one.order);
}

/** Depth-first post-order without recursion, since a history may be deeper than a stack. */
function replayOrder(history: History, head: number): readonly number[] {
  const order: number[] = [];
  const visited = new Set<number>();
  const stack = [{ seq: head, next: 0 }];
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    visited.add(top.seq);
    const parent = getChangeset(history, top.seq).parents[top.next];
    if (parent === undefined) {
      order.push(top.seq);
      stack.pop();
      continue;
    }
    top.next += 1;
    if (!visited.has(parent)) stack.push({ seq: parent, next: 0 });
  }
  return order;
}

function getChangeset(history: History, seq: number): ReplayedChangeset {
  const changeset = history.get(seq);
  assert(changeset !== undefined, 'a history holds every parent of its changesets');
  return changeset;
}

function replayOp(memories: Memories, changesetId: string, op: Op, order: number): void {
  const payload = op.payload ?? {};
  const target = op.target_event_id === undefined ? undefined : memories.get(op.target_event_id);
  const touched = target === undefined ? undefined : { ...target, last: changesetId, order };
  switch (op.op_type) {
    case 'add_memory':
      addMemory(memories, changesetId, op, order);
      return;
    case 'supersede_memory':
      if (target !== undefined) memories.set(target.memoryId, { ...target, active: false, status: 'superseded' });
      addMemory(memories, changesetId, op, order);
      return;
    case 'correct_memory':
      if (target !== undefined) correctMemory(memories, changesetId, op, target, order);
      return;
    case 'mark_duplicate':
      markDuplicate(memories, op);
      return;
    case 'propose_deprecation':
      if (touched !== undefined) memories.set(touched.memoryId, { ...touched, status: 'deprecation_proposed' });
      return;
    case 'attach_evidence':
      if (touched !== undefined)
        memories.set(touched.memoryId, { ...touched, evidence: attach(touched.evidence, payload) });
      return;
    case 'attach_verification':
      if (touched !== undefined)
        memories.set(touched.memoryId, { ...touched, verification: attach(touched.verification, payload) });
      return;
    case 'add_relationship':
      return;
  }
}

function correctMemory(memories: Memories, changesetId: string, op: Op, target: ReplayedMemory, order: number): void {
  const payload = op.payload ?? {};
  const resulting = op.resulting_event_id ?? '';
  const touched = { ...target, active: true, status: 'active', last: changesetId, order } as const;
  if (resulting === '' || resulting === target.memoryId) {
    memories.set(target.memoryId, overlay(touched, payload));
    return;
  }
  memories.set(target.memoryId, { ...target, active: false, status: 'corrected' });
  memories.set(resulting, overlay({ ...touched, memoryId: resulting, introduced: changesetId }, payload));
}

function markDuplicate(memories: Memories, op: Op): void {
  const duplicate = memories.get(nonEmpty(op.target_event_id) ?? nonEmpty(op.payload?.duplicate_id) ?? '');
  if (duplicate !== undefined) memories.set(duplicate.memoryId, { ...duplicate, active: false, status: 'duplicate' });
}

function attach(previous: ReplayedAttachment | undefined, payload: JsonObject): ReplayedAttachment {
  return { payload, previous, count: (previous?.count ?? 0) + 1 };
}

function relationshipsOf(memories: Memories, changesetId: string, op: Op): readonly ReplayedRelationship[] {
  if (op.op_type !== 'add_relationship') return [];
  const payload = op.payload ?? {};
  const from = nonEmpty(op.target_event_id) ?? nonEmpty(payload.from_memory_id) ?? '';
  const to = nonEmpty(op.resulting_event_id) ?? nonEmpty(payload.to_memory_id) ?? '';
  if (!memories.has(from) || !memories.has(to)) return [];
  return [{ from, to, changesetId, ordinal: op.ordinal, payload }];
}

function addMemory(memories: Memories, changesetId: string, op: Op, order: number): void {
  const payload = op.payload ?? {};
  if (nonEmpty(payload.content) === undefined) return;
  const memoryId =
    nonEmpty(op.resulting_event_id) ??
    nonEmpty(payload.memory_id) ??
    nonEmpty(payload.event_id) ??
    `mem:${changesetId}:${op.ordinal}`;
  const fresh = {
    memoryId,
    active: true,
    status: 'active',
    order,
    introduced: changesetId,
    last: changesetId,
    content: '',
    payload: {},
  } as const;
  memories.set(memoryId, overlay(fresh, payload));
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

function nonEmpty(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function tagsFrom(value: JsonValue): readonly string[] {
  const parts = typeof value === 'string' ? value.split(/[,\s]/) : Array.isArray(value) ? value : [];
  return parts.filter((tag: JsonValue): tag is string => typeof tag === 'string' && tag !== '');
}
