import { readCorpus } from '../lib/corpus.ts';
import { type Contestant, race } from '../lib/measure.ts';
import { contextReader, memoryReader } from '../lib/reads.ts';
import { type Row, timeRatio, toRow } from '../lib/rows.ts';
import { type Setting, short } from '../lib/setting.ts';
import { mainRef, openBenchStore } from '../lib/store.ts';
import { seededRandom } from '../lib/texts.ts';

const timesHeadMax = 2;
const pastKinds = ['old head', 'branch', 'timestamp'] as const;
const kinds = ['one memory', 'context page'] as const;

/**
 * W4: the reads of W3 at an old head, on a branch and at a timestamp, beside the same at the head of main. One memory has
 * no timestamp of its own to be asked for: a caller resolves the moment to a head first.
 */
export async function runPastReads({ corpora, length }: Setting): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const folder of corpora) rows.push(...(await runPastReadsOf(folder, length)));
  return rows;
}

async function runPastReadsOf(folder: string, length: Setting['length']): Promise<readonly Row[]> {
  const corpus = readCorpus(folder);
  const { lethe } = await openBenchStore(folder);
  const random = seededRandom(4);
  const { memoryIds } = corpus;
  const of = (kind: string, where: string): string => `${kind}, ${where}, ${short(corpus.memories)}`;
  const readers: Contestant[] = [
    memoryReader(of('one memory', 'head'), lethe, { head: corpus.head, memoryIds, random }),
    memoryReader(of('one memory', 'old head'), lethe, { head: corpus.oldHead, memoryIds, random }),
    memoryReader(of('one memory', 'branch'), lethe, { head: corpus.branchHead, memoryIds, random }),
    contextReader(of('context page', 'head'), lethe, { refName: mainRef }),
    contextReader(of('context page', 'old head'), lethe, { refName: corpus.ref, headChangesetId: corpus.oldHead }),
    contextReader(of('context page', 'branch'), lethe, { refName: corpus.branchRef }),
    contextReader(of('context page', 'timestamp'), lethe, { refName: corpus.ref, at: corpus.oldMoment }),
  ];
  const timing = await race<string>(readers, length);
  lethe.close();
  return kinds.flatMap((kind) => {
    const atHead = timing(of(kind, 'head'));
    const past = pastKinds.filter((where) => readers.some(({ name }) => name === of(kind, where)));
    return [
      toRow('W4', atHead.name, atHead),
      ...past.map((where) => {
        const measured = timing(of(kind, where));
        const floor = timeRatio(measured, atHead, 'p50');
        return toRow('W4', measured.name, measured, {
          floor,
          must: { text: `≤ ${timesHeadMax} × the same at the head`, reached: floor.ratio <= timesHeadMax },
        });
      }),
    ];
  });
}
