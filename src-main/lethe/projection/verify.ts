import type { ProjectId } from '../../../src-preload/contract/ids.ts';
import type { JsonObject } from '../../../src-preload/contract/json.ts';
import { listLimitMax } from '../../../src-preload/contract/limits.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { type History, listRecent, type ReplayedChangeset, type ReplayedMemory, replay } from '../rules/replay.ts';
import { lastOpOf } from '../rules/numbers.ts';
import { diffVectors, type VectorNode, type WritableVectorNodes } from '../rules/vector.ts';
import { findPlace, openPlaces, type Place } from '../tables/chains.ts';
import { type ChangesetRow, listChangesetRowsAfter, listParentsOfRange } from '../tables/changesets.ts';
import { findChosenId } from '../tables/memory-ids.ts';
import { decodeOp, listOpRows } from '../tables/ops.ts';
import { findRecencyPage } from '../tables/recency-pages.ts';
import { listRefs } from '../tables/refs.ts';
import { listTouchesOfChain } from '../tables/touches.ts';
import { openVectorNodes } from '../tables/vector-nodes.ts';
import { findVersion } from '../tables/versions.ts';
import type { Findings } from '../verify/findings.ts';
import { checking } from '../verify/findings.ts';
import { openAccepted } from './accepted.ts';
import { applyOps } from './apply.ts';
import { derivePlace, type VectorSight } from './extend.ts';
import { findMemoryNumber, memoryIdOf } from './identity.ts';
import { composePage, defaultPageOptions, type PageOptions } from './pages.ts';
import { walkRecency } from './recency.ts';
import { openSight } from './sight.ts';
import { findNewestTouch } from './state.ts';

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
  for (let after = 0; ; ) {
    const last = read((db) => verifyRows(db, projectId, after, history, findings, options));
    if (last === undefined) break;
    after = last;
    await pause();
  }
  for (const head of read((db) => listHeads(db, projectId))) await verifyHead(read, projectId, history, head, findings, pause);
}

/** Verifies the rows of the next changesets and keeps them for the replay; undefined when there are none. */
function verifyRows(
  db: ReadableDb,
  projectId: ProjectId,
  after: number,
  history: Map<number, ReplayedChangeset>,
  findings: Findings,
  options: PageOptions,
): number | undefined {
  const rows = listChangesetRowsAfter(db, projectId, after, changesetsPerChunk);
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
      history.set(row.seq, changeset);
      verifyChangesetRows(db, row, changeset, (problem) => findings.add(where, problem), options);
    });
  }
  return last.seq;
}

type Report = (problem: string) => void;

function verifyChangesetRows(db: ReadableDb, row: ChangesetRow, changeset: ReplayedChangeset, report: Report, options: PageOptions): void {
  const stored = findPlace(db, row.seq);
  if (stored === undefined) return report('it has no place in the index');
  const sight: VectorSight = { db, places: openPlaces(db), nodes: openScratchNodes(db) };
  const parents = changeset.parents.map((parent) => sight.places.get(parent));
  const applied = applyOps(sight, { seq: row.seq, projectId: row.project_id, changesetId: row.changeset_id, ops: changeset.ops }, parents, stored.chain);
  const { vector, ...place } = derivePlace(sight, row.seq, parents, stored.chain, applied, options);
  const { vector: storedVector, ...storedPlace } = stored;
  if (!isSame(place, storedPlace)) report('its place in the index is not the one below its parents');
  if (diffVectors(sight.nodes, vector, storedVector).length > 0) report('the index does not see the ancestors that it has');
  if (!isChainStart(stored, parents)) report('its chain does not go on from its first parent');
  const touches = listTouchesOfChain(db, stored.chain, lastOpOf(row.seq - 1), lastOpOf(row.seq), 2 * changeset.ops.length + 1);
  const byKey = applied.touches.toSorted((one, other) => one.key - other.key || one.memory - other.memory);
  if (!isSame(byKey, touches)) report('the index does not have the touches that its ops make');
  const versions = applied.versions.map((version) => findVersion(db, version.version));
  if (!isSame(applied.versions, versions)) report('the index does not have the states that its corrections make');
  for (const touch of byKey) if (findMemoryNumber(db, row.project_id, memoryIdOf(db, touch.memory)) !== touch.memory) report('a memory of it is known under another number');
  for (const [number, id] of applied.chosenIds) if (findChosenId(db, number) !== id) report('an id that it chose is not in the index');
  const page = stored.steps === 0 ? composePage(db, row.seq, options) : undefined;
  if (!isSame(page, findRecencyPage(db, row.seq))) report('its recency page is not what its history makes of it');
}

/** A changeset starts a chain of its own or stands right after its first parent in that one's chain. */
function isChainStart(place: Place, parents: readonly Place[]): boolean {
  return place.position === 0 ? place.chain !== parents[0]?.chain : place.chain === parents[0]?.chain;
}

/** Whether two values of the index say the same; undefined fields count as absent. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one, sortedKeys) === JSON.stringify(other, sortedKeys);
}

function sortedKeys(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Nodes of the database, and above them new ones that are kept in memory only. */
function openScratchNodes(db: ReadableDb): WritableVectorNodes {
  const stored = openVectorNodes(db);
  const scratch: VectorNode[] = [];
  return {
    read: (id) => scratch[id - scratchFrom] ?? stored.read(id),
    write: (node) => scratchFrom + scratch.push(node) - 1,
  };
}

const scratchFrom = 2 ** 52;

/** The heads that are replayed: every protected one, and the newest others. */
function listHeads(db: ReadableDb, projectId: ProjectId): readonly number[] {
  const heads: number[] = [];
  const branches: number[] = [];
  for (let after = ''; ; ) {
    const refs = listRefs(db, projectId, after, listLimitMax);
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
  history: History,
  head: number,
  findings: Findings,
  pause: () => Promise<void>,
): Promise<void> {
  const where = `index at head ${history.get(head)?.changesetId ?? 'unknown'}`;
  const replayed: { memories: readonly ReplayedMemory[]; recent: readonly ReplayedMemory[] } = { memories: [], recent: [] };
  checking(findings, where, () => {
    const state = replay(history, head);
    replayed.memories = [...state.memories.values()];
    replayed.recent = listRecent(state);
  });
  const live = new Set(replayed.recent.map((memory) => memory.memoryId));
  for (let at = 0; at < replayed.memories.length; at += memoriesPerChunk) {
    const chunk = replayed.memories.slice(at, at + memoriesPerChunk);
    checking(findings, where, () => read((db) => verifyMemories(db, projectId, head, chunk, live, (problem) => findings.add(where, problem))));
    await pause();
  }
  await verifyRecency(read, head, replayed.recent, where, findings, pause);
}

function verifyMemories(db: ReadableDb, projectId: ProjectId, head: number, memories: readonly ReplayedMemory[], live: ReadonlySet<string>, report: Report): void {
  const sight = openSight(db);
  const place = sight.places.get(head);
  const accepted = openAccepted(db);
  for (const memory of memories) {
    const number = findMemoryNumber(db, projectId, memory.memoryId);
    const touch = number === undefined ? undefined : findNewestTouch(sight, [place], number);
    const status = memory.active && !live.has(memory.memoryId) ? 'blank' : memory.status;
    const holds = touch?.status === status && isSame(accepted.read(touch), acceptedOf(memory));
    if (!holds) report(`memory ${memory.memoryId} is not in the state that its history makes of it`);
  }
}

/** A memory of the replay in the form in which it crosses the border. */
function acceptedOf(memory: ReplayedMemory): JsonObject {
  const { memoryId, active: _active, order: _order, introduced, last, payload, tags, ...fields } = memory;
  return {
    ...fields,
    memory_id: memoryId,
    source: 'memory_git',
    introduced_changeset_id: introduced,
    last_changeset_id: last,
    ...(tags === undefined || tags.length === 0 ? {} : { tags }),
    ...(Object.keys(payload).length === 0 ? {} : { payload }),
  };
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
  if (!isSame(walked, recent.map((memory) => memory.memoryId))) findings.add(where, 'the order of recency is not that of the history');
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
