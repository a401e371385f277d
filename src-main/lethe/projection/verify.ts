import type { ProjectId } from '../../../src-preload/contract/ids.ts';
import type { JsonObject } from '../../../src-preload/contract/json.ts';
import { listLimitMax } from '../../../src-preload/contract/limits.ts';
import { checking, type Findings } from '../../base/findings.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { shownFields } from '../rules/attachments.ts';
import { legacyRootKey } from '../rules/legacy-root.ts';
import { type History, listRecent, openReplay, type Replay, type ReplayedChangeset } from '../rules/replay.ts';
import type { ReplayedAttachment, ReplayedMemory } from '../rules/replay-ops.ts';
import { findPlace } from '../tables/chains.ts';
import { listChangesetRowsAfter, listParentsOfRange } from '../tables/changesets.ts';
import { findEventOfId } from '../tables/memory-ids.ts';
import { decodeOp, listOpRows } from '../tables/ops.ts';
import { listRefs } from '../tables/refs.ts';
import type { TouchStatus } from '../tables/touches.ts';
import { openAccepted } from './accepted.ts';
import { findMemoryNumber, memoryIdOf } from './identity.ts';
import { defaultPageOptions, type PageOptions } from './pages.ts';
import { walkRecency } from './recency.ts';
import { openSight } from './sight.ts';
import { findNewestTouch } from './state.ts';
import { verifyBaselineRows } from './verify-baseline.ts';
import { isSame, type Report, verifyChangesetRows } from './verify-rows.ts';

type ReadChunk = <Result>(chunk: (db: ReadableDb) => Result) => Result;

const changesetsPerChunk = 200;
/** Memories that are compared with the replay in one chunk. */
const memoriesPerChunk = 500;
/** Unprotected heads that are replayed; each costs a replay of its whole history. */
const branchesReplayedMax = 8;

/**
 * Compares the derived index of a project with its history (`L118`, `lethe.md` D12), in chunks: the rows of every changeset
 * with what its ops and parents make of them, and at the protected heads and the newest branches every state, the active
 * count and the order of recency with a plain replay from nothing. Adds what differs to `findings`, by public ids.
 */
export async function verifyProjection(
  read: ReadChunk,
  projectId: ProjectId,
  findings: Findings,
  pause: () => Promise<void>,
  options: PageOptions = defaultPageOptions,
): Promise<void> {
  const history = new Map<number, ReplayedChangeset>();
  const replays = openReplay(history);
  for (let after = 0; ; ) {
    const taking = {
      limit: changesetsPerChunk,
      take: (seq: number, changeset: ReplayedChangeset) => {
        history.set(seq, changeset);
        replays.take(seq);
      },
    };
    const last = read((db) => verifyProjectionRows(db, projectId, after, findings, { ...taking, options }));
    if (last === undefined) break;
    after = last;
    await pause();
  }
  for (const head of read((db) => listHeads(db, projectId)))
    await verifyHead(read, projectId, { history, replays, head }, findings, pause);
}

/** How the rows of some changesets are verified. */
export interface RowsOptions {
  /** Changesets at most. */
  readonly limit: number;
  /** The last number to look at. */
  readonly upTo?: number;
  /** Takes each changeset, for a replay. */
  readonly take?: (seq: number, changeset: ReplayedChangeset) => void;
  readonly options?: PageOptions;
}

/** Compares the rows that the index holds of the next changesets with what their ops and parents make of them; undefined when there are none. */
export function verifyProjectionRows(
  db: ReadableDb,
  projectId: ProjectId,
  after: number,
  findings: Findings,
  { limit, upTo = Number.MAX_SAFE_INTEGER, take, options = defaultPageOptions }: RowsOptions,
): number | undefined {
  const rows = listChangesetRowsAfter(db, projectId, after, limit, upTo);
  const [first, last] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const parents = Map.groupBy(listParentsOfRange(db, first.seq, last.seq), (parent) => parent.seq);
  for (const row of rows) {
    const where = `index of changeset ${row.changeset_id}`;
    checking(findings, where, () => {
      const changeset: ReplayedChangeset = {
        changesetId: row.changeset_id,
        parents: (parents.get(row.seq) ?? []).map((parent) => parent.parent_seq),
        ops: row.op_count === 0 ? [] : listOpRows(db, row.seq, row.seq).map(decodeOp),
      };
      const report = (problem: string): void => findings.add(where, problem);
      if (row.idempotency_key === legacyRootKey) {
        const baseline = verifyBaselineRows(db, row, report, options);
        take?.(row.seq, { ...changeset, baseline });
        return;
      }
      take?.(row.seq, changeset);
      verifyChangesetRows(db, row, changeset, report, options);
    });
  }
  return last.seq;
}

/** The heads that are replayed: every protected one, and the newest others. */
function listHeads(db: ReadableDb, projectId: ProjectId): readonly number[] {
  const heads: number[] = [];
  const branches: number[] = [];
  for (let after = ''; ; ) {
    const refs = listRefs(db, projectId, after, listLimitMax, 'all');
    for (const { ref, headSeq } of refs) (ref.protected ? heads : branches).push(headSeq);
    const last = refs.at(-1);
    if (refs.length < listLimitMax || last === undefined) break;
    after = last.ref.ref_name;
  }
  const newest = branches.toSorted((one, other) => other - one).slice(0, branchesReplayedMax);
  return [...new Set([...heads, ...newest])];
}

/** Compares every state at a head with a plain replay, a bounded number of memories at a time. */
async function verifyHead(
  read: ReadChunk,
  projectId: ProjectId,
  { history, replays, head }: { readonly history: History; readonly replays: Replay; readonly head: number },
  findings: Findings,
  pause: () => Promise<void>,
): Promise<void> {
  const where = `index at head ${history.get(head)?.changesetId ?? 'unknown'}`;
  const replayed: { memories: readonly ReplayedMemory[]; recent: readonly ReplayedMemory[] } = {
    memories: [],
    recent: [],
  };
  checking(findings, where, () => {
    const state = replays.at(head);
    replayed.memories = [...state.memories.values()];
    replayed.recent = listRecent(state);
  });
  const live = new Set(replayed.recent.map((memory) => memory.memoryId));
  for (let at = 0; at < replayed.memories.length; at += memoriesPerChunk) {
    const chunk = replayed.memories.slice(at, at + memoriesPerChunk);
    checking(findings, where, () =>
      read((db) => verifyMemories(db, projectId, head, chunk, live, (problem) => findings.add(where, problem))),
    );
    await pause();
  }
  await verifyRecency(read, head, replayed.recent, where, findings, pause);
}

function verifyMemories(
  db: ReadableDb,
  projectId: ProjectId,
  head: number,
  memories: readonly ReplayedMemory[],
  live: ReadonlySet<string>,
  report: Report,
): void {
  const sight = openSight(db);
  const place = sight.places.get(head);
  const accepted = openAccepted(db);
  for (const memory of memories) {
    const number = findMemoryNumber(db, projectId, memory.memoryId);
    const touch = number === undefined ? undefined : findNewestTouch(sight, [place], number);
    const status = touchStatusOf(memory, live.has(memory.memoryId));
    const isNamedAfter = number !== undefined && findEventOfId(db, number) !== undefined;
    const holds = touch?.status === status && isSame(accepted.read(touch), acceptedOf(memory, isNamedAfter));
    if (!holds) report(`memory ${memory.memoryId} is not in the state that its history makes of it`);
  }
}

/** The status that the newest touch of a memory of the replay must have. */
function touchStatusOf(memory: ReplayedMemory, live: boolean): TouchStatus {
  if (memory.status !== 'deprecation_proposed') return memory.active && !live ? 'blank' : memory.status;
  if (!memory.active) return 'deprecation_retired';
  return live ? 'deprecation_proposed' : 'deprecation_blank';
}

/**
 * A memory of the replay in the form in which it crosses the border.
 * @param isNamedAfter whether an event bore its id when it was named
 */
function acceptedOf(memory: ReplayedMemory, isNamedAfter: boolean): JsonObject {
  const { memoryId, active: _active, introduced, last, payload, tags, ...rest } = memory;
  const { evidence, verification, sourceEventId = isNamedAfter ? memoryId : undefined, ...fields } = rest;
  return {
    ...fields,
    ...shownFields('evidence', evidence?.count ?? 0, walkReplayed(evidence)),
    ...shownFields('verification', verification?.count ?? 0, walkReplayed(verification)),
    memory_id: memoryId,
    ...(sourceEventId === undefined ? {} : { source_event_id: sourceEventId }),
    ...(introduced === '' ? {} : { introduced_changeset_id: introduced }),
    ...(last === '' ? {} : { last_changeset_id: last }),
    ...(tags === undefined || tags.length === 0 ? {} : { tags }),
    ...(Object.keys(payload).length === 0 ? {} : { payload }),
  };
}

function* walkReplayed(newest: ReplayedAttachment | undefined): IterableIterator<JsonObject> {
  for (let link = newest; link !== undefined; link = link.previous) yield link.payload;
}

async function verifyRecency(
  read: ReadChunk,
  head: number,
  recent: readonly ReplayedMemory[],
  where: string,
  findings: Findings,
  pause: () => Promise<void>,
): Promise<void> {
  const walked: string[] = [];
  for (let after: number | undefined = 0; after !== undefined; ) {
    const from: number = after;
    after = undefined;
    checking(findings, where, () => {
      after = read((db) => walkChunk(db, head, from, walked));
    });
    await pause();
  }
  const place = read((db) => findPlace(db, head));
  if (place?.active !== recent.length) findings.add(where, 'the number of active memories is not that of the history');
  if (
    !isSame(
      walked,
      recent.map((memory) => memory.memoryId),
    )
  )
    findings.add(where, 'the order of recency is not that of the history');
}

/** Walks on from an op; answers where the next chunk starts, undefined at the end. */
function walkChunk(db: ReadableDb, head: number, after: number, walked: string[]): number | undefined {
  const sight = openSight(db);
  let scanned = 0;
  for (const { key, live } of walkRecency(sight, sight.places.get(head), after === 0 ? {} : { after })) {
    if (live !== undefined) walked.push(memoryIdOf(db, live.memory));
    scanned += 1;
    if (scanned >= 4 * memoriesPerChunk) return key;
  }
  return undefined;
}
