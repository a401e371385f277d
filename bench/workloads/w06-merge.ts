import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { add, reviewedMerge } from '../../test/support/history-builder.ts';
import { testMerger, testProposal } from '../../test/support/merge-envelope.ts';
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

/**
 * W6, its merge part: moving main by signed authorization to a branch of 1 000 changes: as a fast-forward, and as a
 * reviewed merge of a branch that main has meanwhile left behind (preview, the changeset with two parents, the move).
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
  const merges = [fastForward(store, over, memoryIds), reviewedMergeOf(store, over, memoryIds)];
  const timing = await race<string>([floor, ...merges], length);
  floor.close();
  store.lethe.close();
  return [
    toRow('W6', plain, timing(plain)),
    ...merges.map(({ name }) => {
      const measured = timing(name);
      return toRow('W6', name, measured, {
        floor: timeRatio(measured, timing(plain), 'p95'),
        must: { text: `< ${longestMs} ms`, reached: percentile(measured, 0.95) < longestMs },
      });
    }),
  ];
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

function reviewedMergeOf(store: BenchStore, over: string, memoryIds: readonly string[]): Contestant {
  const branch = branches(store, 'merge', memoryIds);
  let count = 0;
  let move = { expected: store.headOf(mainRef), next: store.headOf(mainRef) };
  return {
    name: `merge commit, ${over}`,
    workers: 1,
    prepare: async () => {
      const { expected: base, next } = await branch();
      const ref = `refs/agents/bench/aside-${++count}`;
      await store.branch(ref, base);
      const { changeset_id: aside } = await store.commit({ ref, parent: base, ops: [add(`meanwhile ${count}`)] });
      await store.advance({ expected: base, next: aside }, byReviewer('fast_forward'));
      move = { expected: aside, next };
    },
    once: async () => {
      const { expected: targetHead, next: head } = move;
      const preview = store.lethe.mergePreview({ projectId: benchProject, targetHead, head });
      if (preview.strategy !== 'merge_commit') throw new Error(`the merge is a ${preview.strategy}`);
      const merge = await store.lethe.commit({
        projectId: benchProject,
        refName: mainRef,
        parentIds: [targetHead, head],
        authorPrincipal: testMerger,
        message: 'reviewed merge',
        idempotencyKey: `merge-${count}`,
        ops: [{ ordinal: 0, ...reviewedMerge(testProposal, head) }],
        advanceRef: false,
      });
      await store.advance({ expected: targetHead, next: merge.changeset_id }, byReviewer('merge_commit'));
    },
  };
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
