import { join } from 'node:path';
import Database from 'better-sqlite3';
import { readCorpus } from '../lib/corpus.ts';
import { type OpenContestant, readFloor } from '../lib/floor.ts';
import { type Contestant, percentile, race } from '../lib/measure.ts';
import { type Row, timeRatio, toRow } from '../lib/rows.ts';
import { type Setting, short } from '../lib/setting.ts';
import { benchProject, mainRef, openBenchStore } from '../lib/store.ts';
import { type QueryClass, queryClasses, queryOf, seededRandom, textOf } from '../lib/texts.ts';

const pageSize = 20;
const longestMs = 50;
/** The page asks for all but the first runs: those after another contestant's turn read pages that nobody keeps warm. */
const coldRuns = 2;

/** W7: a page of 20 matches at the head of main for each class of query, beside a plain FTS5 table with `ORDER BY rank`. */
export async function runSearch({ scratch, corpora, length }: Setting): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const folder of corpora) rows.push(...(await runSearchOf(folder, scratch, length)));
  return rows;
}

async function runSearchOf(folder: string, scratch: string, length: Setting['length']): Promise<readonly Row[]> {
  const { memories } = readCorpus(folder);
  const store = await openBenchStore(folder);
  const of = (what: string): string => `${what}, ${short(memories)}`;
  const floorName = of('20 plain primary-key reads');
  const floor = readFloor(floorName, scratch, { rows: memories, count: pageSize, random: seededRandom(7) });
  const plain = openPlainIndex(scratch, memories);
  const ours = queryClasses.map(
    (kind): Contestant => ({
      name: of(kind),
      workers: 1,
      lead: coldRuns,
      once: ask(kind, memories, (query) => {
        const { matches } = store.lethe.search({ projectId: benchProject, refName: mainRef, query, limit: pageSize });
        if (matches.length > 0 === (kind === 'a miss'))
          throw new Error(`a search for ${kind}: ${matches.length} matches`);
      }),
    }),
  );
  const theirs = queryClasses.map((kind) => plain.contestant(kind));
  const timing = await race<string>([floor, ...ours, ...theirs], length);
  floor.close();
  plain.close();
  store.lethe.close();
  return [
    toRow('W7', floorName, timing(floorName)),
    ...queryClasses.map((kind) => {
      const measured = timing(of(kind));
      return toRow('W7', measured.name, measured, {
        floor: timeRatio(measured, timing(floorName), 'p95'),
        peer: timeRatio(measured, timing(plain.nameOf(kind)), 'p95'),
        must: { text: `p95 < ${longestMs} ms (said of 1 M)`, reached: percentile(measured, 0.95) < longestMs },
      });
    }),
  ];
}

/** Asks another query of the class each time. */
function ask(kind: QueryClass, memories: number, answer: (query: string) => void): () => void {
  const random = seededRandom(queryClasses.indexOf(kind));
  return () => answer(queryOf(kind, memories, random));
}

interface PlainIndex {
  nameOf(kind: QueryClass): string;
  contestant(kind: QueryClass): Contestant;
  close: OpenContestant['close'];
}

/** The same texts in a table of FTS5 as it comes, asked for the best 20 that hold all words, any word, or the phrase. */
function openPlainIndex(scratch: string, memories: number): PlainIndex {
  const db = new Database(join(scratch, `plain-text-${memories}.db`));
  db.pragma('journal_mode = WAL');
  db.exec('CREATE VIRTUAL TABLE texts USING fts5(body)');
  const insert = db.prepare('INSERT INTO texts (rowid, body) VALUES (?, ?)');
  db.transaction(() => {
    for (let index = 0; index < memories; index += 1) insert.run(index + 1, textOf(index));
  })();
  const search = db.prepare('SELECT rowid, body FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?');
  const nameOf = (kind: QueryClass): string => `plain FTS5, ${kind}, ${short(memories)}`;
  return {
    nameOf,
    contestant: (kind) => ({
      name: nameOf(kind),
      workers: 1,
      lead: coldRuns,
      once: ask(kind, memories, (query) => search.all(plainQuery(kind, query), pageSize)),
    }),
    close: () => db.close(),
  };
}

function plainQuery(kind: QueryClass, query: string): string {
  const quoted = query.split(' ').map((word) => `"${word.replaceAll('"', '""')}"`);
  return quoted.join(kind === 'three words' || kind === 'six most frequent words' ? ' OR ' : ' ');
}
