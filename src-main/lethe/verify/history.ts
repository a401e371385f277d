import { setImmediate } from 'node:timers/promises';
import type { ProjectId } from '../../../src-preload/contract/ids.ts';
import { checking, type Findings } from '../../base/findings.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { openSealKeys } from '../seals.ts';
import { findGap } from '../tables/changesets.ts';
import { verifyChangesets } from './changesets.ts';
import { digestHistory } from './history-digest.ts';
import { eachPage, own } from './pages.ts';
import { sealName, sealRemedy } from './seal-finding.ts';
import { type ChangesetStretch, nextChangesetStretch, type SealReading } from './stretches.ts';

type ReadChunk = <Result>(chunk: (db: ReadableDb) => Result) => Result;

/** Where what is found goes. */
export interface HistoryFindings {
  readonly findings: Findings;
  /** About seals that do not hold, over rows that do: no reason not to go on. */
  readonly ofSeals: Findings;
}

/** What a verification of the changesets of a project looked at. */
export interface HistoryReport {
  readonly checked: number;
  /** How many of them were compared with their seals. */
  readonly sealed: number;
  /** In their order; a stretch has a seal only if the history there is what was sealed. */
  readonly stretches: readonly ChangesetStretch[];
  /** For each stretch that may be sealed the digest of its history. */
  readonly digests: ReadonlyMap<ChangesetStretch, string>;
}

/**
 * Recomputes every digest of a project and its chain (`L302`). A stretch under a seal is then compared with it; any other is verified in
 * everything that its rows say.
 */
export async function verifyHistory(
  read: ReadChunk,
  projectId: ProjectId,
  { isTrusting, limits }: SealReading,
  { findings, ofSeals }: HistoryFindings,
  onDone: (done: number) => void,
): Promise<HistoryReport> {
  const keys = isTrusting ? read(openSealKeys) : undefined;
  const stretches: ChangesetStretch[] = [];
  const digests = new Map<ChangesetStretch, string>();
  const broken = new Set<number>();
  let checked = 0;
  let sealed = 0;
  for (let after = 0; ; ) {
    const from = after;
    const stretch = read((db) => nextChangesetStretch(db, projectId, from, keys, limits));
    if (stretch === undefined) break;
    const digest = read((db) => {
      const gap = findGap(db, from, stretch.last);
      if (gap !== undefined) findings.add(`changeset number ${gap}`, 'it is missing');
      return stretch.seal === undefined ? undefined : digestOf(db, projectId, stretch);
    });
    if (stretch.seal !== undefined && digest === stretch.seal.history_digest) {
      stretches.push(stretch);
      sealed += stretch.count;
      checked += stretch.count;
    } else {
      const before = findings.list.length + findings.omitted;
      checked += await verifyStretch(read, projectId, stretch, findings);
      const open = { ...stretch, seal: undefined };
      stretches.push(open);
      const seal = stretch.seal ?? stretch.broken;
      if (findings.list.length + findings.omitted > before) {
        // What was found is named; its seal has nothing to add.
      } else if (seal !== undefined) {
        if (!broken.has(seal.last))
          ofSeals.add(sealName(seal), `it does not hold, though the history does: ${sealRemedy}`);
        broken.add(seal.last);
      } else if (stretch.isClosed) {
        const own = read((db) => digestOf(db, projectId, stretch));
        if (own !== undefined) digests.set(open, own);
      }
    }
    onDone(checked);
    if (stretch.last <= after) {
      findings.add('the order of stored rows', 'a table or an index of the database file is damaged');
      break;
    }
    after = stretch.last;
    await setImmediate();
  }
  return { checked, sealed, stretches, digests };
}

/** Verifies one stretch from scratch; answers the digest of its history, undefined when something was found. */
export async function sealHistory(
  read: ReadChunk,
  projectId: ProjectId,
  stretch: ChangesetStretch,
  findings: Findings,
): Promise<string | undefined> {
  const before = findings.list.length + findings.omitted;
  await verifyStretch(read, projectId, stretch, findings);
  if (findings.list.length + findings.omitted > before) return undefined;
  return read((db) => digestOf(db, projectId, stretch));
}

/** The digest of a stretch; undefined also when one of its rows cannot be read. */
function digestOf(db: ReadableDb, projectId: ProjectId, stretch: ChangesetStretch): string | undefined {
  let digest: string | undefined;
  checking({ add: () => {} }, sealName({ project_id: projectId, ...stretch }), () => {
    digest = digestHistory(db, projectId, stretch);
  });
  return digest;
}

async function verifyStretch(
  read: ReadChunk,
  projectId: ProjectId,
  { first, last }: ChangesetStretch,
  findings: Findings,
): Promise<number> {
  let checked = 0;
  await eachPage(findings, first - 1, own, (after) =>
    read((db) => {
      const page = verifyChangesets(db, projectId, after, findings, last);
      checked += page.count;
      return page.count === 0 ? undefined : page.last;
    }),
  );
  return checked;
}
