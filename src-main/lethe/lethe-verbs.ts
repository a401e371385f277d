import type { EngineEvent } from '../../src-preload/contract/events.ts';
import type { WriteVerb } from '../sqlite/batch.ts';
import { checkFile } from '../sqlite/check-file.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import type { Snapshots } from '../sqlite/snapshots.ts';
import type { TextHealth } from '../text/health.ts';
import { advanceRef, foreseeAdvance } from './advance.ts';
import { listProjectAdvances } from './advances.ts';
import type { Lethe } from './api.ts';
import { changesetNotFound, getChangesetRow, readChangeset } from './changeset-rows.ts';
import { commitChangeset } from './commit.ts';
import { readContext, readContextWhole, readTotalActive } from './context.ts';
import { readDiff } from './diff.ts';
import { readGraph } from './graph.ts';
import { selectHead } from './head.ts';
import { initProject } from './init.ts';
import { readLog } from './log.ts';
import { getManifest, pinManifest, type ReadContext, readManifestContext } from './manifest.ts';
import { recordManifest, recordOutput } from './manifest-record.ts';
import { readMemory } from './memory.ts';
import { listOriginators } from './originators.ts';
import { previewMerge } from './preview.ts';
import { verifyProjection } from './projection/verify.ts';
import { isAncestor } from './projection/view.ts';
import { requireProject } from './projects.ts';
import { archiveRef } from './ref-archive.ts';
import { createRef, listProjectRefs } from './refs.ts';
import { dropSeals, keepSealings } from './seals.ts';
import { openSealing } from './seals-upkeep.ts';
import { readSearch } from './search.ts';
import { findAdvanceOfProposal } from './tables/advances.ts';
import { findChangesetRow, findChangesetRowByKey } from './tables/changesets.ts';
import { listProjects } from './tables/projects.ts';
import { findRef } from './tables/refs.ts';
import { openTextUpkeep } from './text-upkeep.ts';
import type { VerbContext } from './verb-context.ts';
import { startTablesCheck } from './verify/tables-check.ts';
import { type VerifyTools, verifyChain } from './verify-chain.ts';

/** Runs a read in one read transaction. */
export type ReadVerb = <Result>(verb: (db: ReadableDb) => Result) => Result;
/** Runs a write in the shared batch, or refuses it where nothing may be written. */
export type Write = <Result>(verb: WriteVerb<Result, EngineEvent>) => Promise<Result>;

type ProjectVerbs = Pick<
  Lethe,
  'listProjects' | 'getProject' | 'initProject' | 'listRefs' | 'findRef' | 'createRef' | 'archiveRef'
>;

/** Projects and refs. */
export function projectVerbs(read: ReadVerb, write: Write, context: VerbContext): ProjectVerbs {
  return {
    listProjects: () => read(listProjects),
    getProject: (projectId) => read((db) => requireProject(db, projectId)),
    initProject: (input) => write((db, emit) => initProject(db, emit, context, input)),
    listRefs: (projectId, page) => read((db) => listProjectRefs(db, projectId, page)),
    findRef: (projectId, refName) => read((db) => findRef(db, projectId, refName)?.ref),
    createRef: (input) => write((db, emit) => createRef(db, emit, context, input)),
    archiveRef: (input) => write((db, emit) => archiveRef(db, emit, context, input)),
  };
}

type HistoryVerbs = Pick<
  Lethe,
  'commit' | 'findChangeset' | 'findChangesetByKey' | 'log' | 'graph' | 'isAncestor' | 'originators'
>;

/** Changesets and how they hang together. */
export function historyVerbs(read: ReadVerb, write: Write, context: VerbContext): HistoryVerbs {
  return {
    commit: (input) => write((db, emit) => commitChangeset(db, emit, context, input)),
    findChangeset: (changesetId) =>
      read((db) => {
        const row = findChangesetRow(db, changesetId);
        return row === undefined ? undefined : readChangeset(db, row);
      }),
    findChangesetByKey: (projectId, author, key) =>
      read((db) => {
        const row = findChangesetRowByKey(db, projectId, author, key);
        return row === undefined ? undefined : readChangeset(db, row);
      }),
    log: (input) => read((db) => readLog(db, input)),
    graph: (input) => read((db) => readGraph(db, input)),
    isAncestor: (ancestor, descendant) =>
      read((db) => {
        const [low, high] = [getChangesetRow(db, ancestor, 'ancestor'), getChangesetRow(db, descendant, 'descendant')];
        return isAncestor(db, low.seq, high.seq);
      }),
    originators: (from, to) =>
      read((db) => {
        const [fromRow, toRow] = [getChangesetRow(db, from, 'from'), getChangesetRow(db, to, 'to')];
        if (fromRow.project_id !== toRow.project_id) throw changesetNotFound(to, 'to');
        return listOriginators(db, fromRow.seq, toRow.seq);
      }),
  };
}

type MergeVerbs = Pick<Lethe, 'advance' | 'findAdvance' | 'listAdvances'>;

/** The protected move and its records. */
export function mergeVerbs(read: ReadVerb, write: Write, context: VerbContext): MergeVerbs {
  return {
    advance: async (input) => {
      // Detected before the write: between the same changesets the answer is the same for ever, and no batch is held up by it.
      const foreseen = read((db) => foreseeAdvance(db, context, input));
      const outcome = await write((db, emit) => advanceRef(db, emit, context, input, foreseen));
      if (outcome.kind === 'refused') {
        const { projectId: project, refName: ref, mergeProposalId: proposal } = input;
        context.log.warn(
          { project, ref, proposal, code: outcome.fault.code },
          'a signed merge was refused; its nonce is spent',
        );
        throw outcome.fault;
      }
      return { ref: outcome.ref, advance: outcome.advance };
    },
    findAdvance: ({ projectId, proposalId }) => read((db) => findAdvanceOfProposal(db, projectId, proposalId)?.advance),
    listAdvances: (projectId, page) => read((db) => listProjectAdvances(db, projectId, page)),
  };
}

type ManifestVerbs = Pick<
  Lethe,
  'pinContext' | 'getManifest' | 'recordManifest' | 'recordOutputManifest' | 'manifestContext'
>;

/** Manifests of contexts and of proposals. */
export function manifestVerbs(
  read: ReadVerb,
  write: Write,
  context: VerbContext,
  textHealth: TextHealth,
): ManifestVerbs {
  const readHealthy: ReadContext = (db, input, options) => readContext(db, input, { ...options, textHealth });
  return {
    // Read before the write: what was read stays true of its head and of what was withheld, and no batch is held up by it.
    pinContext: async (input) => {
      const { reply, withheld } = read((db) => {
        const reading = readContextWhole(db, input, { textHealth });
        return { reply: reading.context, withheld: reading.readWithheld() };
      });
      return write((db) => pinManifest(db, context, input, reply, withheld));
    },
    getManifest: (manifestId) => read((db) => getManifest(db, manifestId)),
    recordManifest: (input) => write((db) => recordManifest(db, context, input)),
    recordOutputManifest: (input) => write((db) => recordOutput(db, context, input)),
    manifestContext: (projectId, manifestId) =>
      read((db) => readManifestContext(db, projectId, manifestId, readHealthy)),
  };
}

type StateVerbs = Pick<Lethe, 'context' | 'totalActive' | 'search' | 'getMemory' | 'diff' | 'mergePreview'>;

/** The state of memory at a head, and what differs between two. */
export function stateVerbs(read: ReadVerb, textHealth: TextHealth): StateVerbs {
  return {
    context: (input) => read((db) => readContext(db, input, { textHealth })),
    totalActive: (changesetId) => read((db) => readTotalActive(db, changesetId)),
    search: (input) => read((db) => readSearch(db, selectHead(db, input), input, textHealth)),
    getMemory: (input) => read((db) => readMemory(db, input)),
    diff: (input) => read((db) => readDiff(db, input)),
    mergePreview: (input) => read((db) => previewMerge(db, input)),
  };
}

/** The store of `upkeepVerbs`. */
export interface UpkeepOptions {
  readonly textHealth: TextHealth;
  readonly readOnly: boolean;
  /** The database file, and how long a connection of its own waits for a lock. */
  readonly file: { readonly path: string; readonly busyTimeoutMs: number };
}

/** Verification, and the work that follows behind commits. */
export function upkeepVerbs(
  snapshots: Snapshots,
  read: ReadVerb,
  write: Write,
  context: VerbContext,
  { textHealth, readOnly, file }: UpkeepOptions,
): Pick<Lethe, 'verifyChain' | 'checkFile' | 'maintain' | 'sealNext'> {
  const mergeKeys = new Map([...context.earlierMergeKeys, ...context.mergeKeys]);
  // What verification finds in this index is mended by making it anew: it is only derived.
  const noticeTextDamage = (): void => textHealth.noticeDamage();
  const toolsOf = (projectId: string, isFull: boolean): VerifyTools => ({
    ...{ mergeKeys, readContext, indexes: isFull ? [verifyProjection] : [] },
    checkTables: (snapshot) => startTablesCheck(snapshot, file),
    seals: {
      ...{ isTrusting: !isFull, noticeTextDamage },
      keep: readOnly
        ? undefined
        : async (sealings) => {
            if (isFull) await dropSeals(write, projectId);
            await keepSealings(write, context.headSigner, sealings);
          },
    },
  });
  return {
    verifyChain: async (projectId, onProgress, { isFull = false } = {}) => {
      const report = await snapshots.reading((snapshot) =>
        verifyChain(snapshot, projectId, toolsOf(projectId, isFull), onProgress),
      );
      if (!report.ok)
        context.log.error(
          { project: projectId, findings: report.findings.slice(0, 20) },
          'verification found what does not hold',
        );
      return report;
    },
    checkFile: () => checkFile(read),
    maintain: openTextUpkeep({ read, write, textHealth, log: context.log }),
    sealNext: readOnly
      ? () => Promise.resolve(false)
      : openSealing({ read, write, signer: context.headSigner, log: context.log }),
  };
}
