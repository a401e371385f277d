import { setImmediate } from 'node:timers/promises';
import type { VerifyReport } from '../../src-preload/contract/audit.ts';
import { mainRefName, type ProjectId } from '../../src-preload/contract/ids.ts';
import { checking, type Findings, openFindings } from '../base/findings.ts';
import { compareUtf8 } from '../canonical/text.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import type { ReadContext } from './manifest.ts';
import { requireProject } from './projects.ts';
import { findBaseline } from './tables/baselines.ts';
import { countChangesets, findChangesetRow, findGap, findNextOwner, findRootRow } from './tables/changesets.ts';
import type { EventPosition } from './tables/events.ts';
import type { ImportedRecordRow } from './tables/imports.ts';
import { isProject } from './tables/projects.ts';
import { findRef } from './tables/refs.ts';
import { verifyChangesets } from './verify/changesets.ts';
import { verifyConflictEvents, verifyConflicts } from './verify/conflicts.ts';
import { isBaselineList, verifyEvents } from './verify/events.ts';
import { isImportedProjectIntact, verifyImportedRecords, verifyImports } from './verify/imports.ts';
import { verifyManifests } from './verify/manifests.ts';
import { verifyAdvances, verifyAuthorizations } from './verify/merges.ts';
import { type MoveWalk, openMoveWalk, verifyMoves, verifyRefs, verifyRefsExist } from './verify/moves.ts';

/** Runs one chunk of reading. All chunks of a verification see the same state of the store. */
export type ReadChunk = <Result>(chunk: (db: ReadableDb) => Result) => Result;

/** A derived index that is compared with the history, chunk by chunk. */
export type VerifyIndex = (
  read: ReadChunk,
  projectId: ProjectId,
  findings: Findings,
  pause: () => Promise<void>,
) => Promise<void>;

/** What a verification needs beside the store. */
export interface VerifyTools {
  readonly mergeKeys: ReadonlyMap<string, Uint8Array>;
  readonly readContext: ReadContext;
  readonly indexes: readonly VerifyIndex[];
}

/**
 * Verifies everything about a project (`lethe.md` D12, §0.2): project, root, baseline and events; every changeset with its digests,
 * parents, ops and payloads; every signed ref move, every ref; spent authorizations and advances; conflicts and what became
 * of them; manifests; the derived indexes. One bounded chunk at a time, others work in between. Throws PROJECT_NOT_FOUND.
 * @param onProgress changesets done and of how many, after each chunk
 */
export async function verifyChain(
  read: ReadChunk,
  projectId: ProjectId,
  tools: VerifyTools,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<VerifyReport> {
  const findings = openFindings();
  const total = read((db) => {
    requireProject(db, projectId);
    checking(findings, `project ${projectId}`, () => verifyBeginning(db, projectId, findings));
    return countChangesets(db, projectId);
  });
  await eachPage(findings, '', own, (after: string) => read((db) => verifyOwner(db, after, findings)));
  await eachPage(
    findings,
    { created_order: '', event_id: '' },
    ({ created_order, event_id }) => `${created_order} ${event_id}`,
    (after: EventPosition) => read((db) => verifyEvents(db, projectId, after, findings)),
  );
  // The moves of refs are read between the chunks of the history, so that their signatures are verified meanwhile.
  const ofHeads = openFindings();
  const [checked] = await Promise.all([
    verifyHistory(read, projectId, findings, (done) => onProgress(done, total)),
    verifyHeads(read, projectId, ofHeads),
  ]);
  findings.absorb(ofHeads);
  const unknownKeys = await verifyMerges(read, projectId, tools, findings);
  await eachPage(findings, 0, own, (after) => read((db) => verifyConflicts(db, projectId, after, findings)));
  await eachPage(findings, 0, own, (after) => read((db) => verifyConflictEvents(db, after, findings)));
  await eachPage(findings, '', own, (after: string) =>
    read((db) => verifyManifests(db, projectId, after, tools.readContext, findings)),
  );
  read((db) => verifyImports(db, projectId, findings));
  await eachPage(findings, undefined, rankOfRecord, (after: ImportedRecordRow | undefined) =>
    read((db) => verifyImportedRecords(db, projectId, after, findings)),
  );
  // An index is derived from the history: it is compared with one that holds.
  const isWhole = findings.list.length === 0;
  if (isWhole) for (const verifyIndex of tools.indexes) await verifyIndex(read, projectId, findings, setImmediate);
  return {
    ok: findings.list.length === 0,
    checked,
    head: read((db) => headOf(db, projectId)),
    findings: findings.list,
    notes: notesOf(findings, unknownKeys, isWhole),
  };
}

/**
 * Calls `page` with where the page before ended until it answers undefined, letting others work in between. A damaged
 * order of rows can lead back to where it was: a page that does not go on in the order of `rank` ends the walk.
 */
async function eachPage<Position>(
  findings: Findings,
  first: Position,
  rank: (position: Position) => number | string,
  page: (after: Position) => Position | undefined | Promise<Position | undefined>,
): Promise<void> {
  for (let [at, next] = [first, await page(first)]; next !== undefined; [at, next] = [next, await page(next)]) {
    if (!isAfter(rank(next), rank(at))) {
      findings.add('the order of stored rows', 'a table or an index of the database file is damaged');
      return;
    }
    await setImmediate();
  }
}

function isAfter(next: number | string, at: number | string): boolean {
  return typeof next === 'string' && typeof at === 'string' ? compareUtf8(next, at) > 0 : next > at;
}

const own = <Position extends number | string>(position: Position): Position => position;

function rankOfRecord(record: ImportedRecordRow | undefined): string {
  return record === undefined ? '' : `${record.kind} ${record.record_key}`;
}

/** Project, root and baseline say the same of the beginning. */
function verifyBeginning(db: ReadableDb, projectId: ProjectId, findings: Findings): void {
  const project = requireProject(db, projectId);
  const root = findRootRow(db, projectId);
  const baseline = findBaseline(db, projectId);
  const where = `project ${projectId}`;
  if (root === undefined) {
    findings.add(where, 'its root is missing');
    return;
  }
  const times = [project.created_at, project.updated_at];
  const isOwn = project.name === projectId && times.every((time) => time === root.created_at);
  if (!(isImportedProjectIntact(db, project) ?? isOwn)) findings.add(where, 'it is not as its root says');
  if (baseline === undefined) {
    findings.add(where, 'its baseline is missing');
    return;
  }
  const isFrozen = baseline.captured_through === root.created_at && baseline.created_at === root.created_at;
  if (baseline.root_seq !== root.seq || !isFrozen || !isBaselineList(baseline.event_ids))
    findings.add(where, 'its baseline is not as it was captured');
}

/** Looks at the next project id that a changeset of the store bears: a changeset belongs to a project that there is. */
function verifyOwner(db: ReadableDb, after: string, findings: Findings): string | undefined {
  const owner = findNextOwner(db, after);
  if (owner !== undefined && !isProject(db, owner))
    findings.add(`changesets of project ${owner}`, 'there is no such project');
  return owner;
}

async function verifyHistory(
  read: ReadChunk,
  projectId: ProjectId,
  findings: Findings,
  onDone: (done: number) => void,
): Promise<number> {
  let checked = 0;
  await eachPage(findings, 0, own, (after) =>
    read((db) => {
      const { last, count } = verifyChangesets(db, projectId, after, findings);
      if (count === 0) return undefined;
      const gap = findGap(db, after, last);
      if (gap !== undefined) findings.add(`changeset number ${gap}`, 'it is missing');
      checked += count;
      onDone(checked);
      return last;
    }),
  );
  return checked;
}

async function verifyHeads(read: ReadChunk, projectId: ProjectId, findings: Findings): Promise<void> {
  let walk: MoveWalk = read((db) => openMoveWalk(db, projectId));
  let reported = Promise.resolve();
  await eachPage(
    findings,
    walk,
    (one) => one.after,
    async (before) => {
      const page = read((db) => verifyMoves(db, before));
      // The signatures of one page are verified while the next one is read: never those of more than two at a time.
      await reported;
      if (page === undefined) return undefined;
      reported = page.found.then((found) => {
        for (const { where, problem } of found) findings.add(where, problem);
      });
      walk = page.walk;
      return page.walk;
    },
  );
  await reported;
  await eachPage(findings, '', own, (after: string) => read((db) => verifyRefs(db, walk, after, findings)));
  read((db) => verifyRefsExist(db, walk, findings));
}

/** Answers how many authorizations no key at hand could verify. */
async function verifyMerges(
  read: ReadChunk,
  projectId: ProjectId,
  tools: VerifyTools,
  findings: Findings,
): Promise<number> {
  let unknownKeys = 0;
  await eachPage(findings, '', own, (after: string) =>
    read((db) => {
      const page = verifyAuthorizations(db, after, tools.mergeKeys, findings);
      unknownKeys += page.unknownKeys;
      return page.last;
    }),
  );
  await eachPage(
    findings,
    Number.MAX_SAFE_INTEGER,
    (seq) => -seq,
    (before) => read((db) => verifyAdvances(db, projectId, before, findings)),
  );
  return unknownKeys;
}

/** The chain digest of the main ref's head: one value that stands for all of the accepted history. */
function headOf(db: ReadableDb, projectId: ProjectId): string {
  const stored = findRef(db, projectId, mainRefName);
  return stored === undefined ? '' : (findChangesetRow(db, stored.ref.head_changeset_id)?.chain_digest ?? '');
}

function notesOf(findings: Findings, unknownKeys: number, isWhole: boolean): string[] {
  const notes: string[] = [];
  if (!isWhole) notes.push('the derived indexes were not compared, since the history itself does not hold');
  if (unknownKeys > 0)
    notes.push(
      `${unknownKeys} merge authorizations were signed by a key that is not at hand: their signatures were not verified`,
    );
  if (findings.omitted > 0) notes.push(`${findings.omitted} more findings are not listed`);
  return notes;
}
