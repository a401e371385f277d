// Where full text meets the history: which states wait to be indexed, and what a head shows of a memory.

import type { JsonObject } from '../../src-preload/contract/json.ts';
import type { ReadableDb, WritableDb } from '../sqlite/driver.ts';
import type { TextHealth } from '../text/health.ts';
import type { MemorySieve } from './memory-sieve.ts';
import { openSight, type Sight } from './projection/sight.ts';
import { findNewestTouch, isLive, loadVersion } from './projection/state.ts';
import { lastOpOf } from './rules/numbers.ts';
import { type OverlaidState, readVersion } from './rules/overlay.ts';
import { memoryText } from './rules/segment.ts';
import { listTouchingOps, listTouchingOpsBack, type TouchingOp } from './tables/text-index.ts';
import type { Touch } from './tables/touches.ts';
import { readPayload } from './tables/versions.ts';
import type { HeadView, LiveState } from './text-candidates.ts';
import { indexPending, type PendingVersion, tidyTextIndex, type VersionSource } from './text-indexing.ts';

/** A memory as a head shows it: its newest touch there, and the text of its state. */
export interface TextState extends LiveState {
  readonly touch: Touch;
}

/** What of a head's memory a search or a context query is shown; everything unless it says otherwise. */
export interface TextViewOptions {
  readonly sight?: Sight | undefined;
  /** What the filter asks; of kinds and tags the candidates make use beforehand. */
  readonly sieve?: MemorySieve | undefined;
  /** Memories that conflicts withhold. */
  readonly withheld?: Pick<ReadonlyMap<number, unknown>, 'has'> | undefined;
  readonly textHealth?: TextHealth | undefined;
}

/** The head of a search or of a context query. */
export interface TextHead {
  readonly projectId: string;
  /** Changeset number. */
  readonly seq: number;
}

/** What one head shows, for `matchContext` and `searchMemories`. Each memory costs its newest touch and its payloads. */
export function openTextView(
  db: ReadableDb,
  head: TextHead,
  { sight = openSight(db), sieve, withheld, textHealth }: TextViewOptions = {},
): HeadView<TextState> {
  const place = sight.places.get(head.seq);
  const upTo = lastOpOf(head.seq);
  return {
    projectId: head.projectId,
    upTo,
    totalActive: place.active,
    textHealth,
    findLive: (memory) => {
      if (withheld?.has(memory) === true) return undefined;
      const touch = findNewestTouch(sight, [place], memory);
      if (!isLive(touch)) return undefined;
      const state = readState(db, touch.version);
      if (sieve?.findFailing(touch, state) !== undefined) return undefined;
      return { version: touch.key, text: memoryText(state), touch };
    },
    listTail: (after, limit) => {
      const ops = after >= upTo ? [] : listTouchingOpsBack(db, after, upTo, limit + 1);
      const versions = ops
        .slice(0, limit)
        .flatMap(({ op, projectId, memory }) =>
          memory === null || projectId !== head.projectId ? [] : [{ version: op, memory }],
        );
      return { versions, more: ops.length > limit };
    },
  };
}

/** The states of all projects in the order of their ops: what `indexPending` and `verifyTextIndex` are given. */
export function versionSource(db: ReadableDb): VersionSource {
  return (after, limit) => listTouchingOps(db, after, limit).map((op) => toPending(db, op));
}

/** Ops that one step of maintenance looks at. */
const opsPerStep = 300;

/**
 * One bounded step of full-text maintenance, a write of its own: indexes what waits, else tidies the index. True when
 * more is waiting to be indexed or tidied.
 */
export function maintainTextIndex(db: WritableDb): boolean {
  return indexPending(db, versionSource(db), opsPerStep) || tidyTextIndex(db);
}

/** The state that an op left, as the index takes it. */
export function toPending(db: ReadableDb, { op, projectId, memory, version }: TouchingOp): PendingVersion {
  if (memory === null || version === null) return { version: op, projectId, memory: 0, text: null };
  return { version: op, projectId, memory, text: memoryText(readState(db, version)) };
}

/** A state with its values. Each payload that it draws on is read once, however many of its fields stand there. */
function readState(db: ReadableDb, version: number): OverlaidState {
  const kept = new Map<number, JsonObject>();
  const payloadOf = (op: number): JsonObject => {
    const payload = kept.get(op) ?? readPayload(db, op);
    kept.set(op, payload);
    return payload;
  };
  return readVersion(loadVersion(db, version, payloadOf), payloadOf);
}
