import type { ReadableDb } from '../../sqlite/driver.ts';
import { lastOpOf, seqOf } from '../rules/numbers.ts';
import type { ReplayedChangeset } from '../rules/replay.ts';
import { diffVectors, type VectorNode, type WritableVectorNodes } from '../rules/vector.ts';
import { listAttachmentsOfOps } from '../tables/attachments.ts';
import { findPlace, type Place } from '../tables/chains.ts';
import type { ChangesetRow } from '../tables/changesets.ts';
import { findEvent } from '../tables/events.ts';
import { findChosenId, findEventOfId, isOfBaseline } from '../tables/memory-ids.ts';
import { findRecencyPage } from '../tables/recency-pages.ts';
import { endsOf, listEndsOfOps, listRelationshipsOfOps } from '../tables/relationships.ts';
import { listTouchesOfChain } from '../tables/touches.ts';
import { openVectorNodes } from '../tables/vector-nodes.ts';
import { findVersion } from '../tables/versions.ts';
import { type AppliedOps, applyOps } from './apply.ts';
import { derivePlace, findUndecided, type VectorSight } from './extend.ts';
import { findMemoryNumber, memoryIdOf } from './identity.ts';
import { withMergeTouches } from './merge-touches.ts';
import { composePage, type PageOptions } from './pages.ts';
import { openSight, type Sight } from './sight.ts';

/** Takes what was found about one changeset or head. */
export type Report = (problem: string) => void;

/**
 * Compares the rows that the index holds of one changeset with what its ops and its parents make of them (`L118`): place,
 * vector, chain, touches, states, ids, recency page.
 */
export function verifyChangesetRows(
  db: ReadableDb,
  row: ChangesetRow,
  changeset: ReplayedChangeset,
  report: Report,
  options: PageOptions,
): void {
  const stored = findPlace(db, row.seq);
  if (stored === undefined) {
    report('it has no place in the index');
    return;
  }
  const sight: VectorSight = { ...openSight(db), nodes: openScratchNodes(db) };
  const parents = changeset.parents.map((parent) => sight.places.get(parent));
  const applied = deriveApplied(sight, row, changeset, parents, stored.chain);
  const { vector, ...place } = derivePlace(sight, row.seq, parents, stored.chain, applied, options);
  const { vector: storedVector, ...storedPlace } = stored;
  if (!isSame(place, storedPlace)) report('its place in the index is not the one below its parents');
  if (diffVectors(sight.nodes, vector, storedVector).length > 0)
    report('the index does not see the ancestors that it has');
  if (!isChainStart(stored, parents)) report('its chain does not go on from its first parent');
  const touches = listTouchesOfChain(
    db,
    stored.chain,
    lastOpOf(row.seq - 1),
    lastOpOf(row.seq),
    2 * changeset.ops.length + applied.touches.length + 1,
  );
  const byKey = applied.touches.toSorted((one, other) => one.key - other.key || one.memory - other.memory);
  if (!isSame(byKey, touches)) report('the index does not have the touches that its ops make');
  const versions = applied.versions.map((version) => findVersion(db, version.version));
  if (!isSame(applied.versions, versions)) report('the index does not have the states that its corrections make');
  verifyLinks(db, row.seq, applied, report);
  for (const touch of byKey)
    if (findMemoryNumber(db, row.project_id, memoryIdOf(db, touch.memory)) !== touch.memory)
      report('a memory of it is known under another number');
  for (const [number, id] of applied.chosenIds)
    if (findChosenId(db, number) !== id) report('an id that it chose is not in the index');
  for (const { memory, key } of byKey) {
    if (memory !== key) continue;
    verifyEventOf(db, row.project_id, memory, report);
    if (isOfBaseline(db, memory)) report('a memory of it is taken for one of a baseline');
  }
  verifyPage(db, stored, report, options);
}

/** What the ops of a changeset make of the states of its parents, and what it makes of them as a merge that is silent. */
function deriveApplied(
  sight: Sight,
  row: ChangesetRow,
  { ops }: ReplayedChangeset,
  parents: readonly Place[],
  chain: number,
): AppliedOps {
  const { seq, project_id: projectId, changeset_id: changesetId } = row;
  const placed = { seq, projectId, changesetId, ops };
  const applied = applyOps(sight, placed, parents, chain);
  const { contested } = findUndecided(sight, parents, applied);
  return withMergeTouches(sight, placed, parents, chain, applied, contested);
}

/** A memory with a chosen id is tied to the event of the project that bore this id by then (`L242`). */
export function verifyEventOf(db: ReadableDb, projectId: string, number: number, report: Report): void {
  const id = findChosenId(db, number);
  const event = id === undefined ? undefined : findEvent(db, id);
  const isKnown = event?.project_id === projectId && event.recorded_after < seqOf(number);
  if (findEventOfId(db, number) !== (isKnown ? event.event : undefined))
    report('a memory of it is tied to another event than the one of its id');
}

/** A changeset has the recency page that its place asks for. */
export function verifyPage(db: ReadableDb, { seq, steps }: Place, report: Report, options: PageOptions): void {
  const page = steps === 0 ? composePage(db, seq, options) : undefined;
  if (!isSame(page, findRecencyPage(db, seq))) report('its recency page is not what its history makes of it');
}

/** Attachments and relationships of a changeset are those that its ops make, no more and no less, and both ends are known. */
function verifyLinks(db: ReadableDb, seq: number, applied: AppliedOps, report: Report): void {
  const [from, upTo] = [lastOpOf(seq - 1) + 1, lastOpOf(seq)];
  if (!isSame(applied.attachments, listAttachmentsOfOps(db, from, upTo)))
    report('the index does not have the attachments that its ops make');
  if (!isSame(applied.relationships, listRelationshipsOfOps(db, from, upTo)))
    report('the index does not have the relationships that its ops make');
  if (!isSame(applied.relationships.flatMap(endsOf), listEndsOfOps(db, from, upTo)))
    report('its relationships are not found at their ends');
}

/** A changeset starts a chain of its own or stands right after its first parent in that one's chain. */
function isChainStart(place: Place, parents: readonly Place[]): boolean {
  return place.position === 0 ? place.chain !== parents[0]?.chain : place.chain === parents[0]?.chain;
}

/** Whether two values of the index say the same; undefined fields count as absent. */
export function isSame(one: unknown, other: unknown): boolean {
  // Most often even their keys stand in the same order.
  return (
    JSON.stringify(one) === JSON.stringify(other) ||
    JSON.stringify(one, sortedKeys) === JSON.stringify(other, sortedKeys)
  );
}

function sortedKeys(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Nodes of the database, and above them new ones that are kept in memory only. */
export function openScratchNodes(db: ReadableDb): WritableVectorNodes {
  const stored = openVectorNodes(db);
  const scratch: VectorNode[] = [];
  return {
    read: (id) => scratch[id - scratchFrom] ?? stored.read(id),
    write: (node) => scratchFrom + scratch.push(node) - 1,
  };
}

const scratchFrom = 2 ** 52;
