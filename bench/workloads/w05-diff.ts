import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { diffCategories } from '../../src-preload/contract/diff.ts';
import type { ChangesetId } from '../../src-preload/contract/ids.ts';
import { listLimitMax } from '../../src-preload/contract/limits.ts';
import { readCorpus, writeChanges } from '../lib/corpus.ts';
import { type OpenContestant, readFloor } from '../lib/floor.ts';
import { type Contestant, race } from '../lib/measure.ts';
import { type Ratio, type Row, timeRatio, toRow } from '../lib/rows.ts';
import { type Setting, short } from '../lib/setting.ts';
import { type BenchStore, openBenchStore, storePath } from '../lib/store.ts';
import { seededRandom } from '../lib/texts.ts';

const changeCounts = [10, 1_000, 10_000] as const;
const opsPerChangeset = 100;
/** How much longer one change may take in a ten times longer diff, and over a ten times larger base. */
const growthMax = 2;

interface Sized {
  readonly name: (changes: number) => string;
  readonly floorName: (changes: number) => string;
  readonly contestants: readonly Contestant[];
  readonly close: () => void;
}

/** W5: the whole diff, all pages of it, of two branches that each made half of the changes over the same base. */
export async function runDiff({ scratch, corpora, length }: Setting): Promise<readonly Row[]> {
  const sizes: Sized[] = [];
  for (const [index, folder] of corpora.entries()) sizes.push(await prepare(folder, join(scratch, String(index))));
  const timing = await race<string>(
    sizes.flatMap(({ contestants }) => contestants),
    length,
  );
  const [smallest] = sizes;
  return sizes.flatMap((size) => {
    size.close();
    return changeCounts.flatMap((changes) => {
      const measured = timing(size.name(changes));
      const slope = changes === 10_000 ? perChange(timeRatio(measured, timing(size.name(1_000)), 'p50')) : undefined;
      const base =
        smallest === undefined || smallest === size
          ? undefined
          : timeRatio(measured, timing(smallest.name(changes)), 'p50');
      const floor = timeRatio(measured, timing(size.floorName(changes)), 'p95');
      const demands = [
        ...(slope === undefined ? [] : [{ text: `≤ ${growthMax} × as long a change as with 1 k`, ratio: slope.ratio }]),
        ...(base === undefined ? [] : [{ text: `≤ ${growthMax} × the smallest base`, ratio: base.ratio }]),
      ];
      const peer = slope ?? base;
      return [
        toRow('W5', measured.name, measured, {
          floor,
          ...(peer === undefined ? {} : { peer }),
          ...(demands.length === 0
            ? {}
            : {
                must: {
                  text: demands.map(({ text }) => text).join('; '),
                  reached: demands.every(({ ratio }) => ratio <= growthMax),
                },
              }),
        }),
      ];
    });
  });
}

function perChange(ratio: Ratio): Ratio {
  return { to: `${ratio.to}, a change`, by: ratio.by, ratio: ratio.ratio / 10 };
}

/** A copy of a history with the pairs of branches, and what is measured on it. */
async function prepare(folder: string, copy: string): Promise<Sized> {
  mkdirSync(copy);
  copyFileSync(storePath(folder), storePath(copy));
  const corpus = readCorpus(folder);
  const store = await openBenchStore(copy);
  const name = (changes: number): string => `diff of ${short(changes)} changes, base of ${short(corpus.memories)}`;
  const floorName = (changes: number): string => `${short(changes)} plain reads of ${short(corpus.memories)}`;
  const floors: OpenContestant[] = [];
  const contestants: Contestant[] = [];
  for (const changes of changeCounts) {
    const random = seededRandom(changes);
    floors.push(readFloor(floorName(changes), copy, { rows: corpus.memories, count: changes, random }));
    const [base, target] = await branchPair(store, corpus.head, corpus.memoryIds, changes);
    contestants.push({
      name: name(changes),
      workers: 1,
      once: () => {
        const told = diffWhole(store, base, target);
        if (told !== changes) throw new Error(`a diff of ${changes} changes told ${told}`);
      },
    });
  }
  const close = (): void => {
    for (const floor of floors) floor.close();
    store.lethe.close();
  };
  return { name, floorName, contestants: [...floors, ...contestants], close };
}

async function branchPair(
  store: BenchStore,
  head: ChangesetId,
  memoryIds: readonly string[],
  changes: number,
): Promise<readonly [ChangesetId, ChangesetId]> {
  const make = async (side: number): Promise<ChangesetId> => {
    const ref = `refs/agents/bench/diff-${changes}-${side}`;
    await store.branch(ref, head);
    return writeChanges(store, {
      ref,
      parent: head,
      changes: changes / 2,
      memoryIds: memoryIds.filter((_, index) => index % 2 === side),
      opsPerChangeset,
    });
  };
  return [await make(0), await make(1)];
}

/** All pages of a diff; answers how many changes they told. */
function diffWhole({ lethe }: BenchStore, baseChangesetId: ChangesetId, targetChangesetId: ChangesetId): number {
  let told = 0;
  let cursor: string | undefined;
  do {
    const page = lethe.diff({ baseChangesetId, targetChangesetId, side: 'both', limit: listLimitMax, cursor });
    told += new Set(
      diffCategories.flatMap((list) => page[list].map((item) => `${item.changeset_id}:${item.op_ordinal}`)),
    ).size;
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return told;
}
