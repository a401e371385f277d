import { readCorpus } from '../lib/corpus.ts';
import { readFloor } from '../lib/floor.ts';
import { race } from '../lib/measure.ts';
import { contextReader, memoryReader, pageSize } from '../lib/reads.ts';
import { type Row, timeRatio, toRow } from '../lib/rows.ts';
import { type Setting, short } from '../lib/setting.ts';
import { mainRef, openBenchStore } from '../lib/store.ts';
import { seededRandom } from '../lib/texts.ts';

const timesFloorMax = 10;
const timesSmallestMax = 2;
const kinds = ['one memory', 'context page of 20'] as const;

/** W3: one memory with its lineage, and a context page, at the head of main, at each size of memory. */
export async function runReads({ scratch, corpora, length }: Setting): Promise<readonly Row[]> {
  const random = seededRandom(3);
  const sizes = await Promise.all(
    corpora.map(async (folder) => {
      const corpus = readCorpus(folder);
      const { lethe } = await openBenchStore(folder);
      const of = (what: string): string => `${what}, ${short(corpus.memories)}`;
      const floorName = of(`${pageSize} plain primary-key reads`);
      const floor = readFloor(floorName, scratch, { rows: corpus.memories, count: pageSize, random });
      const readers = [
        memoryReader(of(kinds[0]), lethe, { head: corpus.head, memoryIds: corpus.memoryIds, random }),
        contextReader(of(kinds[1]), lethe, { refName: mainRef }),
      ];
      return { of, floor, floorName, lethe, contestants: [floor, ...readers] };
    }),
  );
  const timing = await race<string>(
    sizes.flatMap(({ contestants }) => contestants),
    length,
  );
  const [smallest] = sizes;
  return sizes.flatMap(({ of, floor, floorName, lethe }) => {
    floor.close();
    lethe.close();
    const rows = kinds.map((kind) => {
      const measured = timing(of(kind));
      const toFloor = timeRatio(measured, timing(floorName), 'p95');
      const flat = smallest === undefined ? undefined : timeRatio(measured, timing(smallest.of(kind)), 'p50');
      const isSmallest = smallest?.of === of;
      return toRow('W3', measured.name, measured, {
        floor: toFloor,
        ...(flat === undefined || isSmallest ? {} : { peer: flat }),
        must: {
          text: `p95 < ${timesFloorMax} × the floor${isSmallest ? '' : `; ≤ ${timesSmallestMax} × the smallest size`}`,
          reached: toFloor.ratio < timesFloorMax && (isSmallest || (flat?.ratio ?? 0) <= timesSmallestMax),
        },
      });
    });
    return [toRow('W3', floorName, timing(floorName)), ...rows];
  });
}
