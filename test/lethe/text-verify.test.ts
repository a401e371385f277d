import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openFindings } from '../../src-main/base/findings.ts';
import { lethe0005TextPostings } from '../../src-main/lethe/migrations/lethe-0005-text-postings.ts';
import { letheMigrations } from '../../src-main/lethe/migrations/migrations.ts';
import { indexTokens, memoryText } from '../../src-main/lethe/rules/segment.ts';
import { openTokenSums } from '../../src-main/lethe/rules/token-sums.ts';
import { readPostings, readPostingsOf, tokenRangeOf } from '../../src-main/lethe/tables/text-postings.ts';
import { maintainTextIndex } from '../../src-main/lethe/text-head.ts';
import { type TextChunks, verifyProjectText } from '../../src-main/lethe/text-verify.ts';
import { closeStore, openStore } from '../../src-main/sqlite/open.ts';
import type { Changeset } from '../../src-preload/contract/changeset.ts';
import { seededRandom } from '../fuzz/random.ts';
import {
  add,
  correct,
  type HistoryBuilder,
  historyBuilder,
  memoryIdOf,
  openTempLethe,
  type TempLethe,
} from '../support/history-builder.ts';

const work = 'refs/agents/a/main';
const texts = ['alpha beta', '寿司と茶', 'better-sqlite3 in use', 'x'.repeat(90), 'alpha once more'] as const;

interface Indexed {
  readonly temp: TempLethe;
  readonly history: HistoryBuilder;
  readonly made: Changeset;
}

/** A project whose states, one of them corrected, are all in the index; another project beside it. */
async function openIndexed(): Promise<Indexed> {
  const temp = openTempLethe();
  onTestFinished(() => temp.remove());
  const other = historyBuilder(temp, 'other');
  await other.init();
  await other.branch(work);
  await other.commit(work, [add('alpha of another')]);
  const history = historyBuilder(temp);
  await history.init();
  await history.branch(work);
  const made = await history.commit(
    work,
    texts.map((text) => add(text, { kind: 'fact', tags: ['one', 'two'] })),
  );
  await history.commit(work, [correct(memoryIdOf(made), { content: 'alpha gamma' }, 'better')]);
  const write = (work: () => boolean): boolean => {
    temp.db.exec('BEGIN IMMEDIATE');
    const more = work();
    temp.db.exec('COMMIT');
    return more;
  };
  while (write(() => maintainTextIndex(temp.db)));
  return { temp, history, made };
}

async function verify({ temp, history }: Indexed, chunks?: TextChunks): Promise<readonly string[]> {
  const findings = openFindings();
  const read = <Result>(chunk: (db: TempLethe['db']) => Result): Result => temp.db.reading(() => chunk(temp.db));
  await verifyProjectText(read, history.project, findings, async () => {}, chunks);
  return findings.list.map(({ where, problem }) => `${where} ${problem}`);
}

/** The state of a text: its version, and its tokens as the index holds them. */
function stateOf({ temp, made }: Indexed, ordinal: number): { readonly version: number; readonly tokens: string[] } {
  const row = temp.db
    .query<[string], { seq: number }>('SELECT seq FROM memory_changesets WHERE changeset_id = ?')
    .get(made.changeset_id);
  const version = (row?.seq ?? 0) * 65_536 + ordinal;
  const text = memoryText({ content: texts[ordinal] ?? '', kind: 'fact', tags: ['one', 'two'] });
  const key = temp.db
    .query<[string], { project_key: number }>('SELECT project_key FROM text_projects WHERE project_id = ?')
    .get(made.project_id)?.project_key;
  return { version, tokens: [...indexTokens(version, text)].map((token) => `${key}${token}`) };
}

function removeTokens(temp: TempLethe, version: number, tokens: readonly string[]): void {
  temp.db
    .command<[number, string]>(
      "INSERT INTO text_index (text_index, rowid, tokens) VALUES ('delete', CAST(? AS INTEGER), ?)",
    )
    .run(version, tokens.join(' '));
}

function addTokens(temp: TempLethe, version: number, tokens: readonly string[]): void {
  temp.db
    .command<[number, string]>('INSERT INTO text_index (rowid, tokens) VALUES (CAST(? AS INTEGER), ?)')
    .run(version, tokens.join(' '));
}

test('L79 a whole index has no finding, in chunks of any size', async () => {
  const indexed = await openIndexed();
  for (const [ops, postings] of [
    [1, 1],
    [2, 3],
    [100, 7],
    [3, 64],
    [100, 20_000],
  ] as const)
    expect(await verify(indexed, { ops, postings }), `${ops} ${postings}`).toEqual([]);
});

test('L79 whichever token of a state the index lacks, the state is named, in chunks of any size', async () => {
  const indexed = await openIndexed();
  const { temp, made } = indexed;
  for (const ordinal of texts.keys()) {
    const { version, tokens } = stateOf(indexed, ordinal);
    const where = `op ${ordinal} of changeset ${made.changeset_id}`;
    for (const [at, token] of tokens.entries()) {
      temp.db.exec('SAVEPOINT damage');
      removeTokens(temp, version, tokens);
      addTokens(
        temp,
        version,
        tokens.filter((one) => one !== token),
      );
      const found = await verify(indexed, { ops: (at % 3) + 1, postings: at % 2 === 0 ? 5 : 20_000 });
      temp.db.exec('ROLLBACK TO damage; RELEASE damage');
      expect([token, found]).toEqual([token, [`${where} is in the full-text index without all of its text`]]);
    }
  }
  expect(await verify(indexed)).toEqual([]);
});

test('L79 a state with a token too many is named, and tokens of what has no state', async () => {
  const indexed = await openIndexed();
  const { temp, made } = indexed;
  const { version, tokens } = stateOf(indexed, 0);
  const foreign = stateOf(indexed, 1).tokens.find((token) => !tokens.includes(token)) ?? '';
  const cases: readonly [() => void, string][] = [
    [
      () => {
        removeTokens(temp, version, tokens);
        addTokens(temp, version, [...tokens, foreign]);
      },
      `op 0 of changeset ${made.changeset_id} is in the full-text index with more than its text`,
    ],
    [() => addTokens(temp, 9_999_999, [foreign]), 'the full-text index it holds a state 9999999 that no op'],
    [() => addTokens(temp, version + 40, [foreign]), `the full-text index it holds a state ${version + 40} that no op`],
  ];
  for (const [damage, problem] of cases) {
    temp.db.exec('SAVEPOINT damage');
    damage();
    const found = await verify(indexed);
    temp.db.exec('ROLLBACK TO damage; RELEASE damage');
    expect(found).toEqual([expect.stringContaining(problem)]);
  }
  expect(await verify(indexed)).toEqual([]);
});

test('L79 an index from before can be read from the side of its tokens', () => {
  const folder = mkdtempSync(join(tmpdir(), 'memory-git-postings-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const clock = { nowMs: () => 0 };
  const path = join(folder, 'lethe.db');
  const before = openStore(path, letheMigrations.slice(0, letheMigrations.indexOf(lethe0005TextPostings)), clock);
  const insert = before.command<[number, string]>('INSERT INTO text_index (rowid, tokens) VALUES (?, ?)');
  for (const [version, tokens] of [
    [65_536, '1wone 1wtwo'],
    [131_072, '1wtwo 12wtwo'],
  ] as const)
    insert.run(version, tokens);
  closeStore(before);
  const after = openStore(path, letheMigrations, clock);
  const { from, below } = tokenRangeOf(1);
  expect(readPostings(after, from, below, 10).split('\n')).toEqual(['1wone 65536', '1wtwo 65536', '1wtwo 131072']);
  expect(readPostings(after, from, below, 1)).toBe('1wone 65536');
  expect(readPostingsOf(after, '1wtwo', 65_536, 10)).toBe('1wtwo 131072');
  after.close();
});

test('L79 sums tell exactly the versions whose sets of tokens differ', () => {
  const random = seededRandom(79);
  for (let round = 0; round < 200; round += 1) {
    const tokens = Array.from({ length: 12 }, (_, index) => `1g${index.toString(36)}`);
    const versions = Array.from({ length: 20 }, (_, index) => (index + 1) * 3);
    const expected = new Map(versions.map((version) => [version, tokens.filter(() => random.chance(0.5))]));
    const held = new Map([...expected].map(([version, set]) => [version, new Set(set)]));
    const changed = new Set<number>();
    for (const version of versions.filter(() => random.chance(0.3))) {
      const token = random.pick(tokens);
      const set = held.get(version);
      if (set?.delete(token) === false) set.add(token);
      changed.add(version);
    }
    const sums = openTokenSums();
    for (const [version, set] of expected) sums.expect(version, set);
    for (const token of tokens) {
      const taken = [...versions.filter((version) => held.get(version)?.has(token)), 1_000];
      expect(sums.take(token, taken)).toEqual([1_000]);
    }
    expect(new Set(sums.unequal())).toEqual(changed);
  }
});
