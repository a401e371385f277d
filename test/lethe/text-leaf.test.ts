import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import {
  addPostings,
  decodePostings,
  encodePostings,
  noPostings,
  type PostingSum,
  postingsOf,
} from '../../src-main/lethe/rules/posting-sums.ts';
import { openPostingPass, readStructure } from '../../src-main/lethe/rules/text-leaf.ts';
import { type Random, seededRandom } from '../fuzz/random.ts';

type Db = InstanceType<typeof Database>;

/** An index of pages so small that lists and terms go on over many of them. */
function openIndex(pageBytes: number): Db {
  const db = new Database(':memory:');
  db.exec(`
    CREATE VIRTUAL TABLE text_index USING fts5 (tokens, content = '', detail = none, columnsize = 0, tokenize = 'ascii');
    CREATE VIRTUAL TABLE text_postings USING fts5vocab (text_index, instance);
    INSERT INTO text_index (text_index, rank) VALUES ('automerge', 0);
    INSERT INTO text_index (text_index, rank) VALUES ('pgsz', ${pageBytes})`);
  return db;
}

const words = [
  'a',
  'abc',
  'abcd',
  'w'.repeat(60),
  'ü漢',
  '😀x',
  ...Array.from({ length: 300 }, (_, n) => `t${n * 7919}`),
];

/** Adds rows of ascending numbers behind one; answers the last. */
function fill(db: Db, random: Random, rows: number, after: number): number {
  const insert = db.prepare('INSERT INTO text_index (rowid, tokens) VALUES (CAST(? AS INTEGER), ?)');
  let version = after;
  for (let at = 0; at < rows; at += 1) {
    version += random.chance(0.8) ? 65_536 : 1 + random.below(3_000_000_000);
    const tokens = new Set(
      Array.from({ length: 1 + random.below(40) }, () => `${1 + random.below(12)}${random.pick(words)}`),
    );
    if (random.chance(0.9)) tokens.add('1common');
    insert.run(version, [...tokens].join(' '));
    if (random.chance(0.02))
      db.exec(`INSERT INTO text_index (text_index, rank) VALUES ('merge', ${1 + random.below(9)})`);
  }
  return version;
}

/** What FTS5 itself says of the tokens of a project. */
function sumAsked(db: Db, projectKey: number): PostingSum {
  let sum = noPostings;
  const rows = db.prepare<[], { term: string; doc: number }>('SELECT term, doc FROM text_postings').all();
  for (const { term, doc } of rows) {
    const [, project, token] = /^(\d+)(.*)$/.exec(term) ?? [];
    if (Number(project) === projectKey) sum = addPostings(sum, postingsOf(doc, [token ?? '']));
  }
  return sum;
}

function sumRead(db: Db, projectKey: number): PostingSum {
  const pass = openPostingPass(projectKey);
  const block = db.prepare<[number], Uint8Array>('SELECT block FROM text_index_data WHERE id = ?').pluck();
  for (const { segment, first, last } of readStructure(block.get(10) ?? new Uint8Array())) {
    pass.beginSegment();
    for (let at = first; at <= last; at += 1) pass.take(block.get(segment * 2 ** 37 + at) ?? new Uint8Array());
  }
  return pass.sum();
}

describe('postings read as they are stored', () => {
  test.each([
    [64, 120],
    [200, 250],
    [4_050, 400],
  ])('L305 add up to what FTS5 says, with pages of %i bytes', (pageBytes, rows) => {
    for (let seed = 0; seed < 4; seed += 1) {
      const db = openIndex(pageBytes);
      let last = seed % 2 === 0 ? 131_072 : 2 ** 40;
      for (let batch = 0; batch < 3; batch += 1) {
        db.exec('BEGIN');
        last = fill(db, seededRandom(seed * 10 + batch), Math.ceil(rows / 3), last);
        db.exec('COMMIT');
      }
      for (const project of [1, 2, 11, 12])
        expect([seed, project, sumRead(db, project)]).toEqual([seed, project, sumAsked(db, project)]);
      db.exec("INSERT INTO text_index (text_index) VALUES ('optimize')");
      expect(sumRead(db, 1)).toEqual(sumAsked(db, 1));
      db.close();
    }
  });

  test('L305 what is not in the known form is refused', () => {
    const pass = openPostingPass(1);
    pass.beginSegment();
    for (const leaf of ['', '0000ffff', '00000004ff', '0004000501', '00000004ffffffffffffffffffff'])
      expect(() => pass.take(Buffer.from(leaf, 'hex'))).toThrow();
    for (const record of ['', '00000000ff000001', '0000000001', '000000000101000001018080808080808080808001'])
      expect(() => readStructure(Buffer.from(record, 'hex'))).toThrow();
  });

  test('L305 a posting more, less or elsewhere is another sum, and a sum is stored whole', () => {
    const sum = postingsOf(131_072, ['a', 'b']);
    for (const other of [
      postingsOf(131_072, ['a']),
      postingsOf(131_072, ['a', 'b', 'c']),
      postingsOf(131_073, ['a', 'b']),
      postingsOf(131_072 + 2 ** 40, ['a', 'b']),
      addPostings(postingsOf(131_072, ['a']), postingsOf(131_073, ['b'])),
    ])
      expect(other).not.toEqual(sum);
    expect(decodePostings(encodePostings(sum))).toEqual(sum);
    expect(decodePostings('x')).toBeUndefined();
  });
});
