import { setImmediate } from 'node:timers/promises';
import { checking, type Findings } from '../base/findings.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import type { ReadSnapshot } from '../sqlite/snapshots.ts';
import { type HeadRow, listUnindexed } from './tables/heads.ts';
import { findIndexedThrough, listTerms } from './tables/text-index.ts';
import { headTokens } from './text-upkeep.ts';

const termsPerChunk = 5_000;
const headsPerChunk = 50;
/** Values whose tokens are compared in one pass over the index: what is kept in memory meanwhile. */
const valuesPerPass = 50_000;

/** Tokens of one version, counted and added up without regard to their order. */
interface Sum {
  count: number;
  sum: number;
}

/**
 * Compares the search index with the values that it should hold (`G54`), chunk by chunk: every live value up to where it has
 * followed, token by token. An index that cannot even be asked is a finding as well. For a ledger that otherwise holds.
 */
export async function verifyText(read: ReadSnapshot, findings: Findings): Promise<void> {
  try {
    await compareText(read, findings);
  } catch (thrown) {
    checking(findings, 'the search index', () => {
      throw thrown;
    });
  }
}

async function compareText(read: ReadSnapshot, findings: Findings): Promise<void> {
  const through = read((db) => findIndexedThrough(db));
  let after = 0;
  while (after < through) {
    const { expected, last } = await expectSums(read, after, through);
    if (expected.size === 0) return;
    const found = await sumTerms(read, expected);
    for (const [seq, { sum, name }] of expected) {
      const held = found.get(seq);
      if (held?.count !== sum.count || held.sum !== sum.sum)
        findings.add('the search index', `it does not hold the live value of ${name} as it is`);
    }
    after = last;
  }
}

type Expected = ReadonlyMap<number, { readonly sum: Sum; readonly name: string }>;

async function expectSums(
  read: ReadSnapshot,
  first: number,
  through: number,
): Promise<{ readonly expected: Expected; readonly last: number }> {
  const expected = new Map<number, { readonly sum: Sum; readonly name: string }>();
  let last = first;
  while (last < through && expected.size < valuesPerPass) {
    const heads = read((db) => {
      const page = listUnindexed(db, last, headsPerChunk).filter((head) => head.seq <= through);
      for (const head of page) expected.set(head.seq, { sum: sumOf(db, head), name: head.key });
      return page;
    });
    last = heads.at(-1)?.seq ?? through;
    await setImmediate();
  }
  return { expected, last };
}

function sumOf(db: ReadableDb, head: HeadRow): Sum {
  const sum = { count: 0, sum: 0 };
  for (const token of headTokens(db, head)) addTerm(sum, `${head.agent}${token}`);
  return sum;
}

async function sumTerms(read: ReadSnapshot, expected: Expected): Promise<ReadonlyMap<number, Sum>> {
  const sums = new Map<number, Sum>();
  let at = { from: '', skip: 0 };
  for (;;) {
    const rows = read((db) => listTerms(db, at.from, at.skip, termsPerChunk));
    for (const { term, seq } of rows) {
      if (!expected.has(seq)) continue;
      const sum = sums.get(seq) ?? { count: 0, sum: 0 };
      addTerm(sum, term);
      sums.set(seq, sum);
    }
    const last = rows.at(-1)?.term;
    if (last === undefined || rows.length < termsPerChunk) return sums;
    const repeated = rows.length - rows.findIndex((row) => row.term === last);
    at = { from: last, skip: last === at.from ? at.skip + repeated : repeated };
    await setImmediate();
  }
}

/** Adds a token's hash (FNV-1a over its UTF-16 units). */
function addTerm(sum: Sum, term: string): void {
  let hash = 0x811c9dc5;
  for (let at = 0; at < term.length; at += 1) hash = Math.imul(hash ^ term.charCodeAt(at), 0x01000193);
  sum.count += 1;
  sum.sum = (sum.sum + hash) | 0;
}
