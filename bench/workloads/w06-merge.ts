import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { detectConflicts } from '../../src-main/lethe/detection.ts';
import { letheMigrations } from '../../src-main/lethe/migrations/migrations.ts';
import type { Connection } from '../../src-main/sqlite/driver.ts';
import { openStoreReadOnly } from '../../src-main/sqlite/open.ts';
import type { ChangesetId } from '../../src-preload/contract/ids.ts';
import { add, correct, reviewedMerge } from '../../test/support/history-builder.ts';
import { testMerger, testProposal, testReviewer } from '../../test/support/merge-envelope.ts';
import { readCorpus, writeChanges } from '../lib/corpus.ts';
import { insertFloor } from '../lib/floor.ts';
import { type Contestant, percentile, race } from '../lib/measure.ts';
import { type Row, timeRatio, toRow } from '../lib/rows.ts';
import { type Setting, short } from '../lib/setting.ts';
import { type BenchStore, benchProject, byReviewer, mainRef, openBenchStore, storePath } from '../lib/store.ts';

const changes = 1_000;
const opsPerChangeset = 100;
const plain = 'plain SQLite insert';
const longestMs = 1_000;
const conflictCounts = [0, 10, 100] as const;

/**
 * W6: what two sides contradict each other in, where one has 1 000 changes and the other corrected 0, 10 or 100 of the same
 * memories; and moving main by signed authorization to a branch of 1 000 changes: as a fast-forward, and as a reviewed
 * merge of a branch that main has meanwhile left behind, with as many conflicts (what is found, kept and resolved, the
 * changeset with two parents that settles each of them, the move).
 */
export async function runMerges({ scratch, corpora, length }: Setting): Promise<readonly Row[]> {
  const folder = corpora.at(-1);
  if (folder === undefined) throw new Error('merges are measured over a history');
  const copy = join(scratch, 'store');
  mkdirSync(copy);
  copyFileSync(storePath(folder), storePath(copy));
  const { memories, memoryIds } = readCorpus(folder);
  const store = await openBenchStore(copy);
  const floor = insertFloor(plain, scratch);
  const over = `${short(changes)} changes over ${short(memories)}`;
  const merges = [
    fastForward(store, over, memoryIds),
    ...conflictCounts.map((conflicts) => reviewedMergeOf(store, over, memoryIds, conflicts)),
  ];
  const reader = openStoreReadOnly(storePath(copy), letheMigrations);
  const detections = await Promise.all(
    conflictCounts.map((conflicts) => detection(store, reader, over, memoryIds, conflicts)),
  );
  const all = [...detections, ...merges];
  const timing = await race<string>([floor, ...all], length);
  floor.close();
  reader.close();
  store.lethe.close();
  return [
    toRow('W6', plain, timing(plain)),
    ...all.map(({ name }) => {
      const measured = timing(name);
      return toRow('W6', name, measured, {
        floor: timeRatio(measured, timing(plain), 'p95'),
        must: { text: `< ${longestMs} ms`, reached: percentile(measured, 0.95) < longestMs },
      });
    }),
  ];
}

/**
 * Detection between a branch of 1 000 changes and a side that corrected so many of the same memories: the work itself, which the
 * store does once for the same changesets.
 */
async function detection(
  store: BenchStore,
  reader: Connection,
  over: string,
  memoryIds: readonly string[],
  conflicts: number,
): Promise<Contestant> {
  const { expected: base, next: right } = await branches(store, `detected-${conflicts}`, memoryIds)();
  const left = await otherSide(store, `other-${conflicts}`, base, memoryIds.slice(0, conflicts));
  const sides = { projectId: benchProject, baseChangesetId: base, leftChangesetId: left, rightChangesetId: right };
  return {
    name: `detection, ${conflicts} conflicts, ${over}`,
    workers: 1,
    once: () => {
      const found = reader
        .reading(() => detectConflicts(reader, sides))
        .filter(({ severity }) => severity === 'blocking');
      if (found.length !== conflicts) throw new Error(`detection found ${found.length} of ${conflicts} conflicts`);
    },
  };
}

/** A side beside a branch: one memory more, and corrections of those that are named. */
async function otherSide(
  store: BenchStore,
  name: string,
  base: ChangesetId,
  corrected: readonly string[],
): Promise<ChangesetId> {
  const ref = `refs/agents/bench/${name}`;
  await store.branch(ref, base);
  const ops = [
    add(`meanwhile ${name}`),
    ...corrected.map((id, nth) => correct(id, { content: `${name} says ${nth}` })),
  ];
  return (await store.commit({ ref, parent: base, ops })).changeset_id;
}

function fastForward(store: BenchStore, over: string, memoryIds: readonly string[]): Contestant {
  const branch = branches(store, 'forward', memoryIds);
  let move = { expected: store.headOf(mainRef), next: store.headOf(mainRef) };
  return {
    name: `fast-forward, ${over}`,
    workers: 1,
    prepare: async () => {
      move = await branch();
    },
    once: () => store.advance(move, byReviewer('fast_forward')),
  };
}

function reviewedMergeOf(store: BenchStore, over: string, memoryIds: readonly string[], conflicts: number): Contestant {
  const branch = branches(store, `merge-${conflicts}`, memoryIds);
  const contested = memoryIds.slice(0, conflicts);
  let count = 0;
  let sides = { base: store.headOf(mainRef), expected: store.headOf(mainRef), next: store.headOf(mainRef) };
  return {
    name: `merge with ${conflicts} conflicts, ${over}`,
    workers: 1,
    prepare: async () => {
      const { expected: base, next } = await branch();
      const aside = await otherSide(store, `aside-${conflicts}-${++count}`, base, contested);
      await store.advance({ expected: base, next: aside }, byReviewer('fast_forward'));
      sides = { base, expected: aside, next };
    },
    once: async () => {
      const { expected: targetHead, next: head } = sides;
      const preview = store.lethe.mergePreview({ projectId: benchProject, targetHead, head });
      if (preview.strategy !== 'merge_commit') throw new Error(`the merge is a ${preview.strategy}`);
      await settle(store, sides, conflicts);
      const settled = contested.map((id, nth) => correct(id, { content: `settled ${count}-${nth}` }));
      const merge = await store.lethe.commit({
        projectId: benchProject,
        refName: mainRef,
        parentIds: [targetHead, head],
        authorPrincipal: testMerger,
        message: 'reviewed merge',
        idempotencyKey: `merge-${conflicts}-${count}`,
        ops: [reviewedMerge(testProposal, head), ...settled].map((op, ordinal) => ({ ordinal, ...op })),
        advanceRef: false,
      });
      await store.advance({ expected: targetHead, next: merge.changeset_id }, byReviewer('merge_commit'));
    },
  };
}

/** Finds, keeps and resolves what two sides contradict each other in. */
async function settle(
  { lethe }: BenchStore,
  sides: { readonly base: ChangesetId; readonly expected: ChangesetId; readonly next: ChangesetId },
  conflicts: number,
): Promise<void> {
  const asked = {
    ...{ projectId: benchProject, baseChangesetId: sides.base },
    ...{ leftChangesetId: sides.expected, rightChangesetId: sides.next },
  };
  const conflictIds = lethe.detectConflicts(asked).map((conflict) => conflict.conflict_id);
  if (conflictIds.length !== conflicts)
    throw new Error(`detection found ${conflictIds.length} of ${conflicts} conflicts`);
  const kept = await lethe.persistConflicts({ sides: asked, proposalId: testProposal, conflictIds });
  await Promise.all(
    kept.map(({ conflict_id: conflictId }) =>
      lethe.resolveConflict({ projectId: benchProject, conflictId, note: 'settled', principal: testReviewer }),
    ),
  );
}

/** Branches of 1 000 changes from main as it is, one after the other. */
function branches(store: BenchStore, name: string, memoryIds: readonly string[]) {
  let count = 0;
  return async () => {
    const ref = `refs/agents/bench/${name}-${++count}`;
    const expected = store.headOf(mainRef);
    await store.branch(ref, expected);
    const next = await writeChanges(store, { ref, parent: expected, changes, memoryIds, opsPerChangeset });
    return { expected, next };
  };
}
