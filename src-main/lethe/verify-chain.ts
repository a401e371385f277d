import { setImmediate } from 'node:timers/promises';
import type { VerifyReport } from '../../src-preload/contract/audit.ts';
import { mainRefName, type ProjectId } from '../../src-preload/contract/ids.ts';
import { checking, type Findings, openFindings } from '../base/findings.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import type { ReadContext } from './manifest.ts';
import { requireProject } from './projects.ts';
import type { Sealings } from './seals.ts';
import { findBaseline } from './tables/baselines.ts';
import { countChangesets, findChangesetRow, findNextOwner, findRootRow } from './tables/changesets.ts';
import type { EventPosition } from './tables/events.ts';
import type { ImportedRecordRow } from './tables/imports.ts';
import { isProject } from './tables/projects.ts';
import { findRef } from './tables/refs.ts';
import type { ChangesetSealing } from './tables/seals.ts';
import { verifyConflictEvents, verifyConflicts } from './verify/conflicts.ts';
import { verifyDerived } from './verify/derived.ts';
import { isBaselineList, verifyEvents } from './verify/events.ts';
import { verifyHeads } from './verify/heads.ts';
import { type HistoryReport, verifyHistory } from './verify/history.ts';
import { isImportedProjectIntact, verifyImportedRecords, verifyImports } from './verify/imports.ts';
import { verifyManifests } from './verify/manifests.ts';
import { verifyAdvances, verifyAuthorizations } from './verify/merges.ts';
import { eachPage, own } from './verify/pages.ts';
import type { SealReading } from './verify/stretches.ts';
import { textIndexTable } from './verify/tables.ts';
import type { TablesCheck } from './verify/tables-check.ts';

/** Runs one chunk of reading. All chunks of a verification see the same state of the store. */
export type ReadChunk = <Result>(chunk: (db: ReadableDb) => Result) => Result;

/** A derived index that is compared with the history, chunk by chunk. */
export type VerifyIndex = (
  read: ReadChunk,
  projectId: ProjectId,
  findings: Findings,
  pause: () => Promise<void>,
) => Promise<void>;

/** How a verification deals with seals (`L300`). */
export interface SealUse extends SealReading {
  /** Takes what was found whole and has no seal; left out where nothing may be written. */
  readonly keep?: ((sealings: Sealings) => Promise<void>) | undefined;
  /** Hears that the full-text index does not hold. */
  readonly noticeTextDamage: () => void;
}

/** What a verification needs beside the store. */
export interface VerifyTools {
  readonly mergeKeys: ReadonlyMap<string, Uint8Array>;
  readonly readContext: ReadContext;
  /** Indexes that are compared whole with the history. */
  readonly indexes: readonly VerifyIndex[];
  /** Left out, no seal is looked at or made, and of the derived indexes only `indexes` are compared. */
  readonly seals?: SealUse | undefined;
  /** Looks over the tables of the database file and their indexes, meanwhile. */
  readonly checkTables?: ((read: ReadChunk) => TablesCheck) | undefined;
}

/**
 * Verifies everything about a project (`lethe.md` D12, §0.2): project, root, baseline and events; every changeset with its digests,
 * parents, ops and payloads; every signed ref move, every ref; spent authorizations and advances; conflicts and what became
 * of them; manifests; the derived indexes. What a seal stands for is compared with it, everything else verified from scratch
 * and then sealed. One bounded chunk at a time, others work in between. Throws PROJECT_NOT_FOUND.
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
  const tables = tools.checkTables?.(read);
  try {
    await eachPage(findings, '', own, (after: string) => read((db) => verifyOwner(db, after, findings)));
    await eachPage(
      findings,
      { created_order: '', event_id: '' },
      ({ created_order, event_id }) => `${created_order} ${event_id}`,
      (after: EventPosition) => read((db) => verifyEvents(db, projectId, after, findings)),
    );
    // The moves of refs are read between the chunks of the history, so that their signatures are verified meanwhile.
    const ofHeads = openFindings();
    const ofSeals = openFindings();
    const seals = tools.seals ?? { isTrusting: false };
    const [history, moves] = await Promise.all([
      verifyHistory(read, projectId, seals, { findings, ofSeals }, (done) => onProgress(done, total)),
      verifyHeads(read, projectId, seals, { findings: ofHeads, ofSeals }),
    ]);
    findings.absorb(ofHeads);
    const unknownKeys = await verifyBeside(read, projectId, tools, findings);
    // An index is derived from the history: it is compared with one that holds.
    const isWhole = findings.list.length === 0;
    const changesets = isWhole ? await verifyIndexes(read, projectId, tools, history, findings) : [];
    findings.absorb(ofSeals);
    const ofTables = await tables?.found;
    if (ofTables !== undefined) findings.absorb(ofTables);
    if (ofTables?.list.some(({ where }) => where === `table ${textIndexTable}`)) tools.seals?.noticeTextDamage();
    const ok = findings.list.length === 0;
    if (ok) await tools.seals?.keep?.({ changesets, moves });
    return {
      ok,
      checked: history.checked,
      head: read((db) => headOf(db, projectId)),
      findings: findings.list,
      notes: notesOf(findings, { unknownKeys, isWhole, history }),
    };
  } finally {
    await tables?.stop();
  }
}

/** Verifies what stands beside the history. Answers how many authorizations no key at hand could verify. */
async function verifyBeside(
  read: ReadChunk,
  projectId: ProjectId,
  tools: VerifyTools,
  findings: Findings,
): Promise<number> {
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
  return unknownKeys;
}

/** Compares the derived indexes. Answers what may be sealed of the history and of what is derived from it. */
async function verifyIndexes(
  read: ReadChunk,
  projectId: ProjectId,
  { indexes, seals }: VerifyTools,
  { stretches, digests }: HistoryReport,
  findings: Findings,
): Promise<readonly ChangesetSealing[]> {
  for (const verifyIndex of indexes) await verifyIndex(read, projectId, findings, setImmediate);
  if (seals === undefined) return [];
  const options = { areRowsVerified: indexes.length > 0, pause: () => setImmediate() };
  const { sealings, ofText } = await verifyDerived(read, projectId, stretches, findings, options);
  if (ofText.list.length > 0) seals.noticeTextDamage();
  return [...sealings].flatMap(([stretch, derived]) => {
    const history = digests.get(stretch);
    const { first, last, count } = stretch;
    if (history === undefined) return [];
    return [{ project_id: projectId, first, last, count, history_digest: history, ...derived }];
  });
}

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

function notesOf(
  findings: Findings,
  found: { readonly unknownKeys: number; readonly isWhole: boolean; readonly history: HistoryReport },
): string[] {
  const { unknownKeys, isWhole } = found;
  const { checked, sealed } = found.history;
  const notes: string[] = [];
  if (sealed > 0)
    notes.push(`${sealed} changesets were compared with their seals, ${checked - sealed} verified from scratch`);
  if (!isWhole) notes.push('the derived indexes were not compared, since the history itself does not hold');
  if (unknownKeys > 0)
    notes.push(
      `${unknownKeys} merge authorizations were signed by a key that is not at hand: their signatures were not verified`,
    );
  if (findings.omitted > 0) notes.push(`${findings.omitted} more findings are not listed`);
  return notes;
}
