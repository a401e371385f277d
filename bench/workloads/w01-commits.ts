import { join } from 'node:path';
import { add } from '../../test/support/history-builder.ts';
import { insertFloor, syncFloor } from '../lib/floor.ts';
import { gitCommits } from '../lib/git.ts';
import { type Contestant, race } from '../lib/measure.ts';
import { type Row, rateRatio, toRow } from '../lib/rows.ts';
import type { Setting } from '../lib/setting.ts';
import { type BenchStore, openBenchStore } from '../lib/store.ts';
import { textOf } from '../lib/texts.ts';

const sync = 'fdatasync of 12 KiB';
const plain = 'plain SQLite insert';
const git = 'git commit, core.fsync=all';
const writerCounts = [1, 2, 8] as const;
/** What must be reached: so many times the fdatasync rate. */
const wanted: Readonly<Record<number, number>> = { 1: 0.5, 8: 1.5 };

/**
 * W1: durable commits in process, one op of 200 bytes each with compare-and-set, by writers that each wait for their own
 * commit on a branch of their own.
 */
export async function runCommits({ scratch, length }: Setting): Promise<readonly Row[]> {
  const store = await openBenchStore(join(scratch, 'store'));
  const floors = [syncFloor(sync, scratch), insertFloor(plain, scratch)] as const;
  const writers = await Promise.all(writerCounts.map((count) => committers(store, count)));
  const timing = await race<string>([...floors, gitCommits(git, scratch), ...writers], length);
  for (const floor of floors) floor.close();
  store.lethe.close();
  const rows = [sync, plain, git].map((name) => toRow('W1', name, timing(name)));
  for (const count of writerCounts) {
    const measured = timing(nameOf(count));
    const floor = rateRatio(measured, timing(sync));
    const least = wanted[count];
    rows.push(
      toRow('W1', measured.name, measured, {
        floor,
        peer: rateRatio(measured, timing(count === 1 ? git : plain)),
        ...(least === undefined
          ? {}
          : { must: { text: `≥ ${least} × the fdatasync rate`, reached: floor.ratio >= least } }),
      }),
    );
  }
  return rows;
}

function nameOf(writers: number): string {
  return `commit, ${writers} ${writers === 1 ? 'writer' : 'writers'}`;
}

async function committers(store: BenchStore, count: number): Promise<Contestant> {
  const root = store.headOf('refs/shared/main');
  const heads = Array.from({ length: count }, () => root);
  const refOf = (writer: number): string => `refs/agents/bench/${count}-${writer}`;
  await Promise.all(heads.map((head, writer) => store.branch(refOf(writer), head)));
  let texts = 0;
  return {
    name: nameOf(count),
    workers: count,
    once: async (writer) => {
      texts += 1;
      const parent = heads[writer] ?? root;
      const { changeset_id: head } = await store.commit({ ref: refOf(writer), parent, ops: [add(textOf(texts))] });
      heads[writer] = head;
    },
  };
}
